// A cancelled turn ends `cancelled`, whether or not its agent lives to say so, and nothing it asked stays open.
import { failure } from '../../errors.ts';
import type { Frame } from '../../wire/frame.ts';
import type { AgentRequest, OpenRequest } from '../client/client-connection.ts';
import { notificationLine } from '../messages.ts';
import type { ProxyParts } from '../parts.ts';
import { type Session, toNative } from '../sessions/session.ts';

export const CANCELLED = '{"stopReason":"cancelled"}';

/** Goes to the agent at once, past whatever waits in the session's lane. */
export function cancel(proxy: ProxyParts, session: Session, frame: Frame): void {
  const isPrompt = ({ method }: OpenRequest) => method === 'session/prompt';
  for (const waiting of [...session.toAgent.withdraw(isPrompt), ...session.afterEnd.withdraw(isPrompt)])
    proxy.client.succeed(waiting, CANCELLED);
  // An agent is not started to be told that a turn is over which it has never heard of.
  if (!session.isLost && session.agent.isStarted) session.agent.notify(frame, toNative(session));
  cancelled(proxy, session);
}

/** Prompts on a session whose owner is still being looked for have not left yet, and do not leave any more. */
export function cancelSought(proxy: ProxyParts, sessionId: string | undefined): void {
  for (const request of proxy.client.openRequests())
    if (request.sought === sessionId && request.sought !== undefined && request.method === 'session/prompt')
      proxy.client.succeed(request, CANCELLED);
}

/** The proxy's own cancel: nobody waits any more, or the turn has been silent for too long. The editor has not asked for it, and is told what it need not answer. */
export function cancelTurns(proxy: ProxyParts, session: Session): void {
  // Its turn is no request of the editor's: what was called off is the call that it is for.
  if (session.delegation) return session.delegation.cancel();
  session.agent.notifyLine('session/cancel', JSON.stringify({ sessionId: session.nativeId }));
  for (const asked of cancelled(proxy, session)) cancelRequest(proxy, asked);
}

/** The editor is not to be in the session any more, or never was: it is told what it need not answer, and the agent that nobody will. */
export function endRequests(proxy: ProxyParts, session: Session): void {
  const { publicId: sessionId } = session;
  cancelRequests(proxy, session);
  for (const asked of [...session.agentRequests]) {
    if (asked.isAnswered) continue; // its agent has died of an answer before this one
    cancelRequest(proxy, asked);
    asked.agent.fail(asked.idText, failure('SESSION_UNKNOWN', [sessionId], { sessionId }));
  }
}

/** Answers the session's permission requests and elicitations `cancelled`, and withdraws them from the client, with those that were answered before. */
export function cancelRequests(proxy: ProxyParts, session: Session): void {
  answerRequests(proxy, session);
  for (const asked of proxy.client.answeredIn(session)) cancelRequest(proxy, asked);
}

/** It is taken back here and now, and not once more when the agent ends. */
export function cancelRequest(proxy: ProxyParts, asked: AgentRequest): void {
  if (!proxy.client.forget(asked)) return;
  proxy.client.line(notificationLine('$/cancel_request', `{"requestId":${asked.id}}`));
}

/** Returns the questions that were answered in the editor's place. */
function cancelled(proxy: ProxyParts, session: Session): readonly AgentRequest[] {
  const answered = answerRequests(proxy, session);
  for (const delegation of session.delegations) delegation.cancel();
  for (const turn of session.turns) {
    if (turn.isCancelled) continue;
    turn.isCancelled = true;
    // A change of agent is ours alone to stop.
    if (turn.abandon) {
      proxy.client.succeed(turn, CANCELLED);
      continue;
    }
    // The agent has until then to end the turn itself; what it says later is dropped, since the turn has its answer.
    proxy.context.clock.after(session.agent.spec.timeouts.cancelMs, () => proxy.client.succeed(turn, CANCELLED));
  }
  return answered;
}

/** The editor must answer open questions `cancelled`, and may forget to; the agent must not wait for it. Late answers are dropped. */
export function answerRequests(proxy: ProxyParts, session: Session): readonly AgentRequest[] {
  const answered: AgentRequest[] = [];
  for (const asked of [...session.agentRequests]) {
    // Its agent may have died of an answer before this one, having read none, and the next life of it does not know the question.
    if (asked.isAnswered) continue;
    if (asked.onCancel) {
      proxy.client.answeredByUs(asked);
      asked.onCancel();
      answered.push(asked);
      continue;
    }
    const answer =
      asked.method === 'session/request_permission'
        ? '{"outcome":{"outcome":"cancelled"}}'
        : asked.method === 'elicitation/create'
          ? '{"action":"cancel"}'
          : undefined;
    if (answer === undefined) continue;
    proxy.client.answeredByUs(asked);
    asked.agent.succeed(asked.idText, answer);
    answered.push(asked);
  }
  return answered;
}
