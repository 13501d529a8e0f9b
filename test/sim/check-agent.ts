// Checks the proxy's output to an agent against the client's frames and the agent's requests.

import { idTextIn } from './frame-text.ts';
import { delegationIn, withoutHostTools } from './host-tools.ts';
import type { AgentFrame, AgentSession, ClientFrame } from './ledger.ts';
import {
  type Evidence,
  isChanging,
  isDelegatedElsewhere,
  isLoad,
  isWithdrawn,
  justBefore,
  leaveBehind,
  momentOf,
  nameOf,
  withhold,
} from './observations.ts';
import { type Message, serialIn } from './sim.ts';
import type { AgentInput, Run } from './sim-agent.ts';
import { allowedBySomebody, mayBeSet } from './under-policy.ts';

/** Requests that the proxy sends to agents in its own name. */
const OWN_METHODS = new Set([
  ...['initialize', 'session/new', 'session/load', 'session/resume', 'session/list', 'session/close', 'session/delete'],
  ...['session/set_mode', 'session/set_model', 'session/prompt', 'logout', 'auth/status', '_session/steering'],
]);
/** With several agents these go to all of them, and the responses are merged. */
const FAN_OUT = new Set(['session/list', 'logout', 'auth/status']);

export function checkAgent(seen: Evidence, run: Run, line: string): AgentInput {
  seen.writes++;
  const message = JSON.parse(line) as Message;
  const idText = idTextIn(line);
  const client = seen.ledger.clientFrame(serialIn(message));
  if (client && !client.isDelivered) seen.problem(`${run.agent} hears what the client has not said to the end: ${nameOf(client)}`);
  if (message.method === undefined) {
    response(seen, run, message, idText as string, client);
    return { message, idText, client: client?.serial, writtenIn: momentOf(seen) };
  }
  if (idText === undefined) {
    notification(seen, run, message, client, line);
    return { message, idText, client: client?.serial, writtenIn: momentOf(seen) };
  }
  // The params of a load open the session anew when its agent changes, perhaps in the very event that answers the load.
  const isChange = client && isLoad(client) && message.method === 'session/new';
  const isOwn =
    !client ||
    isChange ||
    message.method === 'initialize' ||
    wasAnswered(seen, client) ||
    (seen.agents.length > 1 && FAN_OUT.has(message.method));
  mayBeSet(seen, run, message, isOwn ? undefined : client);
  if (message.method === 'session/close' || message.method === 'session/delete') closed(seen, run, message);
  if (!isOwn) forwarded(seen, run, message, idText, client, line);
  const change = isOwn ? own(seen, run, message, client, line) : undefined;
  return { message, idText, client: isOwn ? undefined : client.serial, change: change?.serial, writtenIn: momentOf(seen) };
}

function closed(seen: Evidence, run: Run, message: Message): void {
  const session = sessionIn(seen, run, message);
  if (session) seen.closedIn.set(run, (seen.closedIn.get(run) ?? new Map<AgentSession, number>()).set(session, seen.event));
}

/** Before now, so that its params can only have been kept for another use. */
const wasAnswered = (seen: Evidence, client: ClientFrame): boolean => client.answers > 0 && seen.answeredIn.get(client) !== seen.event;

/** A request of the proxy, perhaps with the params of an earlier client request. Returns the change of agent it is for. */
function own(seen: Evidence, run: Run, message: Message, client: ClientFrame | undefined, line: string): ClientFrame | undefined {
  const method = message.method as string;
  const lineage = client?.opens ?? client?.lineage;
  if (!OWN_METHODS.has(method)) seen.problem(`${run.agent} is asked ${method} by nobody (answered already?): ${line.slice(0, 200)}`);
  if (method === 'session/new' && client) return changeFor(seen, run, client, lineage);
  if (method === 'session/prompt') delegatedTo(seen, run, message, line);
  if ((method === 'session/load' || method === 'session/resume') && lineage !== undefined) {
    const session = sessionIn(seen, run, message);
    if (session?.lineage !== lineage)
      seen.problem(`${run.agent} is asked to bring back ${String(message.params?.sessionId)} for ${nameOf(client as ClientFrame)}`);
    if (session && method === 'session/load') withhold(seen, session, undefined);
  }
  return undefined;
}

/** A delegation: once for each call, in a session of its own. */
function delegatedTo(seen: Evidence, run: Run, message: Message, line: string): void {
  const key = delegationIn(message.params ?? {});
  const call = seen.ledger.agentFrames.find(({ about }) => about.isHostTool === true && about.key === key);
  const session = sessionIn(seen, run, message);
  if (!call || !session?.isDelegation || !seen.hostToolRuns.has(String(key)))
    return seen.problem(`${run.agent} is prompted, and nobody has sent it: ${line.slice(0, 200)}`);
  if (session.delegationFor || [...seen.delegations.values()].includes(call))
    seen.problem(`${nameOf(call)} is asked of ${run.agent} twice`);
  if (call.agent === run.agent) seen.problem(`${nameOf(call)} is asked of the very agent that asks`);
  // A call at the server of a delegation is for that delegation's session, even if the client has found the caller's session since.
  const caller = call.session as AgentSession;
  const isOfDelegation = call.about.isOfDelegation === true && !caller.delegationFor;
  session.delegationFor = (isOfDelegation && seen.delegations.get(caller)?.session) || caller;
  seen.delegations.set(session, call);
  seen.atWork.add(session);
}

/** Each change opens one session. One that was forwarded is about an option or command of the agent's own, of the same name. */
function changeFor(seen: Evidence, run: Run, client: ClientFrame, lineage: number | undefined): ClientFrame | undefined {
  const justSettled = [...seen.settledChanges].filter((one) => seen.answeredIn.get(one) === seen.event);
  // In the order of the requests: the first of two in one event may be cancelled already.
  const inOrder = [...seen.changes, ...justSettled].toSorted((a, b) => a.serial - b.serial);
  // A load by a name that the client did not know to be in use begins no lineage, and its params are those of the session it found.
  const isSame = (one: ClientFrame) => (lineage === undefined ? one.publicId === client.publicId : one.lineage === lineage);
  const change = inOrder.find(
    (one) => isSame(one) && one.about.changesTo === run.agent && !seen.begunChanges.has(one) && !seen.forwarded.has(one),
  );
  if (change) seen.begunChanges.add(change);
  else seen.problem(`${run.agent} is asked to open ${nameOf(client)} anew though nobody wanted another agent`);
  return change;
}

function forwarded(seen: Evidence, run: Run, message: Message, idText: string, client: ClientFrame, line: string): void {
  const { method } = message;
  const before = seen.forwarded.get(client) ?? [];
  // A session that changes its agent while it is being ended is ended where it is then.
  const isEnd = client.method === 'session/close' || client.method === 'session/delete';
  const isElsewhere = before.every(({ run: other }) => other.agent !== run.agent);
  if (before.length > 0 && !isLoad(client) && !(isEnd && isElsewhere)) seen.problem(`${nameOf(client)} is passed on twice`);
  seen.forwarded.set(client, [...before, { run, idText }]);
  if (client.fate === 'never') seen.problem(`${run.agent} hears what must not pass: ${nameOf(client)}`);
  const wanted = client.about.agent;
  if (method === 'session/new' && typeof wanted === 'string' && wanted !== run.agent)
    seen.problem(`${nameOf(client)} is for ${wanted} and reaches ${run.agent}`);
  atItsSession(seen, run, message, client);
  unchanged(seen, run, message, client, idText, line);
  const limitMs = client.about.isTurn === true ? (seen.limits.get(run.agent)?.promptMs ?? 0) : 0;
  if (limitMs > 0) seen.promptLimits.set(client, seen.clock.nowMs + limitMs + seen.cancelMs);
  const session = sessionIn(seen, run, message);
  if (session && client.lineage === undefined) seen.foundByName.add(session);
  // The client has found it, and owns it from now on.
  if (session && isLoad(client) && !isDelegatedElsewhere(seen, run, session)) seen.ledger.ownedByClient(session);
  if (!session || method !== 'session/load') return;
  if (client.method === 'session/resume') return withhold(seen, session, client);
  // This replay is wanted, whatever was not before.
  seen.withheld.delete(session);
  leaveBehind(seen, session, justBefore(momentOf(seen)));
}

function unchanged(seen: Evidence, run: Run, message: Message, client: ClientFrame, idText: string | undefined, line: string): void {
  if (client.about.isPatched === true) return;
  const expected = client.writing.rewritten(idText, message.params?.sessionId as string | undefined, message.method);
  const isHostTool = message.params?.mcpServers !== undefined && seen.policyModel !== undefined;
  if (expected !== line && !(isHostTool && withoutHostTools(line) === withoutHostTools(expected)))
    seen.problem(`${nameOf(client)} was changed on its way to ${run.agent}:\n    ${expected}\n    ${line}`);
}

const sessionIn = (seen: Evidence, run: Run, message: Message): AgentSession | undefined =>
  seen.ledger.sessionAt(run.agent, String(message.params?.sessionId));

function atItsSession(seen: Evidence, run: Run, message: Message, client: ClientFrame): void {
  const native = message.params?.sessionId;
  // A list belongs to no session, whatever its params contain.
  if (native === undefined || client.lineage === undefined || client.method === 'session/list') return;
  const session = sessionIn(seen, run, message);
  // The owner of an ended session is unknown, so the proxy asks one agent after the other.
  if (!session && isLoad(client)) return;
  if (session?.lineage !== client.lineage)
    return seen.problem(`${nameOf(client)} reaches ${run.agent}/${native}, which is another session`);
  const target = seen.targets.get(client);
  if (target && target !== session && !isChanging(seen, client.lineage))
    seen.problem(`${nameOf(client)} is for ${target.agent}/${target.native} and reaches ${run.agent}/${native}`);
}

function notification(seen: Evidence, run: Run, message: Message, client: ClientFrame | undefined, line: string): void {
  if (!client) {
    if (message.method !== 'session/cancel') seen.problem(`${run.agent} is told what nobody has said: ${line}`);
    const session = sessionIn(seen, run, message);
    if (session) seen.cancelledHere.add(session);
    if (session?.delegationFor && !seen.stopRequested.has(session)) seen.stopRequested.set(session, seen.event);
    return;
  }
  if (client.fate === 'never') seen.problem(`${run.agent} hears what must not pass: ${nameOf(client)}`);
  atItsSession(seen, run, message, client);
  unchanged(seen, run, message, client, undefined, line);
  const session = sessionIn(seen, run, message);
  // After a crash the next process does not have the session, and gets no notifications for it before a request has recovered it.
  if (session && client.lineage !== undefined && !run.open.has(session) && !seen.loose.has(session))
    seen.problem(`${nameOf(client)} reaches ${run.agent}#${run.number}, which has not opened the session`);
  if (message.method === '$/cancel_request') {
    const request = seen.ledger.clientFrame(client.about.takesBack);
    const known =
      request && seen.forwarded.get(request)?.some((one) => one.run === run && one.idText === String(message.params?.requestId));
    if (!known) seen.problem(`${nameOf(client)} cancels ${String(message.params?.requestId)} at ${run.agent}, which is another request`);
  }
  if (message.method === 'mcp/message') {
    const agentRequest = seen.ledger.agentFrame(client.about.progressOf);
    const isOpen = agentRequest && [...seen.atClient.values()].includes(agentRequest);
    if (isOpen && (agentRequest.agent !== run.agent || agentRequest.about.mcpRequestId !== message.params?.requestId))
      seen.problem(`${nameOf(client)} is about ${nameOf(agentRequest)} and reaches ${run.agent} as ${String(message.params?.requestId)}`);
  }
}

function response(seen: Evidence, run: Run, message: Message, idText: string, client: ClientFrame | undefined): void {
  // A line that is too long is refused before its end has arrived.
  const isTooLong = (message.error as { data?: { reason?: string } } | undefined)?.data?.reason === 'frame_too_long';
  const open = (frame: AgentFrame) =>
    frame.agent === run.agent && frame.run === run.number && !seen.answered.has(frame) && (frame.isDelivered || isTooLong);
  const agentRequest = client
    ? seen.ledger.agentFrame(client.answerTo)
    : seen.ledger.agentFrames.find((frame) => frame.kind === 'request' && frame.idText === idText && open(frame));
  if (!agentRequest || agentRequest.idText !== idText || !open(agentRequest))
    return seen.problem(
      `${run.agent}#${run.number} hears an answer with the id ${idText} that it does not wait for${client ? `: ${nameOf(client)}` : `: ${JSON.stringify(message)}`}`,
    );
  seen.answered.add(agentRequest);
  if (isWithdrawn(seen, agentRequest)) seen.answeredWithdrawn.add(agentRequest);
  seen.answeredHere.add(agentRequest);
  if (!client) allowedBySomebody(seen, agentRequest, message);
  if (seen.mustBeCancelled.delete(agentRequest) && !isCancelled(message))
    seen.problem(`${nameOf(agentRequest)} was cancelled and is answered ${JSON.stringify(message)}`);
  if (!client && message.error && agentRequest.fate === 'must' && !seen.isStopping && !isJustified(seen, agentRequest, message))
    seen.problem(`${nameOf(agentRequest)} gets an error that nothing explains: ${message.error.message}`);
}

function isCancelled({ result }: Message): boolean {
  return result?.action === 'cancel' || (result?.outcome as { outcome?: string } | undefined)?.outcome === 'cancelled';
}

function isJustified(seen: Evidence, agentRequest: AgentFrame, { error }: Message): boolean {
  if (seen.answeredByClient.has(agentRequest)) return true;
  const words = String(error?.message);
  if (seen.policyModel?.isObserving === false && /enied by policy/.test(words))
    return seen.policyModel.decided(agentRequest.serial).length > 0;
  if (seen.policyModel && error?.code === -32800)
    return seen.ledger.agentFrames.some(({ about }) => about.withdraws === agentRequest.serial);
  return /did not create terminal|Too many .* are open|No agent owns session|This agent has no MCP server/.test(String(error?.message));
}
