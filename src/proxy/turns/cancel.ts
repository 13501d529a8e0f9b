// A cancelled turn ends with `cancelled`, even if its agent dies first, and none of its requests stays open.
import { META_KEY } from '../../acp/shapes.ts';
import type { ProxyError } from '../../errors.ts';
import { type Frame, textOf } from '../../wire/frame.ts';
import { elements, memberAt } from '../../wire/json-path.ts';
import type { ClientRequest } from '../boundary.ts';
import type { Parts } from '../parts.ts';
import type { AgentRequest } from '../requests/agent-requests.ts';
import { toNative } from '../rewrite.ts';
import type { Session } from '../sessions/session.ts';
import { cancelToolCalls } from './tool-calls.ts';

export const CANCELLED = '{"stopReason":"cancelled"}';

/** Goes to the agent at once, ahead of waiting frames. */
export function cancel(proxy: Parts<'context' | 'client' | 'requests'>, session: Session, frame: Frame): void {
  const isKept = keptIn(proxy, frame);
  const isPrompt = (request: ClientRequest) => request.method === 'session/prompt' && !isKept(request);
  for (const queued of session.queued?.takeAll(isKept) ?? []) proxy.client.succeed(queued, CANCELLED);
  if (session.hasWaiting) for (const waiting of session.waiting.withdraw(isPrompt)) proxy.client.succeed(waiting, CANCELLED);
  // No agent is started for a turn that it does not know.
  if (!session.isLost && session.agent.isStarted) session.agent.notify(frame, toNative(session));
  cancelled(proxy, session);
}

/** Ends prompts on a session whose agent is still being looked for. */
export function cancelDuringLookup(proxy: Parts<'context' | 'client'>, sessionId: string | undefined, frame: Frame): void {
  const isKept = keptIn(proxy, frame);
  for (const request of proxy.client.openRequests())
    if (
      request.soughtSessionId === sessionId &&
      request.soughtSessionId !== undefined &&
      request.method === 'session/prompt' &&
      !isKept(request)
    )
      proxy.client.succeed(request, CANCELLED);
}

/** A cancel of one of several clients names the prompts of the others, which go on waiting. */
function keptIn({ context }: Parts<'context'>, { bytes, body }: Frame): (request: ClientRequest) => boolean {
  const span = context.multiplexer && memberAt(bytes, body, '_meta', META_KEY, 'keep');
  const kept = new Set(span ? Array.from(elements(bytes, span.start), (id) => textOf(bytes, id)) : []);
  return ({ idText }) => kept.has(idText);
}

/** The proxy's own cancel: the client has gone, or the turn is stalled. The client did not ask for it, so its open requests are withdrawn. */
export function cancelTurns(proxy: Parts<'context' | 'client' | 'requests'>, session: Session): void {
  // The turn of a delegated session is not a client request; its delegation is cancelled instead.
  if (session.delegation) return session.delegation.cancel();
  session.agent.notifyLine('session/cancel', JSON.stringify({ sessionId: session.nativeId }));
  for (const request of cancelled(proxy, session)) proxy.requests.withdraw(request);
}

/** Answers the prompt of a cancelled turn, and returns how it ended. */
export function endCancelled({ client }: Parts<'client'>, turn: ClientRequest): 'cancelled' | ProxyError {
  if (turn.session && !turn.isAnswered) cancelToolCalls({ client }, turn.session);
  if (turn.overdue) client.fail(turn, turn.overdue);
  else client.succeed(turn, CANCELLED);
  return turn.overdue ?? 'cancelled';
}

/** Returns the requests that were answered in the client's place. */
function cancelled(proxy: Parts<'context' | 'client' | 'requests'>, session: Session): readonly AgentRequest[] {
  const answered = proxy.requests.cancel(session);
  for (const delegation of session.delegations) delegation.cancel();
  for (const turn of session.turns) {
    if (turn.isCancelled) continue;
    turn.isCancelled = true;
    // A change of agent ends at once; no agent has to confirm it.
    if (turn.abandon) {
      proxy.client.succeed(turn, CANCELLED);
      continue;
    }
    // The agent may end the turn itself until then; a later answer is dropped.
    proxy.context.clock.after(session.agent.spec.timeouts.cancelMs, () => endCancelled(proxy, turn));
  }
  return answered;
}
