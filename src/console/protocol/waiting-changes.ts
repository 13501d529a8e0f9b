// Changes of a session at the sandbox level `review` that wait for a decision.
import type { InSession } from './sessions.ts';

export type WaitingChange = {
  /** The fingerprint of the change when the page showed it. */
  readonly print: string;
  readonly path: string;
  /** `edited src/a.ts`, with what deserves attention. */
  readonly line: string;
  readonly isConflict: boolean;
  /** Undefined: there is no file, or no text to show. */
  readonly oldText?: string | undefined;
  readonly newText?: string | undefined;
  /** Why there is no text to show, or not all of it. */
  readonly note?: string | undefined;
};

export type WaitingChangeActions = {
  waitingChanges: { params: InSession; result: { readonly changes: readonly WaitingChange[] } };
  /** Applies or drops the changes with these fingerprints. */
  decideChanges: {
    params: InSession & { readonly how: 'apply' | 'drop'; readonly prints: readonly string[] };
    result: { readonly report: readonly string[]; readonly changes: readonly WaitingChange[] };
  };
};
