// Frames from the client: each goes to a step here, to the agent that owns its session, or is refused with a reason.
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
import type { AgentSide, ClientRequest } from './boundary.ts';
import { answeredAgents, initialize } from './initialize.ts';
import type { Parts, ProxyParts } from './parts.ts';
import { mcpProgress } from './requests/mcp-message.ts';
import { forward, toNative } from './rewrite.ts';
import { setConfigOption, setTheOldWay } from './sessions/change-agent.ts';
import { close, remove } from './sessions/close-session.ts';
import { probe } from './sessions/find-session.ts';
import { contained, type FrameQueue } from './sessions/frame-queue.ts';
import { listSessions } from './sessions/list-sessions.ts';
import { loadSession, loadUnknown } from './sessions/load-session.ts';
import { forkSession, newSession } from './sessions/open-session.ts';
import { releaseEarly } from './sessions/opening.ts';
import { recoverSession } from './sessions/recover-session.ts';
import { type Session, waitsForEnd } from './sessions/session.ts';
import { namedByClient } from './sessions/session-state.ts';
import { cancel, cancelSought } from './turns/cancel.ts';
import { ourCommand, prompt } from './turns/prompt.ts';

type SessionStep = (proxy: ProxyParts, request: ClientRequest, session: Session, frame: Frame) => void;

/** Session requests that need more than forwarding. */
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

/** Requests that a policy may refuse. */
const CHANGES: ReadonlySet<string> = new Set(['session/set_mode', 'session/set_config_option']);

/** Requests allowed on a session whose mode the policy refuses: it can be closed, or loaded in another mode. */
const FOR_REFUSED_SESSIONS: ReadonlySet<string> = new Set(['session/load', 'session/resume', 'session/close', 'session/delete']);

/** Requests for all agents. */
const FOR_EVERYONE: Partial<Record<ClientMethod, (proxy: ProxyParts, request: ClientRequest, frame: Frame) => void>> = {
  'session/list': listSessions,
  logout: (proxy, request, frame) => logout(proxy, request, paramsText(frame)),
  'auth/status': (proxy, request, frame) => authStatus(proxy, request, paramsText(frame)),
};

/** What a client connection reaches. The parts are complete by its first frame. */
export function createAgentSide(parts: () => ProxyParts): AgentSide {
  return {
    isClosed: () => parts().pool.isClosed,
    initialize: (request, frame, answered) => initialize(parts(), request, frame, answered),
    receive: (request, frame) => fromClient(parts(), request, frame),
    settled: (request) => void request.session?.turns.delete(request),
    answered: (answer) => parts().requests.answered(answer),
    unusable: (key, error) => parts().requests.unusable(key, error),
    pause: () => parts().pool.pause(),
    resume: () => parts().pool.resume(),
  };
}

/** A request or notification other than initialize. */
export function fromClient(proxy: ProxyParts, request: ClientRequest | undefined, frame: Frame): void {
  const method = frame.method as string;
  const route = routeFromClient({ method, kind: frame.kind, hasSession: frame.sessionId !== undefined }, proxy.pool.single !== undefined);
  switch (route.to) {
    case 'step':
      return step(proxy, request, route, frame);
    case 'owner':
      return toOwner(proxy, request, frame);
    case 'singleAgent':
      if (frame.sessionId && (proxy.pool.single?.isIsolated || (!request && isOfLost(proxy, frame)))) return toOwner(proxy, request, frame);
      return isRefused(proxy, request, undefined, frame) ? undefined : toOne(proxy, proxy.pool.single as Agent, request, frame);
    case 'vendor': {
      const agent = vendorAgent(proxy, route.vendor);
      return agent ? toOne(proxy, agent, request, frame) : unroutable(proxy, request, method);
    }
    case 'everyone':
      for (const agent of proxy.pool.all()) if (agent.isStarted) agent.notify(frame, () => []);
      return;
    case 'nobody':
      return unroutable(proxy, request, method);
  }
}

const isOfLost = ({ registry }: Parts<'registry'>, frame: Frame): boolean => registry.get(sessionIdOf(frame) ?? '')?.isLost === true;

function toOwner(proxy: ProxyParts, request: ClientRequest | undefined, frame: Frame): void {
  onSession(proxy, request, frame, (session, mine) => {
    if (!isRefused(proxy, request, session, mine)) pass(proxy, request, session, mine);
  });
}

/** A method of the protocol, by who receives it; the table in acp/methods.ts says who that is. */
function step(proxy: ProxyParts, request: ClientRequest | undefined, route: Extract<Route, { to: 'step' }>, frame: Frame): void {
  const { method, key, receiver } = route;
  switch (receiver) {
    case 'requester':
      return method === 'mcp/message' ? mcpProgress(proxy, frame) : cancelRequest(proxy, frame);
    case 'chosen':
      return request && newSession(proxy, request, frame);
    case 'named':
      return request && authenticate(proxy, request, frame);
    case 'every':
      return request && FOR_EVERYONE[method]?.(proxy, request, frame);
    default: {
      if (proxy.pool.single && (key !== 'sessionId' || frame.sessionId === undefined))
        return isRefused(proxy, request, undefined, frame) ? undefined : toOne(proxy, proxy.pool.single, request, frame);
      if (method === 'session/cancel') {
        cancelSought(proxy, sessionIdOf(frame));
        return onSession(proxy, undefined, frame, (session, mine) => cancel(proxy, session, mine));
      }
      const take = SESSION_STEPS[method];
      return onSession(proxy, request, frame, (session, mine) => {
        if (isRefused(proxy, request, session, mine)) return;
        if (take && request) take(proxy, request, session, mine);
        else pass(proxy, request, session, mine);
      });
    }
  }
}

/**
 * The policy refuses the change, and the request is answered. A change sent as a notification is refused too: an agent may only read the
 * method.
 */
function isRefused(
  proxy: Parts<'context' | 'pool' | 'client'>,
  request: ClientRequest | undefined,
  session: Session | undefined,
  frame: Frame,
): boolean {
  if (!proxy.context.enforcement) return false;
  const method = frame.method as string;
  const inMode = FOR_REFUSED_SESSIONS.has(method) ? undefined : refusedMode(proxy, session, frame);
  const error = inMode ?? (CHANGES.has(method) ? proxy.context.enforcement.refusesChange(method, session, frame) : undefined);
  if (error && request) proxy.client.fail(request, error);
  else if (error) proxy.context.counters.refusedFromClient++;
  return error !== undefined;
}

/** Why the session that a frame names may not continue. */
function refusedMode(proxy: Parts<'pool'>, session: Session | undefined, frame: Frame): ProxyError | undefined {
  const refused = (session?.agent ?? proxy.pool.single)?.refused;
  return refused && refused.size > 0 ? refused.get(session?.nativeId ?? sessionIdOf(frame) ?? '') : undefined;
}

const paramsText = (frame: Frame): string => (frame.body ? textOf(frame.bytes, frame.body) : '{}');

/** Finds the session that a frame names and queues the frame there if it must wait. */
function onSession(
  proxy: ProxyParts,
  request: ClientRequest | undefined,
  frame: Frame,
  then: (session: Session, frame: Frame) => void,
): void {
  const sessionId = sessionIdOf(frame);
  const method = frame.method as string;
  const refuse = (error: ProxyError) => void (request ? proxy.client.fail(request, error) : proxy.context.counters.refusedFromClient++);
  if (sessionId === undefined) return refuse(failure('PARAMS', [method, 'sessionId is missing']));
  const known = proxy.registry.find(sessionId);
  if (known instanceof ProxyError) return refuse(known);
  if (known) return behindEnd(proxy, known, request, frame, then);
  if (!request) return refuse(failure('SESSION_UNKNOWN', [sessionId], { sessionId }));
  if (method === 'session/load' || method === 'session/resume') return loadUnknown(proxy, request, sessionId, frame);
  const kept = detach(frame);
  request.sought = sessionId;
  probe(proxy, sessionId, request, ({ owner }) => {
    request.sought = undefined;
    if (request.isAnswered) return; // withdrawn meanwhile
    if (owner instanceof ProxyError) refuse(owner);
    else if (owner) behindEnd(proxy, owner, request, kept, then);
    else refuse(failure('SESSION_UNKNOWN', [sessionId], { sessionId }));
  });
}

/** Frames behind a close or delete wait, since the id may be another session's by then. A cancel always means the session before. */
function behindEnd(
  proxy: ProxyParts,
  session: Session,
  request: ClientRequest | undefined,
  frame: Frame,
  then: (session: Session, frame: Frame) => void,
): void {
  if (!session.afterEnd.isHeld || frame.method === 'session/cancel') return inQueue(proxy, session, request, frame, then);
  const kept = detach(frame);
  wait(proxy, session.afterEnd, session, request, kept, () => fromClient(proxy, request, kept));
}

/** A queue has the same limit as an agent that does not read. */
function wait(
  proxy: Parts<'context' | 'client'>,
  queue: FrameQueue,
  { agent }: Session,
  request: ClientRequest | undefined,
  frame: Frame,
  run: () => void,
): void {
  const bytes = frame.end - frame.start;
  if (queue.bytes + bytes <= proxy.context.maxQueueBytes)
    return queue.wait({ request, run: contained(proxy.client, request, frame.method as string, run), bytes });
  if (!request) proxy.context.counters.unsentToAgents++;
  else proxy.client.fail(request, failure('SESSION_BACKLOG', [agent.name, proxy.context.maxQueueBytes], { agent: agent.name }));
}

/** These never wait: they end the work that the others wait for. */
const AT_ONCE = new Set(['session/cancel', 'session/close', 'session/delete']);
/** These open the session themselves, so a lost session is not recovered for them, and a transcript may be read again. */
const FOR_LOST_SESSIONS = new Set(['session/load', 'session/resume']);

function inQueue(
  proxy: ProxyParts,
  session: Session,
  request: ClientRequest | undefined,
  frame: Frame,
  then: (session: Session, frame: Frame) => void,
): void {
  const { toAgent } = session;
  if (request) request.session = session;
  if (session.isDiscovered) session.advance(namedByClient);
  if (session.agent.early.size > 0) releaseEarly(proxy, session.agent, session.nativeId);
  if (AT_ONCE.has(frame.method as string)) return then(session, frame);
  if (session.isTranscript && !FOR_LOST_SESSIONS.has(frame.method as string)) return onRecord(proxy, session, request);
  const mustReturn = session.isLost && request !== undefined && !FOR_LOST_SESSIONS.has(request.method) && !isOurs(proxy, session, frame);
  // Its agent does not have the session, and is not started to hear about it.
  if (session.isLost && !request && !toAgent.isHeld) return void proxy.context.counters.unsentToAgents++;
  if (!toAgent.isHeld && !mustReturn) return then(session, frame);
  const kept = detach(frame);
  const inTurn = () => {
    if (session.isClosed) return fromClient(proxy, request, kept);
    if (
      !waitsForEnd(session, {
        request,
        run: contained(proxy.client, request, frame.method as string, inTurn),
        bytes: kept.end - kept.start,
      })
    )
      inQueue(proxy, session, request, kept, then);
  };
  if (toAgent.isHeld) return wait(proxy, toAgent, session, request, kept, inTurn);
  // It waits in the queue like any other, so that a cancel finds it there, and ahead of later frames.
  let lost: ProxyError | undefined;
  toAgent.hold(request);
  const back = () => (lost ? proxy.client.fail(request as ClientRequest, lost) : inTurn());
  toAgent.waitFirst({ request, run: contained(proxy.client, request, frame.method as string, back) });
  recoverSession(proxy, session, (error) => {
    lost = error;
    toAgent.release();
  });
}

/** The agent does not know the session and would start a new one under its id. */
function onRecord(proxy: Parts<'context' | 'client'>, { publicId: sessionId, agent }: Session, request: ClientRequest | undefined): void {
  if (!request) proxy.context.counters.refusedFromClient++;
  else proxy.client.fail(request, failure('SESSION_RECORD', [sessionId, agent.name, request.method], { sessionId, agent: agent.name }));
}

/** A change of agent, or the question which agent it is, does not need the dead agent. */
function isOurs(proxy: Parts<'pool'>, session: Session, frame: Frame): boolean {
  if (frame.method === 'session/prompt') return ourCommand(proxy, session, frame) !== undefined;
  if (frame.method !== 'session/set_config_option' || session.agentLocked) return false;
  return isAgentOption(session.options.agent, stringAt(frame.bytes, memberAt(frame.bytes, frame.body, 'configId')));
}

/** Forwards a request or notification unchanged. */
function pass(proxy: Parts<'pool' | 'client'>, request: ClientRequest | undefined, session: Session, frame: Frame): void {
  if (request) forward(proxy, request, session, frame);
  else session.agent.notify(frame, toNative(session));
}

/** To one agent, without a session in between. */
function toOne(proxy: Parts<'client'>, agent: Agent, request: ClientRequest | undefined, frame: Frame): void {
  if (!request) return agent.notify(frame, () => []);
  agent.forward(frame, {
    method: request.method,
    request,
    patches: () => [],
    onAnswer: (answer) => proxy.client.pass(request, answer),
    onFail: (error) => proxy.client.fail(request, error),
  });
}

function vendorAgent(proxy: Parts<'pool' | 'tools'>, vendor: string | undefined): Agent | undefined {
  const announced = vendor === undefined ? [] : agentsWithVendor(answeredAgents(proxy), vendor);
  const { defaultAgent } = proxy.pool.choice;
  const name = announced.includes(defaultAgent)
    ? defaultAgent
    : (announced[0] ?? (proxy.pool.hasExplicitDefault ? defaultAgent : undefined));
  return name === undefined ? undefined : proxy.pool.get(name);
}

function unroutable(proxy: Parts<'context' | 'client'>, request: ClientRequest | undefined, method: string): void {
  if (request) proxy.client.fail(request, failure('METHOD_UNROUTABLE', [method], { method }));
  else proxy.context.counters.refusedFromClient++;
}

/**
 * The client withdraws a request. The agent knows it by another id and still answers it. A request that was not sent yet is answered here.
 */
function cancelRequest(proxy: Parts<'context' | 'client'>, frame: Frame): void {
  const span = memberAt(frame.bytes, frame.body, 'requestId');
  const request = span && proxy.client.find(textOf(frame.bytes, span));
  if (!request) {
    proxy.context.counters.strayAnswers++;
    return;
  }
  const { at } = request;
  // An agent that has already answered is not notified, nor started for it: another agent has the request now.
  if (at?.agent.findCall(at.id)?.request !== request) return proxy.client.fail(request, failure('CANCELLED', [request.method]));
  at.agent.notify(frame, (mine) => [{ span: memberAt(mine.bytes, mine.body, 'requestId') as never, text: at.id }]);
}
