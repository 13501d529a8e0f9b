// What the user does with a file of a session by hand, in the console: judged like the agent's own request for it. Where a rule wants the user
// asked, the user has answered by doing it.
import type { GateVerdict } from '../../mcp/server/gate.ts';
import { pathAction } from '../../policy/actions/surfaces.ts';
import type { ProxyParts } from '../parts.ts';
import type { Session } from '../sessions/session.ts';
import { type EnforcementDeps, evaluate, record } from './evaluate.ts';
import { NOT_WRITTEN } from './tool-calls.ts';

export function byUser(deps: EnforcementDeps, proxy: ProxyParts, session: Session, act: 'read' | 'edit', file: string): GateVerdict {
  const about = { proxy, agent: session.agent, session, surface: `console/${act}` };
  const action = evaluate(deps, about, JSON.stringify({ act, file }), (place) => pathAction(place, act, file));
  if (action.verdict === 'deny' && !deps.isObserving) {
    record(deps, action, 'refused');
    return { allow: false, reason: `denied by policy: ${action.decision.why}` };
  }
  const by = action.verdict === 'ask' ? 'user' : action.by;
  if (!record(deps, action, 'passed', by) && !deps.isObserving) return NOT_WRITTEN;
  const judged = deps.isObserving ? undefined : action.asked.paths[0]?.path;
  return { allow: true, ...(judged !== undefined && { judged }) };
}
