// Where a frame from the client goes: to a step here, to the agent that owns its session, or it is refused with a reason.
import type { ClientMethod } from '../acp/methods.ts';
import { failure, type ProxyError } from '../errors.ts';
import { agentsWithVendor } from '../router/capabilities.ts';
import { type Route, routeFromClient } from '../router/route.ts';
import { type Frame, textOf } from '../wire/frame.ts';
import { memberAt } from '../wire/json-path.ts';
import { sessionIdOf } from '../wire/scanner/large-frame.ts';
import type { Agent } from './agents/agent.ts';
import { authenticate } from './agents/authentication.ts';
import { authStatus, logout } from './agents/fan-out.ts';
import type { AgentSide, ClientRequest } from './boundary.ts';
import { outOfScope } from './client-scope.ts';
import { type Deliver, enterFirst, enterSession } from './enter-session.ts';
import { initialize, usableAgents } from './initialize.ts';
import { hasNonObjectParams, paramsMustBeObject } from './params.ts';
import type { Parts, ProxyParts } from './parts.ts';
import { mcpProgress } from './requests/mcp-message.ts';
import { errorPatches, forward, toNative } from './rewrite.ts';
import { setConfigOption, setModeOrModel } from './sessions/change-agent.ts';
import { closeSession, deleteSession } from './sessions/close-session.ts';
import { listPatches, listSessions } from './sessions/list-sessions.ts';
import { loadSession } from './sessions/load-session.ts';
import { forkSession, newSession } from './sessions/open-session.ts';
import type { Session } from './sessions/session.ts';
import { cancel, cancelDuringLookup } from './turns/cancel.ts';
import { ourCommand, prompt } from './turns/prompt.ts';
import { holdPrompt, startNext } from './turns/prompt-queue.ts';

type SessionStep = (proxy: ProxyParts, request: ClientRequest, session: Session, frame: Frame) => void;

/** Session requests that need more than forwarding. */
const SESSION_STEPS: Partial<Record<ClientMethod, SessionStep>> = {
  'session/prompt': prompt,
  'session/load': loadSession,
  'session/resume': loadSession,
  'session/fork': forkSession,
  'session/close': closeSession,
  'session/delete': deleteSession,
  'session/set_config_option': setConfigOption,
  'session/set_mode': setModeOrModel,
  'session/set_model': setModeOrModel,
};

/** Requests that a policy may refuse. */
const CHANGES: ReadonlySet<string> = new Set(['session/set_mode', 'session/set_config_option']);

/** Requests allowed on a session whose mode the policy refuses: it can be closed, or loaded in another mode. */
const FOR_REFUSED_SESSIONS: ReadonlySet<string> = new Set(['session/load', 'session/resume', 'session/close', 'session/delete']);

/** Requests for all agents. */
const FOR_EVERYONE: Partial<
  Record<ClientMethod, (proxy: Parts<'context' | 'pool' | 'registry' | 'client'>, request: ClientRequest, frame: Frame) => void>
> = {
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
    answerSent: ({ session }) => {
      if (session?.queued) startNext(parts(), session);
    },
    answered: (answer) => parts().requests.answered(answer),
    unusable: (key, error) => parts().requests.unusable(key, error),
    pause: () => parts().pool.pause(),
    resume: () => parts().pool.resume(),
  };
}

/** A request or notification other than initialize. */
export function fromClient(proxy: ProxyParts, request: ClientRequest | undefined, frame: Frame): void {
  const method = frame.method as string;
  const { scope } = proxy.context;
  const refusal = scope && outOfScope(proxy, scope, frame);
  if (refusal) return request ? proxy.client.fail(request, refusal) : void proxy.context.counters.refusedFromClient++;
  // An agent would list the sessions of everybody.
  if (scope && request && method === 'session/list') return listSessions(proxy, request, frame);
  const route = routeFromClient({ method, kind: frame.kind, hasSession: frame.sessionId !== undefined }, proxy.pool.single !== undefined);
  switch (route.to) {
    case 'step':
      return step(proxy, request, route, frame);
    case 'owner':
      return toOwner(proxy, request, frame);
    case 'singleAgent':
      if (frame.sessionId && (proxy.pool.single?.isIsolated || (!request && isForLostSession(proxy, frame))))
        return toOwner(proxy, request, frame);
      return isRefused(proxy, request, undefined, frame) ? undefined : toAgent(proxy, proxy.pool.single as Agent, request, frame);
    case 'vendor': {
      const agent = vendorAgent(proxy, route.vendor);
      return agent ? toAgent(proxy, agent, request, frame) : unroutable(proxy, request, method);
    }
    case 'everyone':
      for (const agent of proxy.pool.all()) if (agent.isStarted) agent.notify(frame, () => []);
      return;
    case 'nobody':
      return unroutable(proxy, request, method);
  }
}

const isForLostSession = ({ registry }: Parts<'registry'>, frame: Frame): boolean =>
  registry.get(sessionIdOf(frame) ?? '')?.isLost === true;

function toOwner(proxy: ProxyParts, request: ClientRequest | undefined, frame: Frame): void {
  const deliver = (session: Session, admitted: Frame): void => {
    if (!isRefused(proxy, request, session, admitted)) pass(proxy, request, session, admitted);
  };
  enterSession(proxy, request, frame, deliver, fromClient);
}

/** A single agent decides about the params of all methods that concern no session. */
const isActedOn = ({ pool }: Parts<'pool'>, { key, receiver }: Extract<Route, { to: 'step' }>): boolean =>
  !pool.single || receiver === 'chosen' || key === 'sessionId';

/** A method of the protocol, by who receives it; the table in acp/methods.ts says who that is. */
function step(proxy: ProxyParts, request: ClientRequest | undefined, route: Extract<Route, { to: 'step' }>, frame: Frame): void {
  const { method, key, receiver } = route;
  // Only then can the params be anything but an object.
  if (request && frame.sessionId === undefined && isActedOn(proxy, route) && hasNonObjectParams(frame))
    return proxy.client.fail(request, paramsMustBeObject(method));
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
        return isRefused(proxy, request, undefined, frame) ? undefined : toAgent(proxy, proxy.pool.single, request, frame);
      if (method === 'session/cancel') {
        cancelDuringLookup(proxy, sessionIdOf(frame), frame);
        return enterSession(proxy, undefined, frame, (session, admitted) => cancel(proxy, session, admitted), fromClient);
      }
      const handle = SESSION_STEPS[method];
      const deliver = (session: Session, admitted: Frame): void => {
        const proceed = (confirmed: Frame) => {
          if (isRefused(proxy, request, session, confirmed)) return;
          if (request && method === 'session/prompt' && isHeld(proxy, request, session, confirmed, deliver)) return;
          if (handle && request) handle(proxy, request, session, confirmed);
          else pass(proxy, request, session, confirmed);
        };
        if (!request || !CHANGES.has(method) || !isConfirmedFirst(proxy, request, session, admitted, proceed)) proceed(admitted);
      };
      return enterSession(proxy, request, frame, deliver, fromClient);
    }
  }
}

/** A turn of the session runs, and the prompt does not go to the agent now. Our own command is not a prompt for the agent. */
function isHeld(proxy: ProxyParts, request: ClientRequest, session: Session, frame: Frame, take: Deliver): boolean {
  if (session.turns.size === 0 && !session.queued) return false;
  if (ourCommand(proxy, session, frame)) return false;
  return holdPrompt(proxy, request, session, frame, (kept) =>
    enterFirst(proxy, session, { request, frame: kept, deliver: take, reroute: fromClient, isAfterEnd: false }),
  );
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

/** The user is asked about a change first. Frames after it pass: until then the agent asks as before. */
function isConfirmedFirst(
  proxy: Parts<'context' | 'client'>,
  request: ClientRequest,
  session: Session,
  frame: Frame,
  proceed: (frame: Frame) => void,
): boolean {
  const { enforcement } = proxy.context;
  if (!enforcement) return false;
  return enforcement.confirmsChange(request.method, session, frame, (kept, error) => {
    if (request.isAnswered) return; // withdrawn meanwhile
    if (error) proxy.client.fail(request, error);
    else if (session.isClosed) proxy.client.fail(request, failure('SESSION_UNKNOWN', [session.publicId], { sessionId: session.publicId }));
    else proceed(kept);
  });
}

/** Why the session that a frame names may not continue. */
function refusedMode(proxy: Parts<'pool'>, session: Session | undefined, frame: Frame): ProxyError | undefined {
  const sessions = (session?.agent ?? proxy.pool.single)?.sessions;
  return sessions?.hasRefused ? sessions.whyRefused(session?.nativeId ?? sessionIdOf(frame) ?? '') : undefined;
}

const paramsText = (frame: Frame): string => (frame.body ? textOf(frame.bytes, frame.body) : '{}');

/** Forwards a request or notification unchanged. */
function pass(proxy: Parts<'pool' | 'client'>, request: ClientRequest | undefined, session: Session, frame: Frame): void {
  if (request) forward(proxy, request, session, frame);
  else session.agent.notify(frame, toNative(session));
}

/** Passes a frame that concerns no session. */
function toAgent(
  proxy: Parts<'context' | 'pool' | 'registry' | 'client'>,
  agent: Agent,
  request: ClientRequest | undefined,
  frame: Frame,
): void {
  if (!request) return agent.notify(frame, () => []);
  agent.forward(frame, {
    method: request.method,
    request,
    patches: () => [],
    onAnswer: (answer) => {
      const ids = request.method === 'session/list' ? listPatches(proxy, agent, answer) : [];
      proxy.client.pass(request, answer, [...ids, ...errorPatches(proxy, agent, answer)]);
    },
    onFail: (error) => proxy.client.fail(request, error),
  });
}

function vendorAgent(proxy: Parts<'pool' | 'tools'>, vendor: string | undefined): Agent | undefined {
  const announced = vendor === undefined ? [] : agentsWithVendor(usableAgents(proxy), vendor);
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
  const { forwardedTo } = request;
  // An agent that has already answered is not notified, nor started for it: another agent has the request now.
  if (forwardedTo?.agent.findCall(forwardedTo.id)?.request !== request)
    return proxy.client.fail(request, failure('CANCELLED', [request.method]));
  const { agent, id } = forwardedTo;
  agent.notify(frame, (sent) => [{ span: memberAt(sent.bytes, sent.body, 'requestId') as never, text: id }]);
}
