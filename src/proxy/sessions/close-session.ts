// Sessions that the editor has closed and their agent, having no way to be told, still has: what is needed to go on with them, should the editor come
// back while that process lives. What was lent to them rests meanwhile: the agent keeps its connections, and nothing can be called by them.
import { waysBack } from '../../router/capabilities.ts';
import type { Agent } from '../agents/agent.ts';
import type { Parked, Session } from './session.ts';

const MOST_SET_ASIDE = 1000;

/** The agent cannot close: should the editor come back to the session while this process lives, it is still there. */
export function park(session: Session): void {
  const { agent, nativeId, openParams, isLost, options, roots, hasCommands, hasAgentCommand } = session;
  if (openParams === undefined || isLost || waysBack(agent.handshake?.result, 'session/resume').length > 0) return;
  forgetParked(agent, nativeId);
  agent.park.set(nativeId, { connection: agent.connection, openParams, options, roots, hasCommands, hasAgentCommand, ...resting(session) });
  const [oldest] = agent.park.size > MOST_SET_ASIDE ? agent.park.keys() : [];
  if (oldest !== undefined) forgetParked(agent, oldest);
}

/** A process that was for this session alone ends with it, and what it was lent ends too. */
function resting(session: Session): Pick<Parked, 'attachment' | 'bridged'> {
  const { agent, attachment, bridged } = session;
  if (agent.isIsolated || agent.isSuperseded) return { attachment: undefined, bridged: undefined };
  attachment?.rest();
  bridged?.rest();
  session.attachment = undefined;
  session.bridged = undefined;
  return { attachment, bridged };
}

/** Whether the agent's process still has the session; if so, all we knew of it is known again. */
export function takeUp(session: Session): boolean {
  const { agent, nativeId } = session;
  if (session.openParams !== undefined) return !session.isLost;
  const kept = agent.park.get(nativeId);
  if (!kept || kept.connection !== agent.connection) {
    forgetParked(agent, nativeId);
    return false;
  }
  agent.park.delete(nativeId);
  const { connection: _, attachment, bridged, ...known } = kept;
  Object.assign(session, known, { attachment, bridged });
  attachment?.bind(session);
  bridged?.bind(session);
  return true;
}

/** The agent has another session of that id now, or none any more. */
export function forgetParked(agent: Agent, nativeId: string): void {
  const kept = agent.park.get(nativeId);
  agent.park.delete(nativeId);
  kept?.attachment?.revoke();
  kept?.bridged?.revoke();
}

export function forgetAllParked(agent: Agent): void {
  for (const nativeId of [...agent.park.keys()]) forgetParked(agent, nativeId);
}
