// Checks whether an agent uses its host tools. An agent that ignores a server sends nothing, so the proxy checks whether it has connected
// by the time it works.
import { takenTransports } from '../../mcp/server/inject-servers.ts';
import type { ToolServer, ToolServerState } from '../../mcp/server/tool-server.ts';
import { capabilityKey } from '../../store/capability-cache.ts';
import type { Agent } from '../agents/agent.ts';
import type { Parts } from '../parts.ts';
import { record } from '../sessions/open-params.ts';
import type { Session } from '../sessions/session.ts';
import { notifyInSession } from '../turns/notify-in-session.ts';

/** Some agents connect in the background (qwen), while the first turn is under way. */
const GRACE_MS = 10_000;

/** The key of the capability cache, which also stores the transports that an agent was seen to use. */
export const cacheKey = (proxy: Parts<'pool'>, agent: Agent): string =>
  capabilityKey(agent.spec, proxy.pool.initializeParams?.clientCapabilities);

/** The agent's progress with its session's server. A record that was deleted meanwhile, perhaps by another process, stays deleted. */
export function stateReached(proxy: Parts<'context' | 'pool' | 'tools'>, session: Session, toolServer: ToolServer): void {
  noteTransport(proxy, session, toolServer);
  if (!proxy.context.log.wasHiddenLately(session.agent.name, session.nativeId)) record(proxy, session);
}

/** An agent that has connected to the server supports its transport. */
export function noteTransport(proxy: Parts<'pool' | 'tools'>, { agent }: Session, { transport, state }: ToolServer): void {
  if (state !== 'offered') proxy.tools.attachments?.memory?.note(cacheKey(proxy, agent), transport, 'connected');
}

/** Called when the agent uses a tool or ends a turn: by then it has connected, if it ever does. */
export function checkToolUse(proxy: Parts<'context' | 'pool' | 'client' | 'tools'>, session: Session): void {
  const attachment = session.usedServers?.attachment;
  if (attachment?.isUnreachable) return reportUnreachable(proxy, session);
  if (!attachment?.toolServer || attachment.isCheckScheduled) return;
  attachment.isCheckScheduled = true;
  const check = () => {
    if (session.usedServers?.attachment === attachment && attachment.toolServer?.state === 'offered')
      reportUnused(proxy, session, attachment.toolServer);
  };
  proxy.context.clock.after(Math.max(0, GRACE_MS - (proxy.context.clock.monotonicMs() - attachment.sinceMs)), check);
}

/** Once per agent. */
function reportUnreachable(proxy: Parts<'context' | 'pool' | 'client' | 'tools'>, session: Session): void {
  const { agent } = session;
  const reported = proxy.tools.attachments?.reportedAgents;
  if (!reported || reported.has(agent.name)) return;
  reported.add(agent.name);
  const why = `It runs on another machine and does not support MCP servers over its ACP connection (mcpCapabilities.acp). Set agent_servers.${agent.name}.mcp_transport to off to hide this message.`;
  notifyInSession(proxy, session, 'warning', `${agent.title} cannot reach the host tools`, why);
  proxy.context.report(`agent "${agent.name}" cannot reach the host tools. ${why}`);
}

function reportUnused(proxy: Parts<'context' | 'pool' | 'client' | 'tools'>, session: Session, { transport }: ToolServer): void {
  const { attachments: toolAttachments } = proxy.tools;
  const { agent } = session;
  if (!toolAttachments) return;
  const key = cacheKey(proxy, agent);
  const before = { ...toolAttachments.memory?.seen(key) };
  const offered = takenTransports(agent.handshake?.result.agentCapabilities?.mcpCapabilities);
  toolAttachments.memory?.note(key, transport, 'ignored');
  // Reported once per agent, and not for an agent that is known to ignore every transport.
  if (toolAttachments.reportedAgents.has(agent.name) || offered.every((one) => before[one] === 'ignored')) return;
  toolAttachments.reportedAgents.add(agent.name);
  const others = offered.filter((one) => one !== transport && before[one] !== 'ignored');
  const setting = `agent_servers.${agent.name}.mcp_transport`;
  const next =
    agent.spec.mcpTransport !== 'auto'
      ? `Set ${setting} to ${['auto', ...offered.filter((one) => one !== transport)].join(', ')} or off.`
      : others.length > 0
        ? `The next session offers them by ${others[0]}.`
        : `It announces no other way to MCP servers, so its model does not see them. Set ${setting} to off to stop offering them.`;
  notifyInSession(
    proxy,
    session,
    'warning',
    `${agent.title} does not use its host tools`,
    `They were offered by ${transport}, and it never connected. ${next}`,
  );
  proxy.context.report(`agent "${agent.name}" never connected to the tools it was offered by ${transport}. ${next}`);
}

// The state of the host tools in each session.
export type HostToolsState = {
  readonly sessionId: string;
  /** The id of its process. */
  readonly agent: string;
  readonly transport: string;
  readonly state: ToolServerState;
  readonly tools: readonly string[];
};

export const hostToolsState = (proxy: Parts<'registry'>): readonly HostToolsState[] =>
  [...proxy.registry.all()].flatMap(({ publicId, agent, usedServers }) => {
    const toolServer = usedServers?.attachment?.toolServer;
    if (!toolServer || toolServer.isRevoked) return [];
    const tools = toolServer.tools().map(({ name }) => name);
    return [{ sessionId: publicId, agent: agent.id, transport: toolServer.transport, state: toolServer.state, tools }];
  });
