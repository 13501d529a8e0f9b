// mcp/message: calls to tools of servers inside the client. They name no session; the user is asked in the agent's latest one.
import { failure, type ProxyError } from '../../../errors.ts';
import type { Action, Place } from '../../../policy/actions/action.ts';
import { hostAction, mcpAction, startAction } from '../../../policy/actions/surfaces.ts';
import { detach, type Frame } from '../../../wire/frame.ts';
import { memberAt, stringAt } from '../../../wire/json-path.ts';
import type { Agent } from '../../agents/agent.ts';
import { requestPermission } from '../ask-user.ts';
import { agentStateOf, stateOf } from '../enforcement-state.ts';
import {
  detached,
  type EnforcementDeps,
  evaluate,
  type IncomingRequest,
  idOf,
  paramsOf,
  record,
  recordLate,
  recordUnread,
  surfaceOf,
  textOf,
} from '../evaluate.ts';
import { reportRefusal } from '../reports.ts';

/** mcp/connect of the older draft: which server the connection is to. */
export function mcpConnect(incoming: IncomingRequest): void {
  const { agent, frame, passOn } = incoming;
  const { acpId, serverId, id } = paramsOf(incoming);
  const server = nameOf(agent, acpId ?? serverId ?? id);
  passOn(frame, {
    onAnswer(answer) {
      const connectionId = answer.outcome === 'result' ? memberText(answer, 'connectionId') : undefined;
      if (connectionId !== undefined && server !== undefined) agentStateOf(agent).mcpConnections.set(connectionId, server);
      return false;
    },
  });
}

export function mcpCall(deps: EnforcementDeps, incoming: IncomingRequest): void {
  const { agent, frame, passOn } = incoming;
  const { serverId, connectionId, method, params } = paramsOf(incoming);
  if (typeof method === 'string' && method !== 'tools/call') return void passOn(frame);
  const { name, arguments: args } = (params ?? {}) as { name?: unknown; arguments?: unknown };
  const server = typeof connectionId === 'string' ? agent.enforcement?.mcpConnections.get(connectionId) : nameOf(agent, serverId);
  if (typeof method !== 'string' || typeof name !== 'string' || server === undefined) {
    recordUnread(deps, surfaceOf(incoming), textOf(incoming), 'it names no tool of a server that the agent was given');
    if (deps.isObserving) return void passOn(frame);
    return agent.fail(idOf(incoming), failure('MCP_SERVER_UNKNOWN', [String(serverId ?? connectionId)]));
  }
  const evaluateNow = (request: Buffer | string) =>
    evaluate(deps, surfaceOf(incoming), request, (place) => mcpAction(place, { server, tool: name, args }));
  let evaluation = evaluateNow(textOf(incoming));
  if (deps.isObserving) {
    record(deps, evaluation, 'passed');
    return void passOn(frame);
  }
  // Without a rule the client decides: the tools are its own, and it may ask the user itself.
  const isLeftOpen = evaluation.verdict === 'ask' && evaluation.decision.rule === undefined;
  const session = incoming.session ?? [...agent.sessions.values()].at(-1);
  const decided = (isAllowed: boolean) => session && stateOf(session).decided.note(session, evaluation.action, isAllowed);
  if (evaluation.verdict === 'allow' || isLeftOpen) {
    if (record(deps, evaluation, 'passed')) {
      decided(true);
      return void passOn(frame);
    }
    evaluation = evaluateNow(textOf(incoming)); // the policy may deny what cannot be recorded
  }
  const idText = idOf(incoming);
  // An error of the tool, not of the transport: the outer request succeeded.
  const refuse = (why: string) => agent.succeed(idText, JSON.stringify({ error: { code: -32603, message: `Denied by policy: ${why}` } }));
  const shown = { title: `Use ${server}: ${name}`, kind: 'other', rawInput: { server, tool: name, arguments: args } };
  if (evaluation.verdict === 'deny' || !session) {
    record(deps, evaluation, 'refused', evaluation.by, 'deny');
    decided(false);
    reportRefusal(deps, { ...evaluation, session }, { shown });
    return refuse(evaluation.decision.why);
  }
  const waitingFrame = detach(frame);
  const waiting = detached(evaluation);
  requestPermission(deps, waiting, { session, idText, shown }, (reply) => {
    const now = reply === 'allowed' ? evaluateNow(waiting.request) : undefined;
    decided(now !== undefined && now.verdict !== 'deny');
    if (now === undefined) return refuse('the user refused it');
    if (now.verdict !== 'deny') return void passOn(waitingFrame);
    recordLate(deps, now, now.decision.why);
    reportRefusal(deps, { ...now, session }, { shown });
    refuse(now.decision.why);
  });
}

function nameOf(agent: Agent, serverId: unknown): string | undefined {
  return typeof serverId === 'string' ? agent.mcpServers.get(serverId) : undefined;
}

const memberText = ({ bytes, body }: Frame, key: string): string | undefined => stringAt(bytes, memberAt(bytes, body, key));

// MCP servers that a client brings for an agent to start or reach: evaluated when the session is opened.
type Server = { readonly name?: unknown; readonly command?: unknown; readonly args?: unknown; readonly url?: unknown };

type ReadableServer = { readonly name?: unknown; readonly command?: string; readonly args?: readonly string[]; readonly url?: string };

/** The first server that is denied. `ask` passes: the user's own client brings the server. */
export function refusesServers(deps: EnforcementDeps, agent: Agent, paramsText: string | undefined): ProxyError | undefined {
  if (paramsText === undefined) return undefined;
  const { mcpServers, cwd } = (JSON.parse(paramsText) ?? {}) as { mcpServers?: unknown; cwd?: unknown };
  if (!Array.isArray(mcpServers)) return undefined;
  for (const server of mcpServers as readonly (Server | null)[]) {
    const about = { agent, session: undefined, surface: 'mcpServers' };
    if (!isReadable(server)) {
      recordUnread(deps, about, JSON.stringify(server), 'its command or URL cannot be read');
      if (deps.isObserving) continue;
      return failure('SERVER_DENIED', [String(server?.name), agent.name, 'its command or URL cannot be read']);
    }
    const ask = requestOf(server, typeof cwd === 'string' ? cwd : undefined);
    if (!ask) continue;
    const evaluateNow = () => evaluate(deps, about, JSON.stringify(server), ask);
    let evaluation = evaluateNow();
    const isRecorded = record(deps, evaluation, evaluation.verdict === 'deny' && !deps.isObserving ? 'refused' : 'passed');
    if (!isRecorded) evaluation = evaluateNow(); // the policy may deny what cannot be recorded
    if (evaluation.verdict !== 'deny' || deps.isObserving) continue;
    return failure('SERVER_DENIED', [String(server?.name), agent.name, evaluation.decision.why], { rule: evaluation.decision.rule?.id });
  }
  return undefined;
}

/** Exactly as the protocol defines it; an agent may accept more than we do. */
function isReadable(server: Server | null): server is ReadableServer {
  const { command, args, url } = server ?? {};
  const isText = (value: unknown) => value === undefined || typeof value === 'string';
  return (
    server !== null &&
    isText(command) &&
    isText(url) &&
    (args === undefined || (Array.isArray(args) && args.every((word) => typeof word === 'string')))
  );
}

function requestOf({ name, command, args, url }: ReadableServer, cwd: string | undefined): ((place: Place) => Action) | undefined {
  const at = (place: Place): Place => (cwd === undefined ? place : { ...place, cwd });
  if (command !== undefined) {
    const words = args ?? [];
    return (place) => startAction(at(place), [command, ...words], String(name));
  }
  // Servers inside the client have neither; their calls are evaluated one by one.
  return url !== undefined ? (place) => hostAction(at(place), 'fetch', url) : undefined;
}
