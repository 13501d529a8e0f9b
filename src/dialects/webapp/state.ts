// What must be remembered while the web app's dialect is spoken: who waits for what, and what each session offers.
import { added, removed } from '../json.ts';
import type { Response } from '../message.ts';
import type { Models, Modes } from './options.ts';
import type { LIST_MODELS } from './table.ts';

/** A request at the agent, and what its answer is for. */
export type Action =
  /** An `extension` is between the editor and the agent. */
  | { readonly what: 'initialize' | 'other' | 'extension' }
  | { readonly what: 'open'; readonly sessionId: string | undefined; readonly cwd: string | undefined }
  | { readonly what: 'prompt'; readonly sessionId: string }
  /** The answer that opens a session waits for this one. */
  | { readonly what: 'models'; readonly way: number; readonly sessionId: string; readonly opened: Response }
  | {
      readonly what: 'model' | 'mode';
      readonly way: number;
      readonly sessionId: string;
      readonly value: string;
      readonly id: string | undefined;
    };

export type Session = {
  readonly cwd: string | undefined;
  readonly own: readonly unknown[];
  readonly models: Models | undefined;
  readonly modes: Modes | undefined;
  readonly maxTokens: number | undefined;
};

export type Turn = { readonly id: string; readonly sessionId: string; readonly error?: string; readonly isRefused?: boolean };

export type State = {
  /** Params are sent in both spellings, since it is not certain which one is understood. */
  readonly isUnsure: boolean;
  readonly asked: ReadonlyMap<string, Action>;
  readonly sessions: ReadonlyMap<string, Session>;
  /** The one that was begun last is the last. */
  readonly turns: readonly Turn[];
  /** The session spoken of last. */
  readonly latest: string | undefined;
  readonly nextId: number;
  /** How this agent lists models, once that is known. */
  readonly listsBy: (typeof LIST_MODELS)[number] | 'not' | undefined;
};

export const NO_SESSION: Session = { cwd: undefined, own: [], models: undefined, modes: undefined, maxTokens: undefined };

export const sessionOf = (state: State, id: string): Session => state.sessions.get(id) ?? NO_SESSION;

export const withSession = (state: State, id: string, change: Partial<Session>): State => ({
  ...state,
  sessions: added(state.sessions, id, { ...sessionOf(state, id), ...change }),
});

export const asking = (state: State, id: string, asked: Action): State => ({ ...state, asked: added(state.asked, id, asked) });
export const answered = (state: State, id: string): State => ({ ...state, asked: removed(state.asked, id) });

/** An id of our own, beside those that come from the editor's side, which are numbers. */
export const ownId = (state: State): string => JSON.stringify(`switchboard:${state.nextId}`);

/** Whose an update is that names no session: of the one that is being prompted, else of the latest. */
export const sessionSpokenOf = (state: State): string | undefined => state.turns.at(-1)?.sessionId ?? state.latest;
