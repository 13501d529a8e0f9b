// What agents do without asking, or after a no, can be seen and not prevented: it is written down, told, and if the policy says so, ended.
import { toolCallAction } from '../../policy/actions/permission.ts';
import { summaryOf } from '../../policy/actions/summary.ts';
import { onViolation } from '../../policy/rules/settings.ts';
import type { Frame } from '../../wire/frame.ts';
import { memberAt, stringAt } from '../../wire/json-path.ts';
import { readBody } from '../../wire/scanner/strict-parse.ts';
import type { ProxyParts } from '../parts.ts';
import { tell } from '../sessions/attachments.ts';
import type { Session } from '../sessions/session.ts';
import { cancelTurns } from '../turns/cancel.ts';
import { type EnforcementDeps, evaluate, type PendingAction, record } from './evaluate.ts';
import type { Grants } from './grants.ts';
import type { KnownCalls } from './observed-actions.ts';

/** In these states a call is under way or done, and no question will come any more. */
const BEGUN = new Set(['in_progress', 'completed']);
const OVER = new Set(['completed', 'failed']);

export function toolCall(
  deps: EnforcementDeps,
  calls: KnownCalls,
  grants: Grants,
  proxy: ProxyParts,
  session: Session,
  frame: Frame,
): void {
  const { bytes, start, end } = frame;
  const toolCallId = stringAt(bytes, memberAt(bytes, frame.body, 'update', 'toolCallId'));
  if (toolCallId === undefined) return;
  const body = readBody(frame);
  if (!body.ok) return calls.doubt(session, toolCallId);
  const { update } = (body.value ?? {}) as { update?: { status?: unknown } };
  const status = typeof update?.status === 'string' ? update.status : '';
  const known = calls.note(session, toolCallId, update, end - start);
  // What a load tells of was done in another life, under whatever policy there was then.
  if (BEGUN.has(status) && !session.isLoading) {
    const about = { proxy, agent: session.agent, session, surface: 'tool_call' };
    const action = evaluate(deps, about, bytes.subarray(start, end), (place) => toolCallAction(place, known.call));
    const what = known.answer === undefined ? 'did without asking what the policy denies' : 'did what it was refused';
    // It may have asked about something else than it does: what counts is what it does.
    const isViolation = action.verdict === 'deny' || known.answer === 'deny';
    const report = `${what}: ${summaryOf(action.asked)}`;
    if (isViolation && known.reported !== report) {
      known.reported = report;
      violation(deps, { ...action, verdict: 'deny' }, session, report);
    }
  }
  if (!OVER.has(status)) return;
  calls.forget(session, toolCallId);
  grants.end(session, toolCallId);
}

/** What the policy wants done about it. Ending the agent ends its turn with an error, and its other sessions with it. */
export function violation(deps: EnforcementDeps, action: PendingAction, session: Session, what: string): void {
  const { proxy, agent, decision } = action;
  const response = onViolation(deps.current().policy, agent.name);
  record(deps, action, deps.isObserving ? 'log' : response);
  if (deps.isObserving || response === 'log') return;
  const consequence = response === 'cancel' ? ' The turn was cancelled.' : response === 'kill' ? ' The agent was ended.' : '';
  proxy.context.report(`agent "${agent.name}" ${what} (${decision.why}).${consequence}`);
  tell(proxy, session, 'warning', `${agent.title} ${what}`, `${decision.why}.${consequence}`);
  if (response === 'cancel') cancelTurns(proxy, session);
  if (response === 'kill') agent.kill();
}
