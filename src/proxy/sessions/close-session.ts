// Sessions that the editor has closed and their agent, having no way to be told, still has: what is needed to go on with them, should the editor come
// back while that process lives. What was lent to them rests meanwhile: the agent keeps its connections, and nothing can be called by them.
import { waysBack } from '../../router/capabilities.ts';
import type { AgentLeg } from '../agents/agent.ts';
import type { Session, SetAside } from './session.ts';

const MOST_SET_ASIDE = 1000;

/** The agent cannot close: should the editor come back to the session while this process lives, it is still there. */
export function setAside(session: Session): void {
  const { leg, nativeId, openParams, isLost, options, roots, hasCommands, hasAgentCommand } = session;
  if (openParams === undefined || isLost || waysBack(leg.handshake?.result, 'session/resume').length > 0) return;
  forgetSetAside(leg, nativeId);
  leg.setAside.set(nativeId, { life: leg.lives, openParams, options, roots, hasCommands, hasAgentCommand, ...resting(session) });
  const [oldest] = leg.setAside.size > MOST_SET_ASIDE ? leg.setAside.keys() : [];
  if (oldest !== undefined) forgetSetAside(leg, oldest);
}

/** A process that was for this session alone ends with it, and what it was lent ends too. */
function resting(session: Session): Pick<SetAside, 'loan' | 'bridged'> {
  const { leg, loan, bridged } = session;
  if (leg.isIsolated || leg.isSuperseded) return { loan: undefined, bridged: undefined };
  loan?.rest();
  bridged?.rest();
  session.loan = undefined;
  session.bridged = undefined;
  return { loan, bridged };
}

/** Whether the agent's process still has the session; if so, all we knew of it is known again. */
export function takeUp(session: Session): boolean {
  const { leg, nativeId } = session;
  if (session.openParams !== undefined) return !session.isLost;
  const kept = leg.setAside.get(nativeId);
  if (kept?.life !== leg.lives) {
    forgetSetAside(leg, nativeId);
    return false;
  }
  leg.setAside.delete(nativeId);
  const { life: _, loan, bridged, ...known } = kept;
  Object.assign(session, known, { loan, bridged });
  loan?.bind(session);
  bridged?.bind(session);
  return true;
}

/** The agent has another session of that id now, or none any more. */
export function forgetSetAside(leg: AgentLeg, nativeId: string): void {
  const kept = leg.setAside.get(nativeId);
  leg.setAside.delete(nativeId);
  kept?.loan?.revoke();
  kept?.bridged?.revoke();
}

export function forgetAllSetAside(leg: AgentLeg): void {
  for (const nativeId of [...leg.setAside.keys()]) forgetSetAside(leg, nativeId);
}
