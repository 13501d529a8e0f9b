// What the user does with a file of a session by hand, in the console: judged like the agent's own request for it. Where a rule wants the user
// asked, the user has answered by doing it.
import type { GateVerdict } from '../../mcp/server/gate.ts';
import { pathAction } from '../../policy/actions/surfaces.ts';
import type { Hub } from '../hub.ts';
import type { Session } from '../sessions/session.ts';
import { type GuardDeps, judge, record } from './evaluate.ts';
import { NOT_WRITTEN } from './tool-calls.ts';

export function byHand(deps: GuardDeps, hub: Hub, session: Session, act: 'read' | 'edit', file: string): GateVerdict {
  const about = { hub, leg: session.leg, session, surface: `console/${act}` };
  const matter = judge(deps, about, JSON.stringify({ act, file }), (place) => pathAction(place, act, file));
  if (matter.verdict === 'deny' && !deps.isObserving) {
    record(deps, matter, 'refused');
    return { allow: false, reason: `denied by policy: ${matter.decision.why}` };
  }
  const by = matter.verdict === 'ask' ? 'user' : matter.by;
  if (!record(deps, matter, 'passed', by) && !deps.isObserving) return NOT_WRITTEN;
  const judged = deps.isObserving ? undefined : matter.asked.paths[0]?.path;
  return { allow: true, ...(judged !== undefined && { judged }) };
}
