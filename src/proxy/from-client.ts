// Frames from the editor: each finds its step, its owner, or a clear answer why not.
import type { ClientMethod } from '../acp/methods.ts';
import { failure, ProxyError } from '../errors.ts';
import { agentsWithVendor } from '../router/capabilities.ts';
import { isAgentOption } from '../router/config-options.ts';
import { type Route, routeFromClient } from '../router/route.ts';
import { detach, type Frame, textOf } from '../wire/frame.ts';
import { memberAt, stringAt } from '../wire/json-path.ts';
import { sessionIdOf } from '../wire/scanner/large-frame.ts';
import type { Agent } from './agents/agent.ts';
import { authenticate } from './agents/authentication.ts';
import { authStatus, logout } from './agents/fan-out.ts';
import type { OpenRequest } from './client/client-connection.ts';
import { contained } from './failed-on.ts';
import type { Hub } from './hub.ts';
import { answeredAgents } from './initialize.ts';
import { mcpProgress } from './requests/mcp-message.ts';
import { forward } from './rewrite.ts';
import { setConfigOption, setTheOldWay } from './sessions/change-agent.ts';
import { release } from './sessions/early-frames.ts';
import { isTracked, knownSession, probe } from './sessions/find-session.ts';
import type { FrameQueue } from './sessions/frame-queue.ts';
import { listSessions } from './sessions/list-sessions.ts';
import { loadSession, loadUnknown } from './sessions/load-session.ts';
import { forkSession, newSession } from './sessions/open-session.ts';
import { recoverSession } from './sessions/recover-session.ts';
import { type Session, toNative, waitsForEnd } from './sessions/session.ts';
import { cancel, cancelSought } from './turns/cancel.ts';
import { close, ourCommand, prompt, remove } from './turns/prompt.ts';

type SessionStep = (hub: Hub, request: OpenRequest, session: Session, frame: Frame) => void;

/** What we do with requests on a session, besides passing them on. */
const SESSION_STEPS: Partial<Record<ClientMethod, SessionStep>> = {
  'session/prompt': prompt,
  'session/load': loadSession,
  'session/resume': loadSession,
  'session/fork': forkSession,
  'session/close': close,
  'session/delete': remove,
  'session/set_config_option': setConfigOption,
  'session/set_mode': setTheOldWay,
  'session/set_model': setTheOldWay,
};

/** Those a policy may refuse. */
const CHANGES: ReadonlySet<string> = new Set(['session/set_mode', 'session/set_config_option']);

/** What may be done with a session that is in a mode a policy refuses: it is left, or it comes back in another. */
const FOR_REFUSED_SESSIONS: ReadonlySet<string> = new Set(['session/load', 'session/resume', 'session/close', 'session/delete']);

/** Requests that mean all agents at once. */
const FOR_EVERYONE: Partial<Record<ClientMethod, (hub: Hub, request: OpenRequest, frame: Frame) => void>> = {
  'session/list': listSessions,
  logout: (hub, request, frame) => logout(hub, request, paramsText(frame)),
  'auth/status': (hub, request, frame) => authStatus(hub, request, paramsText(frame)),
};

/** A request or notification other than initialize. */
export function fromClient(hub: Hub, request: OpenRequest | undefined, frame: Frame): void {
  const method = frame.method as string;
  const route = routeFromClient({ method, kind: frame.kind, hasSession: frame.sessionId !== undefined }, hub.singleAgent !== undefined);
  switch (route.to) {
    case 'step':
      return step(hub, request, route, frame);
    case 'owner':
      return toOwner(hub, request, frame);
    case 'singleAgent':
      if (hub.singleAgent?.isIsolated && frame.sessionId) return toOwner(hub, request, frame);
      return isRefused(hub, request, undefined, frame) ? undefined : toOne(hub, hub.singleAgent as Agent, request, frame);
    case 'vendor': {
      const agent = vendorAgent(hub, route.vendor);
      return agent ? toOne(hub, agent, request, frame) : unroutable(hub, request, method);
    }
    case 'everyone':
      for (const agent of hub.agents.values()) if (agent.isStarted) agent.notify(frame, () => []);
      return;
    case 'nobody':
      return unroutable(hub, request, method);
  }
}

function toOwner(hub: Hub, request: OpenRequest | undefined, frame: Frame): void {
  onSession(hub, request, frame, (session, mine) => {
    if (!isRefused(hub, request, session, mine)) pass(hub, request, session, mine);
  });
}

/** A method of the protocol, by who receives it; the table in acp/methods.ts says who that is. */
function step(hub: Hub, request: OpenRequest | undefined, route: Extract<Route, { to: 'step' }>, frame: Frame): void {
  const { method, key, receiver } = route;
  switch (receiver) {
    case 'asker':
      return method === 'mcp/message' ? mcpProgress(hub, frame) : cancelRequest(hub, frame);
    case 'chosen':
      return request && newSession(hub, request, frame);
    case 'named':
      return request && authenticate(hub, request, frame);
    case 'every':
      return request && FOR_EVERYONE[method]?.(hub, request, frame);
    default: {
      if (hub.singleAgent && (key !== 'sessionId' || frame.sessionId === undefined))
        return isRefused(hub, request, undefined, frame) ? undefined : toOne(hub, hub.singleAgent, request, frame);
      if (method === 'session/cancel') {
        cancelSought(hub, sessionIdOf(frame));
        return onSession(hub, undefined, frame, (session, mine) => cancel(hub, session, mine));
      }
      const take = SESSION_STEPS[method];
      return onSession(hub, request, frame, (session, mine) => {
        if (isRefused(hub, request, session, mine)) return;
        if (take && request) take(hub, request, session, mine);
        else pass(hub, request, session, mine);
      });
    }
  }
}

/** By a policy, and then it is answered. One that is sent as a notification is no less a change: an agent may look at the method alone. */
function isRefused(hub: Hub, request: OpenRequest | undefined, session: Session | undefined, frame: Frame): boolean {
  if (!hub.enforcement) return false;
  const method = frame.method as string;
  const inMode = FOR_REFUSED_SESSIONS.has(method) ? undefined : refusedMode(hub, session, frame);
  const error = inMode ?? (CHANGES.has(method) ? hub.enforcement.refusesChange(hub, method, session, frame) : undefined);
  if (error && request) hub.client.fail(request, error);
  else if (error) hub.counters.refusedFromClient++;
  return error !== undefined;
}

/** Why nobody may go on with the session that a frame names. */
function refusedMode(hub: Hub, session: Session | undefined, frame: Frame): ProxyError | undefined {
  const refused = (session?.agent ?? hub.singleAgent)?.refused;
  return refused && refused.size > 0 ? refused.get(session?.nativeId ?? sessionIdOf(frame) ?? '') : undefined;
}

const paramsText = (frame: Frame): string => (frame.body ? textOf(frame.bytes, frame.body) : '{}');

/** Finds the session a frame names and takes its turn in that session's lane. */
function onSession(hub: Hub, request: OpenRequest | undefined, frame: Frame, then: (session: Session, frame: Frame) => void): void {
  const sessionId = sessionIdOf(frame);
  const method = frame.method as string;
  const refuse = (error: ProxyError) => void (request ? hub.client.fail(request, error) : hub.counters.refusedFromClient++);
  if (sessionId === undefined) return refuse(failure('PARAMS', [method, 'sessionId is missing']));
  const known = knownSession(hub, sessionId);
  if (known instanceof ProxyError) return refuse(known);
  if (known) return behindEnd(hub, known, request, frame, then);
  if (!request) return refuse(failure('SESSION_UNKNOWN', [sessionId], { sessionId }));
  if (method === 'session/load' || method === 'session/resume') return loadUnknown(hub, request, sessionId, frame);
  const kept = detach(frame);
  request.sought = sessionId;
  probe(hub, sessionId, ({ owner }) => {
    request.sought = undefined;
    if (request.isAnswered) return; // taken back meanwhile
    if (owner instanceof ProxyError) refuse(owner);
    else if (owner) behindEnd(hub, owner, request, kept, then);
    else refuse(failure('SESSION_UNKNOWN', [sessionId], { sessionId }));
  });
}

/** Behind the close or delete of a session, it may be another's by the time of the answer; only a cancel still speaks of what was before. */
function behindEnd(
  hub: Hub,
  session: Session,
  request: OpenRequest | undefined,
  frame: Frame,
  then: (session: Session, frame: Frame) => void,
): void {
  if (!session.afterEnd.isHeld || frame.method === 'session/cancel') return inQueue(hub, session, request, frame, then);
  const kept = detach(frame);
  wait(hub, session.afterEnd, session, request, kept, () => fromClient(hub, request, kept));
}

/** In a lane there is room for as much as for any agent that does not read. */
function wait(hub: Hub, queue: FrameQueue, { agent }: Session, request: OpenRequest | undefined, frame: Frame, run: () => void): void {
  const bytes = frame.end - frame.start;
  if (queue.bytes + bytes <= hub.maxQueueBytes)
    return queue.wait({ request, run: contained(hub, request, frame.method as string, run), bytes });
  if (!request) hub.counters.unsaid++;
  else hub.client.fail(request, failure('SESSION_BACKLOG', [agent.name, hub.maxQueueBytes], { agent: agent.name }));
}

/** These do not wait for their turn: what they end is what the others wait for. */
const AT_ONCE = new Set(['session/cancel', 'session/close', 'session/delete']);
/** These open or end a session themselves, so one that was lost need not be brought back for them, and one that is a record may be read again. */
const FOR_LOST_SESSIONS = new Set(['session/load', 'session/resume']);

function inQueue(
  hub: Hub,
  session: Session,
  request: OpenRequest | undefined,
  frame: Frame,
  then: (session: Session, frame: Frame) => void,
): void {
  const { toAgent } = session;
  if (request) request.session = session;
  session.isDiscovered = false; // the editor knows it, whoever spoke of it first
  release(hub, session.agent, session.nativeId);
  if (AT_ONCE.has(frame.method as string)) return then(session, frame);
  if (session.isRecord && !FOR_LOST_SESSIONS.has(frame.method as string)) return onRecord(hub, session, request);
  const mustReturn = session.isLost && request !== undefined && !FOR_LOST_SESSIONS.has(request.method) && !isOurs(hub, session, frame);
  if (!toAgent.isHeld && !mustReturn) return then(session, frame);
  const kept = detach(frame);
  const inTurn = () => {
    if (!isTracked(hub, session)) return fromClient(hub, request, kept);
    if (!waitsForEnd(session, { request, run: contained(hub, request, frame.method as string, inTurn), bytes: kept.end - kept.start }))
      inQueue(hub, session, request, kept, then);
  };
  if (toAgent.isHeld) return wait(hub, toAgent, session, request, kept, inTurn);
  // In the lane like any other, so that a cancel finds it there; before those that came after it.
  let lost: ProxyError | undefined;
  toAgent.hold(request);
  const back = () => (lost ? hub.client.fail(request as OpenRequest, lost) : inTurn());
  toAgent.waitFirst({ request, run: contained(hub, request, frame.method as string, back) });
  recoverSession(hub, session, (error) => {
    lost = error;
    toAgent.release();
  });
}

/** Never a fresh session in disguise: the agent would take up what it has not heard of as if it were new. */
function onRecord(hub: Hub, { publicId: sessionId, agent }: Session, request: OpenRequest | undefined): void {
  if (!request) hub.counters.refusedFromClient++;
  else hub.client.fail(request, failure('SESSION_RECORD', [sessionId, agent.name, request.method], { sessionId, agent: agent.name }));
}

/** Whoever leaves a dead agent, or asks which one it is, need not have it started again first. */
function isOurs(hub: Hub, session: Session, frame: Frame): boolean {
  if (frame.method === 'session/prompt') return ourCommand(hub, session, frame) !== undefined;
  if (frame.method !== 'session/set_config_option' || session.isStarted) return false;
  return isAgentOption(session.options, stringAt(frame.bytes, memberAt(frame.bytes, frame.body, 'configId')));
}

/** A request or a notification of a session, as it is. */
function pass(hub: Hub, request: OpenRequest | undefined, session: Session, frame: Frame): void {
  if (request) forward(hub, request, session, frame);
  else session.agent.notify(frame, toNative(session));
}

/** To one agent, without a session in between. */
function toOne(hub: Hub, agent: Agent, request: OpenRequest | undefined, frame: Frame): void {
  if (!request) return agent.notify(frame, () => []);
  agent.forward(frame, {
    method: request.method,
    request,
    patches: () => [],
    onAnswer: (answer) => hub.client.pass(request, answer),
    onFail: (error) => hub.client.fail(request, error),
  });
}

function vendorAgent(hub: Hub, vendor: string | undefined): Agent | undefined {
  const announced = vendor === undefined ? [] : agentsWithVendor(answeredAgents(hub), vendor);
  const { defaultAgent } = hub.choice;
  const name = announced.includes(defaultAgent) ? defaultAgent : (announced[0] ?? (hub.hasExplicitDefault ? defaultAgent : undefined));
  return name === undefined ? undefined : hub.agents.get(name);
}

function unroutable(hub: Hub, request: OpenRequest | undefined, method: string): void {
  if (request) hub.client.fail(request, failure('METHOD_UNROUTABLE', [method], { method }));
  else hub.counters.refusedFromClient++;
}

/** The editor takes a request back: the agent knows it by another id, and still answers it. What has not left yet is answered here. */
function cancelRequest(hub: Hub, frame: Frame): void {
  const span = memberAt(frame.bytes, frame.body, 'requestId');
  const request = span && hub.client.find(textOf(frame.bytes, span));
  if (!request) {
    hub.counters.strayAnswers++;
    return;
  }
  const { at } = request;
  // Nor is an agent told, or even started to be told, that has answered already: another one is being asked instead.
  if (at?.agent.findCall(at.id)?.request !== request) return hub.client.fail(request, failure('CANCELLED', [request.method]));
  at.agent.notify(frame, (mine) => [{ span: memberAt(mine.bytes, mine.body, 'requestId') as never, text: at.id }]);
}
