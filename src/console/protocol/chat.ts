// Actions in a session besides prompting: answer elicitations, apply changes, preview files.
import type { Why } from '../actions/apply-hunks.ts';
import type { Value } from './form.ts';
import type { InSession } from './sessions.ts';

/** A change an agent reported, by its position and its fingerprint when the page showed it. */
export type ChangeAt = InSession & { readonly toolCallId: string; readonly at: number; readonly print: string };

/** How a hunk fits the file. `found` is the text in its place. */
export type HunkState =
  | { readonly state: 'open' | 'applied' }
  | { readonly state: 'conflict'; readonly why: Why; readonly found: string | undefined };

/** A login method. Run `command` in a terminal, set `variables` in the agent's environment, or let the page call `authenticate`. */
export type LoginMethod = {
  readonly id: string;
  readonly name: string;
  readonly description?: string | undefined;
  readonly command?: string | undefined;
  readonly variables?: readonly string[] | undefined;
};

export type ChatActions = {
  /** Which hunks of a change can be applied. */
  hunks: { params: ChangeAt; result: { readonly hunks: readonly HunkState[] } };
  /** Applies all of these hunks or none. */
  apply: {
    params: ChangeAt & { readonly hunks: readonly number[] };
    result: { readonly isWritten: boolean; readonly hunks: readonly HunkState[] };
  };
  /** Answers an elicitation; values in the order of the fields. The page opens `url`. */
  reply: {
    params: {
      readonly requestId: string;
      readonly action: 'accept' | 'decline' | 'cancel';
      readonly values: readonly (Exclude<Value, undefined> | null)[];
    };
    result: { readonly isFirst: boolean; readonly problem?: string | undefined; readonly url?: string | undefined };
  };
  /** Kills the program in an agent's terminal. */
  kill: { params: InSession & { readonly terminalId: string }; result: unknown };
  /** The beginning of a file that an agent names. */
  preview: { params: InSession & { readonly uri: string }; result: { readonly text: string; readonly isCut: boolean } };
  rename: { params: InSession & { readonly title: string }; result: unknown };
  delete: { params: InSession; result: unknown };
  /** Starts another session from this conversation. */
  fork: { params: InSession; result: InSession };
};
