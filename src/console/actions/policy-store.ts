// What the console needs of the policy of this process: what is in force, where a rule of the user's goes, what was asked before.
import type { Action, Place } from '../../policy/actions/action.ts';
import type { Hits, Policy } from '../../policy/policy.ts';
import type { Layer } from '../../policy/rules/layers.ts';

export type PolicyStore = {
  /** undefined when nobody has one. */
  state(): PolicyState | undefined;
  /** Where rules of the user's go, or why nowhere. */
  place(): PolicyPlace | { readonly why: string };
  /** The text of that place as it is now, or what a new file begins with. */
  read(): Promise<string>;
  /** Writes it anew; resolves when it is in force. Rejects with what the user is to hear, also when `change` throws. */
  write(change: (text: string) => string): Promise<void>;
  placeFor(agent: string, cwd: string): Place;
  /** Requests of before: those in transcripts, or in a recording. */
  past(recording: string | undefined): Promise<readonly PastRequest[]>;
};

export type PolicyState = {
  readonly layers: readonly (Layer & { readonly text: string })[];
  readonly policy: Policy;
  readonly isObserving: boolean;
  /** Nobody has configured it. */
  readonly isOurs: boolean;
  readonly problem: string | undefined;
  readonly hits: ReadonlyMap<string, Hits>;
  /** The same policy with another text for one of its files; throws when that cannot be used. */
  with(file: string, text: string): Policy;
};

export type PolicyPlace = {
  readonly file: string;
  readonly isNew: boolean;
  /** The file that is in force, which a new one takes the place of. */
  readonly insteadOf: string;
};

export type PastRequest = { readonly where: string; readonly action: Action; readonly answer?: string | undefined };
