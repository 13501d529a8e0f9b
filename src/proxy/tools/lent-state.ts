// How far agents have come with the tools they are lent, session by session.
import type { ToolServerState } from '../../mcp/server/tool-server.ts';
import type { Hub } from '../hub.ts';

export type LentState = {
  readonly sessionId: string;
  /** The id of its process. */
  readonly agent: string;
  readonly transport: string;
  readonly state: ToolServerState;
  readonly tools: readonly string[];
};

export const lentState = (hub: Hub): readonly LentState[] =>
  [...hub.sessions.values()].flatMap(({ publicId, leg, loan }) => {
    const toolServer = loan?.toolServer;
    if (!toolServer || toolServer.isRevoked) return [];
    const tools = toolServer.tools().map(({ name }) => name);
    return [{ sessionId: publicId, agent: leg.id, transport: toolServer.transport, state: toolServer.state, tools }];
  });
