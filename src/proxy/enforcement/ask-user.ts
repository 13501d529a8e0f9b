// A question of our own to the editor, on behalf of a request that the agent did not ask about: the editor knows only one way of asking.
import { randomUUID } from 'node:crypto';
import { META_KEY } from '../../acp/shapes.ts';
import type { AnsweredBy } from '../../audit/audit-line.ts';
import { summaryOf } from '../../policy/actions/summary.ts';
import { updateLine } from '../messages.ts';
import type { Session } from '../sessions/session.ts';
import { type EnforcementDeps, type PendingAction, record } from './evaluate.ts';
import { chosenIn, denyInTime, withdrawn } from './outcome.ts';
import { isRememberable, remember } from './remember.ts';

/** How the request is shown: the fields of a tool call besides its id and status. */
export type Shown = { readonly title: string; readonly kind: string; readonly [field: string]: unknown };

const OPTIONS = [
  { optionId: 'allow', name: 'Allow', kind: 'allow_once' },
  { optionId: 'allow-always', name: 'Always allow this', kind: 'allow_always' },
  { optionId: 'reject', name: 'Reject', kind: 'reject_once' },
  { optionId: 'reject-always', name: 'Always reject this', kind: 'reject_always' },
];

/** `cancelled` is a no that goes for everything the turn has asked so far, `taken-back` one that nobody waits for any more. */
export type Reply = 'allowed' | 'refused' | 'cancelled' | 'taken-back';

/** Asks in `session`, and calls back exactly once, unless the agent dies first. */
export function askClient(
  deps: EnforcementDeps,
  action: PendingAction,
  session: Session,
  idText: string,
  shown: Shown,
  then: (reply: Reply) => void,
  signal?: AbortSignal,
): void {
  const { proxy, agent, asked, decision } = action;
  const sessionId = session.publicId;
  // Not to be guessed: an agent could speak of the question in our name while the user reads it.
  const toolCallId = `switchboard-${randomUUID()}`;
  const options = isRememberable(deps, action) ? OPTIONS : OPTIONS.filter(({ kind }) => !kind.endsWith('_always'));
  let abandon = () => {};
  const over = (reply: Reply, by: AnsweredBy, sent: string) => {
    record(deps, action, sent, by, by === 'user' ? 'ask' : 'deny');
    const status = reply === 'allowed' ? 'completed' : 'failed';
    proxy.client.line(updateLine(sessionId, JSON.stringify({ sessionUpdate: 'tool_call_update', toolCallId, status })));
    then(reply);
  };
  const params = {
    sessionId,
    toolCall: { toolCallId, status: 'pending', ...shown },
    options,
    _meta: { [META_KEY]: { summary: summaryOf(asked), why: decision.why } },
  };
  const agentRequest = proxy.client.askOwn('session/request_permission', JSON.stringify(params), {
    idText,
    method: 'session/request_permission',
    agent,
    session,
    judged: { asked, decision, isOurs: true },
    onAnswer(answer) {
      const chosen = chosenIn(answer, options);
      if (chosen) remember(deps, action, chosen.kind);
      over(chosen?.kind.startsWith('allow') ? 'allowed' : 'refused', 'user', chosen?.optionId ?? 'cancelled');
      return true;
    },
    onCancel: () => over('cancelled', 'user', 'cancelled'),
    onSettled: () => abandon(),
  });
  const stopClock = denyInTime(deps, proxy, agentRequest, () => over('refused', 'timeout', 'refused'));
  const cancelRequest = () => {
    if (withdrawn(proxy, agentRequest)) over('taken-back', 'agent', 'cancelled');
  };
  abandon = () => {
    stopClock();
    signal?.removeEventListener('abort', cancelRequest);
  };
  signal?.addEventListener('abort', cancelRequest, { once: true });
}
