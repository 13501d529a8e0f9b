// The end of a session: session/close and session/delete, a session that nobody wants, and sessions that are parked because their agent
// cannot close them. Parked sessions can be continued as long as the agent's process lives; their tools are suspended meanwhile.
import { failure, type ProxyError } from '../../errors.ts';
import { offers, reopenMethods } from '../../router/capabilities.ts';
import { detach, type Frame } from '../../wire/frame.ts';
import type { Agent } from '../agents/agent.ts';
import type { ClientRequest } from '../boundary.ts';
import type { Parts } from '../parts.ts';
import { passAnswer, toNative } from '../rewrite.ts';
import { CANCELLED } from '../turns/cancel.ts';
import type { Parked } from './native-sessions.ts';
import type { Session } from './session.ts';
import { beginClose, type Close, closeRefused, leftToLoad, mayClose, type Open, operationOf, restingOf } from './session-state.ts';

/** Cancels open requests, then closes the session. An agent without session/close gets a cancel instead. */
export function closeSession(
  proxy: Parts<'context' | 'pool' | 'registry' | 'client' | 'requests'>,
  request: ClientRequest,
  session: Session,
  frame: Frame,
): void {
  proxy.requests.cancel(session); // first: the agent may wait for one of them before it closes
  endAt(proxy, request, session, frame, {
    capability: 'close',
    over() {
      endSession(proxy, session);
      recordClose(proxy, session);
    },
    instead() {
      cancelAt(session);
      park(session);
    },
  });
}

/** An unprompted session is opened anew when its agent has lost it, but not after the client has closed it. */
function recordClose({ context }: Parts<'context'>, { recordId }: Session): void {
  const record = context.log.records().get(recordId);
  if (record?.isUnprompted) context.log.append({ ...record, isClosed: true });
}

const cancelAt = ({ agent, nativeId }: Session): void => agent.notifyLine('session/cancel', JSON.stringify({ sessionId: nativeId }));

/** For an agent that cannot delete, the session is hidden from lists, which ACP allows, and closed. */
export function deleteSession(
  proxy: Parts<'context' | 'pool' | 'registry' | 'client' | 'requests'>,
  request: ClientRequest,
  session: Session,
  frame: Frame,
): void {
  endAt(proxy, request, session, frame, {
    capability: 'delete',
    over() {
      endSession(proxy, session);
      const { agent, publicId, recordId, nativeId } = session;
      proxy.context.log.append({ sessionId: recordId, agent: agent.name, nativeId, at: proxy.context.clock.now(), isGone: true });
      proxy.context.transcripts?.forget(publicId);
    },
    instead() {
      const { agent, nativeId } = session;
      if (offers(agent.handshake?.result, 'sessionCapabilities', 'close')) closeAt(agent, nativeId, ['close']);
      else cancelAt(session);
    },
  });
}

type End = {
  readonly capability: 'close' | 'delete';
  readonly over: () => void;
  readonly instead: () => void;
};

function endAt(proxy: Parts<'pool' | 'registry' | 'client'>, request: ClientRequest, session: Session, frame: Frame, end: End): void {
  const { capability, over, instead } = end;
  const { agent } = session;
  const op: Close = { operation: 'close' };
  const change = operationOf(session.state, 'change');
  session.advance((state) => (mayClose(state) ? beginClose(state, op) : state));
  session.waiting.markEnd();
  change?.op.abandon();
  const ended = (then: () => void) => {
    then();
    // Unless it has ended by now. A load that failed meanwhile may have left nothing.
    if (session.settle(op, closeRefused) && session.isClosed) proxy.registry.forgetUnopened(session);
    session.resume();
  };
  const done = () => {
    over();
    proxy.client.succeed(request, '{}');
  };
  // A lost session was closed with its agent, which is not started for this, unless the session is being recovered or loaded.
  const wasClosed = (session.isLost || session.isTranscript) && capability === 'close';
  const isUnderWay = session.isLoading || operationOf(session.state, 'recovery')?.wait === 'awaited';
  if (wasClosed && !isUnderWay) return ended(done);
  const owned = detach(frame);
  const failed = (error: ProxyError) => ended(() => (wasClosed ? done() : proxy.client.fail(request, error)));
  agent.whenReady(() => {
    if (request.isAnswered) return ended(() => {}); // withdrawn before it could be sent
    if (!proxy.pool.single && !offers(agent.handshake?.result, 'sessionCapabilities', capability)) {
      instead();
      return ended(done);
    }
    agent.forward(owned, {
      method: request.method,
      request,
      patches: toNative(session),
      onFail: failed,
      onAnswer: (answer) =>
        ended(() => {
          if (answer.outcome === 'result') {
            agent.sessions.admit(session.nativeId); // the agent has no session of that id any more
            over();
          }
          passAnswer(proxy, request, session, answer, agent);
        }),
    });
  }, failed);
}

/** Answers everything under way or waiting in the session, then forgets it. A load still at the agent is late from now on. */
function endSession(proxy: Parts<'pool' | 'registry' | 'client' | 'requests'>, session: Session): void {
  operationOf(session.state, 'load')?.op.abandon();
  for (const prompt of session.queued?.takeAll() ?? []) proxy.client.succeed(prompt, CANCELLED);
  for (const turn of session.turns) proxy.client.succeed(turn, CANCELLED);
  for (const waiting of session.waiting.takeBeforeEnd()) {
    if (waiting.method === 'session/prompt') proxy.client.succeed(waiting, CANCELLED);
    else proxy.client.fail(waiting, failure('CANCELLED', [waiting.method]));
  }
  // The id may be another session's from now on, which must not get this one's requests. A single agent does not reuse ids that way.
  if (proxy.pool.single) proxy.requests.cancelAndWithdraw(session);
  else proxy.requests.endOf(session);
  proxy.registry.forget(session);
}

/** Ends a session that was opened and that nobody wants any more, unless the client has found and used it meanwhile. */
export function discardSession(proxy: Parts<'registry' | 'requests'>, agent: Agent, nativeId: string): void {
  const known = agent.sessions.get(nativeId);
  if (known && !known.isDiscovered) return void known.advance(leftToLoad);
  if (known) {
    proxy.requests.endOf(known); // before its id can be another's
    proxy.registry.forget(known);
  }
  proxy.registry.markEnded(agent, nativeId);
  closeAt(agent, nativeId);
}

/** Ends a session at its agent, as far as the agent can; nobody waits for the answers. */
export function closeAt(agent: Agent, nativeId: string, ways: readonly ('close' | 'delete')[] = ['close', 'delete']): void {
  if (!agent.isReady) return;
  const ignore = { onAnswer: () => {}, onFail: () => {} };
  for (const way of ways)
    if (offers(agent.handshake?.result, 'sessionCapabilities', way))
      agent.request(`session/${way}`, JSON.stringify({ sessionId: nativeId }), ignore);
}

/** Keeps the session for a later load, if its agent can neither close nor load. */
export function park(session: Session): void {
  const { agent, nativeId, options } = session;
  const open = restingOf(session.state);
  if (open.kind !== 'open' || open.openParams === undefined || reopenMethods(agent.handshake?.result, 'session/resume').length > 0) return;
  agent.sessions.park(nativeId, { connection: agent.connection, open, options, ...suspended(session) });
}

/** An isolated process ends with its session, and so do the session's tools. */
function suspended(session: Session): Pick<Parked, 'attachment' | 'bridged'> {
  const { agent, usedServers } = session;
  const isKept = !agent.isIsolated && !agent.isSuperseded;
  return (isKept ? usedServers?.suspend() : undefined) ?? { attachment: undefined, bridged: undefined };
}

/** The session as its agent's process still has it, with its options and tools; undefined when the process does not have it. */
export function unpark(session: Session): Open | undefined {
  const { agent, nativeId } = session;
  const resting = restingOf(session.state);
  if (resting.kind === 'open') return resting;
  if (resting.kind === 'lost') return undefined;
  const kept = agent.sessions.unpark(nativeId, agent.connection);
  if (!kept) return undefined;
  const { open, options, attachment, bridged } = kept;
  session.options = options;
  session.servers.attachment = attachment;
  session.servers.bridged = bridged;
  attachment?.bind(session);
  bridged?.bind(session);
  return open;
}
