// The sessions of one proxy, and the terminals that agents created in them.
import type { SessionTable } from '../../router/session-table.ts';
import type { Agent } from '../agents/agent.ts';
import type { Session } from './session.ts';

export type SessionRegistry = {
  readonly table: SessionTable;
  /** By public id. */
  readonly sessions: Map<string, Session>;
  /** By the id that the client uses. */
  readonly terminals: Map<string, { readonly agent: Agent; readonly sessionId: string | undefined }>;
};
