// How a frame from the client enters its session: the session is found, and its state lets the frame pass, wait, recover it first, or refuses it.
import { failure, ProxyError } from '../errors.ts';
import { isAgentOption } from '../router/config-options.ts';
import { detach, type Frame } from '../wire/frame.ts';
import { memberAt, stringAt } from '../wire/json-path.ts';
import { sessionIdOf } from '../wire/scanner/large-frame.ts';
import type { ClientRequest } from './boundary.ts';
import type { Parts, ProxyParts } from './parts.ts';
import { releaseEarly } from './sessions/early-frames.ts';
import { findOwner } from './sessions/find-session.ts';
import { catchingBugs, type Step } from './sessions/frame-queue.ts';
import { loadUnknown } from './sessions/load-session.ts';
import { recoverSession } from './sessions/recover-session.ts';
import type { Session } from './sessions/session.ts';
import { admit, namedByClient, overtakes } from './sessions/session-state.ts';
import { ourCommand } from './turns/prompt.ts';
import { renewCovers } from './turns/renew-covers.ts';

/** The session admits the frame. */
export type Deliver = (session: Session, frame: Frame) => void;
/** The session has ended, and its id may be another's. */
type Reroute = (proxy: ProxyParts, request: ClientRequest | undefined, frame: Frame) => void;

/** A frame on its way into a session. */
type Arrival = {
  readonly request: ClientRequest | undefined;
  readonly frame: Frame;
  readonly deliver: Deliver;
  readonly reroute: Reroute;
  /** It came after a close or delete that is under way. */
  readonly isAfterEnd: boolean;
};

/** Finds the session that a frame names and queues the frame there if it must wait. */
export function enterSession(
  proxy: ProxyParts,
  request: ClientRequest | undefined,
  frame: Frame,
  deliver: Deliver,
  reroute: Reroute,
): void {
  const sessionId = sessionIdOf(frame);
  const method = frame.method as string;
  const refuse = (error: ProxyError) => void (request ? proxy.client.fail(request, error) : proxy.context.counters.refusedFromClient++);
  if (sessionId === undefined) return refuse(failure('PARAMS', [method, 'sessionId is missing']));
  const known = proxy.registry.find(sessionId);
  if (known instanceof ProxyError) return refuse(known);
  if (known) return arrive(proxy, known, { request, frame, deliver, reroute, isAfterEnd: known.isClosing });
  if (!request) return refuse(failure('SESSION_UNKNOWN', [sessionId], { sessionId }));
  // The lookup began before the client could close the session.
  const found = (session: Session, kept: Frame) => arrive(proxy, session, { request, frame: kept, deliver, reroute, isAfterEnd: false });
  if (method === 'session/load' || method === 'session/resume') return loadUnknown(proxy, request, sessionId, frame, found);
  const kept = detach(frame);
  request.soughtSessionId = sessionId;
  findOwner(proxy, sessionId, request, ({ owner }) => {
    request.soughtSessionId = undefined;
    if (request.isAnswered) return; // withdrawn meanwhile
    if (owner instanceof ProxyError) refuse(owner);
    else if (owner) found(owner, kept);
    else refuse(failure('SESSION_UNKNOWN', [sessionId], { sessionId }));
  });
}

/** A frame waits behind those that came before it, unless it overtakes them. */
function arrive(proxy: ProxyParts, session: Session, arrival: Arrival): void {
  if (session.hasWaiting && !overtakes(arrival.frame.method as string)) wait(proxy, session, arrival);
  else enter(proxy, session, arrival);
}

/** A prompt has waited for a turn: it came before all frames that wait now, and before an operation that is under way. */
export function enterFirst(proxy: ProxyParts, session: Session, arrival: Arrival): void {
  if (admit(session.state, 'session/prompt', true) === 'wait') session.waiting.waitFirst(stepOf(proxy, session, arrival));
  else enter(proxy, session, arrival);
}

/** The state of the session decides what becomes of the frame. */
function enter(proxy: ProxyParts, session: Session, arrival: Arrival): void {
  const { request, frame, deliver } = arrival;
  if (session.agent.isContained && frame.method === 'session/prompt' && session.turns.size === 0) renewCovers(proxy, session, false);
  const admission = admit(session.state, frame.method as string, request !== undefined);
  if (admission === 'reroute') return arrival.reroute(proxy, request, frame);
  if (request) request.session = session;
  if (session.isDiscovered) session.advance(namedByClient);
  // An open session has none.
  if (session.state.kind !== 'open' && session.agent.sessions.hasEarly) releaseEarly(proxy, session.agent, session.nativeId);
  switch (admission) {
    case 'pass':
      return deliver(session, frame);
    case 'wait':
      return wait(proxy, session, arrival);
    case 'recover':
      return needsNoAgent(proxy, session, frame)
        ? deliver(session, frame)
        : recoverFirst(proxy, session, request as ClientRequest, arrival);
    case 'drop':
      return void proxy.context.counters.unsentToAgents++;
    case 'refuse':
      return refuseTranscript(proxy, session, request);
  }
}

/** A session's queue has the limit of an agent's queue. */
function wait(proxy: ProxyParts, session: Session, arrival: Arrival): void {
  const { request, isAfterEnd } = arrival;
  const step = stepOf(proxy, session, arrival);
  const { maxQueueBytes, counters } = proxy.context;
  const { name } = session.agent;
  if (session.waiting.bytes + step.bytes <= maxQueueBytes) session.waiting.wait(step, isAfterEnd);
  else if (!request) counters.unsentToAgents++;
  else proxy.client.fail(request, failure('SESSION_BACKLOG', [name, maxQueueBytes], { agent: name }));
}

/** The request waits like any other, so that a cancel finds it, and ahead of later frames. */
function recoverFirst(proxy: ProxyParts, session: Session, request: ClientRequest, arrival: Arrival): void {
  const step = stepOf(proxy, session, arrival);
  session.waiting.waitFirst(step);
  recoverSession(proxy, session, (error) => {
    if (error && session.waiting.remove(step)) proxy.client.fail(request, error);
    session.resume();
  });
}

function stepOf(proxy: ProxyParts, session: Session, arrival: Arrival): Step {
  const { request } = arrival;
  const frame = detach(arrival.frame);
  const method = frame.method as string;
  const run = catchingBugs(proxy.client, request, method, () => enter(proxy, session, { ...arrival, frame }));
  return { method, request, run, bytes: frame.end - frame.start };
}

/** The agent does not know the session and would start a new one under its id. */
function refuseTranscript(
  proxy: Parts<'context' | 'client'>,
  { publicId: sessionId, agent }: Session,
  request: ClientRequest | undefined,
): void {
  if (!request) proxy.context.counters.refusedFromClient++;
  else proxy.client.fail(request, failure('SESSION_RECORD', [sessionId, agent.name, request.method], { sessionId, agent: agent.name }));
}

/** The proxy answers it without the dead agent: it changes the agent, or asks which one it is. */
function needsNoAgent(proxy: Parts<'pool'>, session: Session, frame: Frame): boolean {
  if (frame.method === 'session/prompt') return ourCommand(proxy, session, frame) !== undefined;
  if (frame.method !== 'session/set_config_option' || session.agentLocked) return false;
  return isAgentOption(session.options.agent, stringAt(frame.bytes, memberAt(frame.bytes, frame.body, 'configId')));
}
