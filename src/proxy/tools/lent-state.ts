// How far agents have come with the tools they are lent, session by session.
import type { LeaseState } from '../../mcp/server/tool-server.ts';
import type { Hub } from '../hub.ts';

export type LentState = {
  readonly sessionId: string;
  /** The id of its process. */
  readonly agent: string;
  readonly transport: string;
  readonly state: LeaseState;
  readonly tools: readonly string[];
};

export const lentState = (hub: Hub): readonly LentState[] =>
  [...hub.sessions.values()].flatMap(({ publicId, leg, loan }) => {
    const lease = loan?.lease;
    if (!lease || lease.isRevoked) return [];
    const tools = lease.tools().map(({ name }) => name);
    return [{ sessionId: publicId, agent: leg.id, transport: lease.transport, state: lease.state, tools }];
  });
