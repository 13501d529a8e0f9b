// State of the web app's dialect: pending requests, and what each session offers.
import { added, removed } from '../json.ts';
import type { Response } from '../message.ts';
import type { Models, Modes } from './options.ts';
import type { LIST_MODELS } from './table.ts';

/** A request sent to the agent, and what its response is for. */
export type PendingRequest =
  /** An `extension` concerns only the client and the agent. */
  | { readonly what: 'initialize' | 'other' | 'extension' }
  | { readonly what: 'open'; readonly sessionId: string | undefined; readonly cwd: string | undefined }
  | { readonly what: 'prompt'; readonly sessionId: string }
  /** The response that opens a session waits for this one. */
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
  /** Params are sent in both spellings, because it is uncertain which one the agent understands. */
  readonly isUnsure: boolean;
  readonly pending: ReadonlyMap<string, PendingRequest>;
  readonly sessions: ReadonlyMap<string, Session>;
  /** In the order they started. */
  readonly turns: readonly Turn[];
  /** The session mentioned last. */
  readonly latest: string | undefined;
  readonly nextId: number;
  /** How this agent lists models, once known. */
  readonly listsBy: (typeof LIST_MODELS)[number] | 'not' | undefined;
};

export const NO_SESSION: Session = { cwd: undefined, own: [], models: undefined, modes: undefined, maxTokens: undefined };

export const sessionOf = (state: State, id: string): Session => state.sessions.get(id) ?? NO_SESSION;

export const withSession = (state: State, id: string, change: Partial<Session>): State => ({
  ...state,
  sessions: added(state.sessions, id, { ...sessionOf(state, id), ...change }),
});

export const withPending = (state: State, id: string, request: PendingRequest): State => ({
  ...state,
  pending: added(state.pending, id, request),
});
export const withoutPending = (state: State, id: string): State => ({ ...state, pending: removed(state.pending, id) });

/** An id that cannot clash with the client's, which are numbers. */
export const ownId = (state: State): string => JSON.stringify(`switchboard:${state.nextId}`);

/** The session of an update that names none: the one being prompted, else the latest. */
export const impliedSession = (state: State): string | undefined => state.turns.at(-1)?.sessionId ?? state.latest;
