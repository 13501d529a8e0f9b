// What a page may do in a session besides prompting: answer what the agent wants to know, apply its changes, look at what it names.
import type { Why } from '../actions/apply-hunks.ts';
import type { Value } from './form.ts';
import type { InSession } from './sessions.ts';

/** A change that an agent told of: by its place, and by what it was when the page looked at it. */
export type ChangeAt = InSession & { readonly toolCallId: string; readonly at: number; readonly print: string };

/** How a hunk of a change stands to the file. `found` is what is there where it was to go. */
export type HunkState =
  | { readonly state: 'open' | 'applied' }
  | { readonly state: 'conflict'; readonly why: Why; readonly found: string | undefined };

/** A way to log in. `command` is to be run in a terminal, `variables` are to be set in the agent's environment; else a page can ask for it. */
export type LoginMethod = {
  readonly id: string;
  readonly name: string;
  readonly description?: string | undefined;
  readonly command?: string | undefined;
  readonly variables?: readonly string[] | undefined;
};

export type ChatActions = {
  /** What of a change can be applied. */
  hunks: { params: ChangeAt; result: { readonly hunks: readonly HunkState[] } };
  /** All of these hunks, or nothing. */
  apply: {
    params: ChangeAt & { readonly hunks: readonly number[] };
    result: { readonly isWritten: boolean; readonly hunks: readonly HunkState[] };
  };
  /** To an elicitation; values stand in the order of the fields. `url` is to be opened. */
  reply: {
    params: {
      readonly requestId: string;
      readonly action: 'accept' | 'decline' | 'cancel';
      readonly values: readonly (Exclude<Value, undefined> | null)[];
    };
    result: { readonly isFirst: boolean; readonly problem?: string | undefined; readonly url?: string | undefined };
  };
  /** Ends what runs in a terminal of an agent's. */
  kill: { params: InSession & { readonly terminalId: string }; result: unknown };
  /** The beginning of a file that an agent names. */
  preview: { params: InSession & { readonly uri: string }; result: { readonly text: string; readonly isCut: boolean } };
  rename: { params: InSession & { readonly title: string }; result: unknown };
  delete: { params: InSession; result: unknown };
  /** Another session that begins with what was said in this one. */
  fork: { params: InSession; result: InSession };
};
