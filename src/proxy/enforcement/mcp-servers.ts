// mcp/message: calls to tools of servers that live in the editor. They name no session; a question is asked in the agent's latest one.
import { failure } from '../../errors.ts';
import { mcpAction } from '../../policy/actions/surfaces.ts';
import { detach, type Frame } from '../../wire/frame.ts';
import { memberAt, stringAt } from '../../wire/json-path.ts';
import type { AgentLeg } from '../agents/agent.ts';
import { askEditor } from './ask-user.ts';
import { type Asking, idOf, paramsOf, surfaceOf, textOf } from './asking.ts';
import { type GuardDeps, judge, kept, record, recordLate, recordUnread } from './evaluate.ts';

/** Names of servers by the connections that agents of the older draft open to them. */
export type McpConnections = WeakMap<AgentLeg, Map<string, string>>;

/** mcp/connect of the older draft: which server the connection is to. */
export function mcpConnect(connections: McpConnections, asking: Asking): void {
  const { leg, frame, passOn } = asking;
  const { acpId, serverId, id } = paramsOf(asking);
  const server = nameOf(leg, acpId ?? serverId ?? id);
  const known = connections.get(leg) ?? new Map<string, string>();
  connections.set(leg, known);
  passOn(frame, {
    onAnswer(answer) {
      const connectionId = answer.outcome === 'result' ? memberText(answer, 'connectionId') : undefined;
      if (connectionId !== undefined && server !== undefined) known.set(connectionId, server);
      return false;
    },
  });
}

export function mcpCall(deps: GuardDeps, connections: McpConnections, asking: Asking): void {
  const { leg, frame, passOn } = asking;
  const { serverId, connectionId, method, params } = paramsOf(asking);
  if (typeof method === 'string' && method !== 'tools/call') return void passOn(frame);
  const { name, arguments: args } = (params ?? {}) as { name?: unknown; arguments?: unknown };
  const server = typeof connectionId === 'string' ? connections.get(leg)?.get(connectionId) : nameOf(leg, serverId);
  if (typeof method !== 'string' || typeof name !== 'string' || server === undefined) {
    recordUnread(deps, surfaceOf(asking), textOf(asking), 'it names no tool of a server that the agent was given');
    if (deps.isObserving) return void passOn(frame);
    return leg.fail(idOf(asking), failure('MCP_SERVER_UNKNOWN', [String(serverId ?? connectionId)]));
  }
  const look = (request: Buffer | string) =>
    judge(deps, surfaceOf(asking), request, (place) => mcpAction(place, { server, tool: name, args }));
  const matter = look(textOf(asking));
  if (deps.isObserving) {
    record(deps, matter, 'passed');
    return void passOn(frame);
  }
  // What no rule speaks of is left to the editor, whose tools they are; it may ask for itself.
  const isLeftOpen = matter.verdict === 'ask' && matter.decision.rule === undefined;
  if ((matter.verdict === 'allow' || isLeftOpen) && record(deps, matter, 'passed')) return void passOn(frame);
  const idText = idOf(asking);
  // An error of the tool, not of the way to it: the outer request has succeeded.
  const refuse = (why: string) => leg.succeed(idText, JSON.stringify({ error: { code: -32603, message: `Denied by policy: ${why}` } }));
  const session = asking.session ?? [...leg.sessions.values()].at(-1);
  if (matter.verdict === 'deny' || !session) {
    record(deps, matter, 'refused', matter.by, 'deny');
    return refuse(matter.decision.why);
  }
  const waits = detach(frame);
  const shown = { title: `Use ${server}: ${name}`, kind: 'other', rawInput: { server, tool: name, arguments: args } };
  const asked = kept(matter);
  askEditor(deps, asked, session, idText, shown, (reply) => {
    if (reply !== 'allowed') return refuse('the user refused it');
    const now = look(asked.request);
    if (now.verdict !== 'deny') return void passOn(waits);
    recordLate(deps, now, now.decision.why);
    refuse(now.decision.why);
  });
}

function nameOf(leg: AgentLeg, serverId: unknown): string | undefined {
  return typeof serverId === 'string' ? leg.mcpServers.get(serverId) : undefined;
}

const memberText = ({ bytes, body }: Frame, key: string): string | undefined => stringAt(bytes, memberAt(bytes, body, key));
