// Sessions that the editor has closed and their agent, having no way to be told, still has: what is needed to go on with them, should the editor come
// back while that process lives. What was lent to them rests meanwhile: the agent keeps its connections, and nothing can be called by them.
import { waysBack } from '../../router/capabilities.ts';
import type { Agent } from '../agents/agent.ts';
import type { Parked, Session } from './session.ts';
import { type Open, restingOf } from './session-state.ts';

const MOST_SET_ASIDE = 1000;

/** The agent cannot close: should the editor come back to the session while this process lives, it is still there. */
export function park(session: Session): void {
  const { agent, nativeId, options } = session;
  const open = restingOf(session.state);
  if (open.kind !== 'open' || open.openParams === undefined || waysBack(agent.handshake?.result, 'session/resume').length > 0) return;
  forgetParked(agent, nativeId);
  agent.park.set(nativeId, { connection: agent.connection, open, options, ...suspended(session) });
  const [oldest] = agent.park.size > MOST_SET_ASIDE ? agent.park.keys() : [];
  if (oldest !== undefined) forgetParked(agent, oldest);
}

/** A process that was for this session alone ends with it, and what it was lent ends too. */
function suspended(session: Session): Pick<Parked, 'attachment' | 'bridged'> {
  const { agent, attachment, bridged } = session;
  if (agent.isIsolated || agent.isSuperseded) return { attachment: undefined, bridged: undefined };
  attachment?.rest();
  bridged?.rest();
  session.attachment = undefined;
  session.bridged = undefined;
  return { attachment, bridged };
}

/** The session as its agent's process still has it, with its options and tools; undefined when the process does not have it. */
export function unpark(session: Session): Open | undefined {
  const { agent, nativeId } = session;
  const resting = restingOf(session.state);
  if (resting.kind === 'open') return resting;
  if (resting.kind === 'lost') return undefined;
  const kept = agent.park.get(nativeId);
  if (!kept || kept.connection !== agent.connection) {
    forgetParked(agent, nativeId);
    return undefined;
  }
  agent.park.delete(nativeId);
  const { open, options, attachment, bridged } = kept;
  Object.assign(session, { options, attachment, bridged });
  attachment?.bind(session);
  bridged?.bind(session);
  return open;
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
