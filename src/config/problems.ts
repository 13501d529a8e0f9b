// Problems of a configuration, with their positions. Messages never contain values, which may be secrets.
import { type Problem, renderProblem } from '../policy/format/problem.ts';

export { type Problem, renderProblem };

/** All problems of the configuration, so that the user can fix them in one go. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(problems.map(renderProblem).join('\n'));
    this.problems = problems;
  }
}

/** A problem with the whole file, such as a missing file. */
export function fileProblem(file: string, message: string): Problem {
  return { file, line: 1, column: 1, path: '', message };
}

// A parsed configuration file: its values, and the line and column of each.
export type Path = readonly (string | number)[];

export type Document = {
  readonly file: string;
  readonly value: unknown;
  /** Syntax problems. If there are any, `value` is unreliable. */
  readonly problems: readonly Problem[];
  has(path: Path): boolean;
  /** The keys of the object at `path` in file order. A JavaScript object reorders keys like "1". */
  keys(path: Path): string[];
  /** A problem with the value at `path`, or with the nearest enclosing object if the value is missing. */
  problem(path: Path, message: string, hint?: string): Problem;
  /** Like `problem`, but at the position of the key. */
  keyProblem(path: Path, message: string, hint?: string): Problem;
};

/** `agent_servers.claude.args[0]` */
export function showPath(path: Path): string {
  return path.map((part, index) => (typeof part === 'number' ? `[${part}]` : index === 0 ? part : `.${part}`)).join('');
}
