// What is wrong with a policy, where, and how it reads. Values are never part of it: they may be secrets.
import { escapeControls } from '../../control-characters.ts';

/** The same shape as a configuration's problem, so that both are printed alike. */
export type Problem = {
  readonly file: string;
  /** 1-based, as editors count. */
  readonly line: number;
  readonly column: number;
  /** Where in the structure: `allow[0].command`; empty for the file as a whole. */
  readonly path: string;
  readonly message: string;
  readonly hint?: string;
};

/** `file:line:column: message; hint`, which terminals and editors turn into a link. */
export function renderPolicyProblem({ file, line, column, message, hint }: Problem): string {
  return escapeControls(`${file}:${line}:${column}: ${message}${hint === undefined ? '' : `; ${hint}`}`);
}

/** A hint beside the first syntax error of a file: one missing quote turns the rest inside out, and what is found there may not be there at all. */
export function followers(count: number): string | undefined {
  return count === 0 ? undefined : `put this right first: ${count} more ${count === 1 ? 'error' : 'errors'} after it may follow from it`;
}
