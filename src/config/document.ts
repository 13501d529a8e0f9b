// One configuration file as text with a structure: its values, and the line and column of each.
import type { Problem } from './problems.ts';

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
