// The sessions open in this process. The record holds what outlives the process; this holds the rest.
import { RequestError, type ToolKind } from '@agentclientprotocol/sdk';
import type { McpConnections } from './mcp-connections.ts';
import type { SessionRecord } from './session-store.ts';

export type LiveSession = {
  readonly record: SessionRecord;
  readonly mcp: McpConnections;
  /** Kinds of tool calls the user answered with allow_always. Deliberately forgotten with the process. */
  readonly alwaysAllowed: Set<ToolKind>;
  turn: { readonly cancel: AbortController; readonly done: Promise<unknown> } | undefined;
};

export type LiveSessions = {
  open(record: SessionRecord, mcp: McpConnections): void;
  get(sessionId: string): LiveSession;
  cancel(sessionId: string): void;
  close(sessionId: string): Promise<void>;
  closeAll(): Promise<void>;
};

export function createLiveSessions(): LiveSessions {
  const live = new Map<string, LiveSession>();

  const close = async (sessionId: string) => {
    const session = live.get(sessionId);
    live.delete(sessionId);
    session?.turn?.cancel.abort();
    // The open prompt is answered first: a client that has seen the session close expects nothing more.
    await session?.turn?.done.catch(() => {});
    await session?.mcp.close();
  };

  return {
    open: (record, mcp) => void live.set(record.sessionId, { record, mcp, alwaysAllowed: new Set(), turn: undefined }),
    get(sessionId) {
      const session = live.get(sessionId);
      if (session === undefined) throw RequestError.sessionNotFound(sessionId);
      return session;
    },
    cancel: (sessionId) => live.get(sessionId)?.turn?.cancel.abort(),
    close,
    async closeAll() {
      await Promise.all([...live.keys()].map(close));
    },
  };
}
