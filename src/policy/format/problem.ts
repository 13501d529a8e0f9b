// A problem in a policy or a configuration: what, where, and how it is printed. It never contains values: they may be secrets.
import { escapeControls } from '../../control-characters.ts';

export type Problem = {
  readonly file: string;
  /** 1-based, as editors count. */
  readonly line: number;
  readonly column: number;
  /** Where in the structure, such as `allow[0].command` or `agent_servers.claude.args[0]`; empty for the whole file. */
  readonly path: string;
  readonly message: string;
  readonly hint?: string;
};

/** `file:line:column: message; hint`, which terminals and editors turn into a link. */
export function renderProblem({ file, line, column, message, hint }: Problem): string {
  return escapeControls(`${file}:${line}:${column}: ${message}${hint === undefined ? '' : `; ${hint}`}`);
}

/** A hint next to the first syntax error: after one missing quote the parser misreads the rest, so later errors may not exist. */
export function followers(count: number): string | undefined {
  return count === 0 ? undefined : `fix this first: ${count} more ${count === 1 ? 'error' : 'errors'} after it may follow from it`;
}
