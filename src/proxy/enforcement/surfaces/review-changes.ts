// Changes in the layer of a session at the level `review`, evaluated like edits that the agent asks for.
import type { Action, Place } from '../../../policy/actions/action.ts';
import { pathAction } from '../../../policy/actions/surfaces.ts';
import type { Verdict } from '../../../policy/rules/rule.ts';
import type { Change } from '../../../review/review.ts';
import type { Session } from '../../sessions/session.ts';
import { type EnforcementDeps, type Evaluation, evaluate, record, recordLate, write } from '../evaluate.ts';

const SURFACE = 'review';

/** A renamed file is deleted in one place and created in another. */
function actionsFor(deps: EnforcementDeps, session: Session, { kind, path, from }: Change): readonly Evaluation[] {
  const about = { agent: session.agent, session, surface: SURFACE };
  const evaluateNow = (act: 'edit' | 'delete', file: string) =>
    evaluate(deps, about, JSON.stringify({ kind, path: file }), (place: Place): Action => pathAction(place, act, file));
  if (kind === 'delete') return [evaluateNow('delete', path)];
  return from === undefined ? [evaluateNow('edit', path)] : [evaluateNow('delete', from), evaluateNow('edit', path)];
}

const strictest = (actions: readonly Evaluation[]): Evaluation =>
  (['deny', 'ask', 'allow'] as const).flatMap(
    (verdict) => actions.find((evaluation) => evaluation.verdict === verdict) ?? [],
  )[0] as Evaluation;

/** Nothing is allowed without its line in the audit log. A question is recorded with its answer. */
export function evaluateChange(
  deps: EnforcementDeps,
  session: Session,
  change: Change,
  mustAsk: boolean,
): { readonly verdict: Verdict; readonly why: string } {
  const actions = actionsFor(deps, session, change);
  const { verdict, decision } = strictest(actions);
  const why = decision.why;
  if (deps.isObserving) {
    for (const evaluation of actions) record(deps, evaluation, 'passed');
    return { verdict: 'ask', why };
  }
  if (verdict === 'deny') {
    for (const evaluation of actions) if (evaluation.verdict === 'deny') record(deps, evaluation, 'refused');
    return { verdict, why };
  }
  if (verdict === 'ask' || mustAsk || change.isConflict) return { verdict: 'ask', why };
  return { verdict: actions.every((evaluation) => record(deps, evaluation, 'passed')) ? 'allow' : 'ask', why };
}

export function changeAnswered(deps: EnforcementDeps, session: Session, change: Change, isAllowed: boolean): boolean {
  const actions = actionsFor(deps, session, change);
  const denied = actions.find(({ verdict }) => verdict === 'deny');
  if (denied && isAllowed && !deps.isObserving) {
    recordLate(deps, denied, denied.decision.why);
    return false;
  }
  const option = isAllowed ? 'apply' : 'drop';
  const answer = isAllowed ? 'allow_once' : 'reject_once';
  const written = actions.map((evaluation) => write(deps, evaluation, { option, by: 'user', verdict: 'ask', answer }).isWritten);
  return written.every(Boolean) || deps.isObserving;
}
