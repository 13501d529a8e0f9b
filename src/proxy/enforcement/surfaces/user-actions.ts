// What a user does in a session on a page: a page acts outside the agent, so no permission request comes first.
import type { GateVerdict } from '../../../mcp/server/gate.ts';
import { pathAction, type TerminalRequest, terminalAction } from '../../../policy/actions/surfaces.ts';
import type { Session } from '../../sessions/session.ts';
import { type EnforcementDeps, type Evaluation, evaluate, record } from '../evaluate.ts';
import { allowed, NOT_WRITTEN } from './host-tools.ts';

/** The page on which a user acts. */
export type UserPage = 'console' | 'web-app';

/** The user reads or edits a file of a session on a page. Evaluated like the agent's own request; where a rule demands the
 * user's consent, the action itself is the consent. */
export function fileActionByUser(
  deps: EnforcementDeps,
  session: Session,
  act: 'read' | 'edit',
  file: string,
  where: UserPage = 'console',
): GateVerdict {
  const about = { agent: session.agent, session, surface: `${where}/${act}` };
  return decidedByUser(
    deps,
    evaluate(deps, about, JSON.stringify({ act, file }), (place) => pathAction(place, act, file)),
  );
}

/** The user runs a command in a session's directories. */
export function commandByUser(deps: EnforcementDeps, session: Session, command: TerminalRequest): GateVerdict {
  const about = { agent: session.agent, session, surface: 'web-app/execute' };
  return decidedByUser(
    deps,
    evaluate(deps, about, JSON.stringify(command), (place) => terminalAction(place, command)),
  );
}

function decidedByUser(deps: EnforcementDeps, evaluation: Evaluation): GateVerdict {
  if (evaluation.verdict === 'deny' && !deps.isObserving) {
    record(deps, evaluation, 'refused');
    return { allow: false, reason: `denied by policy: ${evaluation.decision.why}` };
  }
  const by = evaluation.verdict === 'ask' ? 'user' : evaluation.by;
  if (!record(deps, evaluation, 'passed', by) && !deps.isObserving) return NOT_WRITTEN;
  return deps.isObserving ? { allow: true } : allowed(evaluation);
}
