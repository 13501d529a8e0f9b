// The operations on agents that the MCP server needs: sessions of the built-in client, with permission requests as text, and transcripts of
// earlier sessions too.

import type { PermissionOption } from '../../client/describe-permission.ts';
import type { AgentSessions, OperationHandlers as ClientHandlers, Turn } from '../../client/sessions.ts';
import type { Block, Step } from '../../client/turn-record.ts';

/** `text` says what the agent asks for. */
export type PermissionRequest = { readonly text: string; readonly options: readonly PermissionOption[] };

export type OperationHandlers = Required<ClientHandlers>;
export type TurnHandlers = OperationHandlers & {
  readonly signal: AbortSignal;
  readonly progress: (step: Step) => void;
  permission(request: PermissionRequest, signal: AbortSignal): Promise<string | undefined>;
};

export type Agents = Pick<
  AgentSessions,
  | 'agents'
  | 'open'
  | 'reopen'
  | 'fork'
  | 'closeSession'
  | 'deleteSession'
  | 'session'
  | 'sessions'
  | 'set'
  | 'cancel'
  | 'authenticate'
  | 'list'
  | 'onChange'
> & {
  prompt(sessionId: string, blocks: readonly Block[], handlers: TurnHandlers): Promise<Turn>;
  /** The transcript of a session, also of an earlier one, or of one of its turns. */
  transcript(sessionId: string, turn?: number): string | undefined;
  hasTranscript(sessionId: string): boolean;
};
