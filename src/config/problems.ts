// What is wrong with a configuration, where, and how it reads. Values are never part of it: they may be secrets.
import { escapeControls } from '../control-characters.ts';

export type Problem = {
  readonly file: string;
  /** 1-based, as editors count. */
  readonly line: number;
  readonly column: number;
  /** Where in the structure: `agent_servers.claude.args[0]`; empty for the file as a whole. */
  readonly path: string;
  readonly message: string;
  readonly hint?: string;
};

/** Everything wrong with the configuration at once, so that one round of corrections is enough. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(problems.map(renderProblem).join('\n'));
    this.problems = problems;
  }
}

/** `file:line:column: message; hint`, which terminals and editors turn into a link. */
export function renderProblem({ file, line, column, message, hint }: Problem): string {
  return escapeControls(`${file}:${line}:${column}: ${message}${hint === undefined ? '' : `; ${hint}`}`);
}

/** A problem with a file as a whole, such as its absence. */
export function fileProblem(file: string, message: string): Problem {
  return { file, line: 1, column: 1, path: '', message };
}

// One configuration file as text with a structure: its values, and the line and column of each.
export type Path = readonly (string | number)[];

export type Document = {
  readonly file: string;
  readonly value: unknown;
  /** Why the text cannot be relied on; while there are any, `value` is not to be used. */
  readonly problems: readonly Problem[];
  has(path: Path): boolean;
  /** The keys of the object at `path` in the order written, which a JavaScript object does not keep for keys like "1". */
  keys(path: Path): string[];
  /** A problem with the value at `path`, or with the nearest object around it when there is none. */
  problem(path: Path, message: string, hint?: string): Problem;
  /** The same, placed at the key instead of the value. */
  keyProblem(path: Path, message: string, hint?: string): Problem;
};

/** `agent_servers.claude.args[0]` */
export function showPath(path: Path): string {
  return path.map((part, index) => (typeof part === 'number' ? `[${part}]` : index === 0 ? part : `.${part}`)).join('');
}
