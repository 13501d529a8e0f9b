// mcp/message: calls to tools of servers that live in the editor. They name no session; a question is asked in the agent's latest one.
import { failure } from '../../errors.ts';
import { mcpAction } from '../../policy/actions/surfaces.ts';
import { detach, type Frame } from '../../wire/frame.ts';
import { memberAt, stringAt } from '../../wire/json-path.ts';
import type { Agent } from '../agents/agent.ts';
import { askClient } from './ask-user.ts';
import { type Asking, idOf, paramsOf, surfaceOf, textOf } from './asking.ts';
import { type EnforcementDeps, evaluate, kept, record, recordLate, recordUnread } from './evaluate.ts';

/** Names of servers by the connections that agents of the older draft open to them. */
export type McpConnections = WeakMap<Agent, Map<string, string>>;

/** mcp/connect of the older draft: which server the connection is to. */
export function mcpConnect(connections: McpConnections, asking: Asking): void {
  const { agent, frame, passOn } = asking;
  const { acpId, serverId, id } = paramsOf(asking);
  const server = nameOf(agent, acpId ?? serverId ?? id);
  const known = connections.get(agent) ?? new Map<string, string>();
  connections.set(agent, known);
  passOn(frame, {
    onAnswer(answer) {
      const connectionId = answer.outcome === 'result' ? memberText(answer, 'connectionId') : undefined;
      if (connectionId !== undefined && server !== undefined) known.set(connectionId, server);
      return false;
    },
  });
}

export function mcpCall(deps: EnforcementDeps, connections: McpConnections, asking: Asking): void {
  const { agent, frame, passOn } = asking;
  const { serverId, connectionId, method, params } = paramsOf(asking);
  if (typeof method === 'string' && method !== 'tools/call') return void passOn(frame);
  const { name, arguments: args } = (params ?? {}) as { name?: unknown; arguments?: unknown };
  const server = typeof connectionId === 'string' ? connections.get(agent)?.get(connectionId) : nameOf(agent, serverId);
  if (typeof method !== 'string' || typeof name !== 'string' || server === undefined) {
    recordUnread(deps, surfaceOf(asking), textOf(asking), 'it names no tool of a server that the agent was given');
    if (deps.isObserving) return void passOn(frame);
    return agent.fail(idOf(asking), failure('MCP_SERVER_UNKNOWN', [String(serverId ?? connectionId)]));
  }
  const look = (request: Buffer | string) =>
    evaluate(deps, surfaceOf(asking), request, (place) => mcpAction(place, { server, tool: name, args }));
  const action = look(textOf(asking));
  if (deps.isObserving) {
    record(deps, action, 'passed');
    return void passOn(frame);
  }
  // What no rule speaks of is left to the editor, whose tools they are; it may ask for itself.
  const isLeftOpen = action.verdict === 'ask' && action.decision.rule === undefined;
  if ((action.verdict === 'allow' || isLeftOpen) && record(deps, action, 'passed')) return void passOn(frame);
  const idText = idOf(asking);
  // An error of the tool, not of the way to it: the outer request has succeeded.
  const refuse = (why: string) => agent.succeed(idText, JSON.stringify({ error: { code: -32603, message: `Denied by policy: ${why}` } }));
  const session = asking.session ?? [...agent.sessions.values()].at(-1);
  if (action.verdict === 'deny' || !session) {
    record(deps, action, 'refused', action.by, 'deny');
    return refuse(action.decision.why);
  }
  const waits = detach(frame);
  const shown = { title: `Use ${server}: ${name}`, kind: 'other', rawInput: { server, tool: name, arguments: args } };
  const asked = kept(action);
  askClient(deps, asked, session, idText, shown, (reply) => {
    if (reply !== 'allowed') return refuse('the user refused it');
    const now = look(asked.request);
    if (now.verdict !== 'deny') return void passOn(waits);
    recordLate(deps, now, now.decision.why);
    refuse(now.decision.why);
  });
}

function nameOf(agent: Agent, serverId: unknown): string | undefined {
  return typeof serverId === 'string' ? agent.mcpServers.get(serverId) : undefined;
}

const memberText = ({ bytes, body }: Frame, key: string): string | undefined => stringAt(bytes, memberAt(bytes, body, key));
