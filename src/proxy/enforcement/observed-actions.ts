// Actions that agents take without permission, or against a denial. The proxy cannot prevent them: it records and reports them, and ends the
// turn or the agent if the policy says so.
import { toolCallAction } from '../../policy/actions/permission.ts';
import { summaryOf } from '../../policy/actions/summary.ts';
import { onViolation } from '../../policy/rules/settings.ts';
import type { Frame } from '../../wire/frame.ts';
import { memberAt, stringAt } from '../../wire/json-path.ts';
import { readBody } from '../../wire/scanner/strict-parse.ts';
import type { Session } from '../sessions/session.ts';
import { stateOf } from './enforcement-state.ts';
import { type EnforcementDeps, evaluate, OBSERVED, type PendingAction, record } from './evaluate.ts';

/** The call runs or has run: no permission request will come for it. */
const BEGUN = new Set(['in_progress', 'completed']);
const OVER = new Set(['completed', 'failed']);

export function toolCall(deps: EnforcementDeps, session: Session, frame: Frame): void {
  const { bytes, start, end } = frame;
  const toolCallId = stringAt(bytes, memberAt(bytes, frame.body, 'update', 'toolCallId'));
  if (toolCallId === undefined) return;
  const body = readBody(frame);
  const { calls, grants } = stateOf(session);
  // Parsers read it differently: nothing known of the call can be relied on.
  if (!body.ok) return calls.forget(toolCallId);
  const { update } = (body.value ?? {}) as { update?: { status?: unknown } };
  const status = typeof update?.status === 'string' ? update.status : '';
  const known = calls.note(toolCallId, update, end - start);
  // A load replays calls that were made under another policy, perhaps.
  if (BEGUN.has(status) && !session.isLoading) {
    const about = { agent: session.agent, session, surface: OBSERVED };
    const action = evaluate(deps, about, bytes.subarray(start, end), (place) => toolCallAction(place, known.call));
    const what = known.answer === undefined ? 'did what the policy denies, without asking' : 'did what it was refused';
    // The agent may do something else than it asked for: only what it does counts.
    const isViolation = action.verdict === 'deny' || known.answer === 'deny';
    const report = `${what}: ${summaryOf(action.asked)}`;
    if (isViolation && known.reported !== report) {
      known.reported = report;
      violation(deps, { ...action, verdict: 'deny' }, session, report);
    }
  }
  if (!OVER.has(status)) return;
  calls.forget(toolCallId);
  grants.end(toolCallId);
}

/** Responds as the policy says. Killing the agent fails its turn and ends its other sessions too. */
export function violation(deps: EnforcementDeps, action: PendingAction, session: Session, what: string): void {
  const { agent, decision } = action;
  const response = onViolation(deps.current().policy, agent.name);
  record(deps, action, deps.isObserving ? 'log' : response);
  if (deps.isObserving || response === 'log') return;
  const consequence = response === 'cancel' ? ' The turn was cancelled.' : response === 'kill' ? ' The agent was ended.' : '';
  deps.host.report(`agent "${agent.name}" ${what} (${decision.why}).${consequence}`);
  deps.host.warn(session, `${agent.title} ${what}`, `${decision.why}.${consequence}`);
  if (response === 'cancel') deps.host.cancelTurns(session);
  if (response === 'kill') agent.kill();
}
