// How far agents have come with the tools they are lent, session by session.
import type { ToolServerState } from '../../mcp/server/tool-server.ts';
import type { Hub } from '../hub.ts';

export type HostToolsState = {
  readonly sessionId: string;
  /** The id of its process. */
  readonly agent: string;
  readonly transport: string;
  readonly state: ToolServerState;
  readonly tools: readonly string[];
};

export const hostToolsState = (hub: Hub): readonly HostToolsState[] =>
  [...hub.sessions.values()].flatMap(({ publicId, agent, attachment }) => {
    const toolServer = attachment?.toolServer;
    if (!toolServer || toolServer.isRevoked) return [];
    const tools = toolServer.tools().map(({ name }) => name);
    return [{ sessionId: publicId, agent: agent.id, transport: toolServer.transport, state: toolServer.state, tools }];
  });
