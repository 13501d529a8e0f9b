// A cancelled turn ends `cancelled`, whether or not its agent lives to say so, and nothing it asked stays open.
import type { Frame } from '../../wire/frame.ts';
import type { ClientRequest } from '../boundary.ts';
import type { ProxyParts } from '../parts.ts';
import type { AgentRequest } from '../requests/agent-requests.ts';
import { toNative } from '../rewrite.ts';
import type { Session } from '../sessions/session.ts';

export const CANCELLED = '{"stopReason":"cancelled"}';

/** Goes to the agent at once, past whatever waits in the session's lane. */
export function cancel(proxy: ProxyParts, session: Session, frame: Frame): void {
  const isPrompt = ({ method }: ClientRequest) => method === 'session/prompt';
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
  for (const request of cancelled(proxy, session)) proxy.requests.withdraw(request);
}

/** Returns the requests that were answered in the client's place. */
function cancelled(proxy: ProxyParts, session: Session): readonly AgentRequest[] {
  const answered = proxy.requests.cancel(session);
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
