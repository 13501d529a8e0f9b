// The console's view of this process's policy: what is in force, where a user's rule goes, and past requests.
import type { Action, Place } from '../../policy/actions/action.ts';
import type { Hits, Policy } from '../../policy/policy.ts';
import type { Layer } from '../../policy/rules/layers.ts';

export type PolicyStore = {
  /** undefined when there is no policy. */
  state(): PolicyState | undefined;
  /** Where the user's rules go, or why they cannot be saved. */
  place(): PolicyPlace | { readonly why: string };
  /** The current text of that file, or the content of a new one. */
  read(): Promise<string>;
  /** Rewrites the file and resolves when it is in force. Rejects with a message for the user, also when `change` throws. */
  write(change: (text: string) => string): Promise<void>;
  placeFor(agent: string, cwd: string): Place;
  /** Tool calls of the last week, from transcripts, or the requests of a recording. */
  past(recording: string | undefined): Promise<readonly PastRequest[]>;
  /** How often each rule decided in the last week, by `hitKey`, from the audit log; undefined until it was read. */
  week(): ReadonlyMap<string, number> | undefined;
};

export type PolicyState = {
  readonly layers: readonly (Layer & { readonly text: string })[];
  readonly policy: Policy;
  readonly isObserving: boolean;
  /** True when it is the console's default. */
  readonly isOurs: boolean;
  readonly problem: string | undefined;
  readonly hits: ReadonlyMap<string, Hits>;
  /** The same policy with a new text for one file. Throws when the text is invalid. */
  with(file: string, text: string): Policy;
};

export type PolicyPlace = {
  readonly file: string;
  readonly isNew: boolean;
  /** The file in force that a new file replaces. */
  readonly insteadOf: string;
};

export type PastRequest = { readonly where: string; readonly action: Action; readonly answer?: string | undefined };
