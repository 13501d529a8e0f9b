// How far agents have come with the tools they are lent, session by session.
import type { ToolServerState } from '../../mcp/server/tool-server.ts';
import type { ProxyParts } from '../parts.ts';

export type HostToolsState = {
  readonly sessionId: string;
  /** The id of its process. */
  readonly agent: string;
  readonly transport: string;
  readonly state: ToolServerState;
  readonly tools: readonly string[];
};

export const hostToolsState = (proxy: ProxyParts): readonly HostToolsState[] =>
  [...proxy.registry.sessions.values()].flatMap(({ publicId, agent, attachment }) => {
    const toolServer = attachment?.toolServer;
    if (!toolServer || toolServer.isRevoked) return [];
    const tools = toolServer.tools().map(({ name }) => name);
    return [{ sessionId: publicId, agent: agent.id, transport: toolServer.transport, state: toolServer.state, tools }];
  });
