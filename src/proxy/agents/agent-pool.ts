// Agents that can hold only one session get a process for each of them.

import type { Hub } from '../hub.ts';
import { withdrawAll } from '../requests/agent-requests.ts';
import { forgetAllSetAside } from '../sessions/close-session.ts';
import { cutOff } from '../sessions/cut-off.ts';
import type { AgentLeg } from './agent.ts';

/** Where a session of this agent is to live. */
export function legForSession(hub: Hub, leg: AgentLeg): AgentLeg {
  if (!leg.isIsolated || (leg.sessions.size === 0 && leg.openings === 0)) return leg;
  const another = hub.anotherLeg(leg);
  if (another === leg) return leg; // we are shutting down, and nothing is started any more
  another.handshake = leg.handshake;
  hub.isolated.add(another);
  return another;
}

/** The session that lived there is over, and so is the process it had for itself. */
export function vacate(hub: Hub, leg: AgentLeg): void {
  const isForAll = !leg.isIsolated && !leg.isSuperseded;
  if (isForAll || leg.openings > 0) return;
  for (const { isMet } of leg.sessions.values()) if (!isMet) return;
  // Sessions that only the agent has spoken of end with the process that spoke of them.
  for (const [nativeId, met] of leg.sessions) {
    leg.sessions.delete(nativeId);
    cutOff(hub, met);
    if (hub.sessions.get(met.publicId) !== met) continue;
    hub.sessions.delete(met.publicId);
    hub.table.release(met.publicId);
  }
  forgetAllSetAside(leg);
  leg.refused.clear();
  leg.retire();
  withdrawAll(hub, leg);
  if (leg.isStarted || !hub.isolated.delete(leg)) return; // others wait for it still
  // Its process may take its time to end, and whoever stops us must wait for it.
  hub.leaving.add(leg);
  void leg.left().then(() => hub.leaving.delete(leg));
}

/** The agent behind the id of a leg. */
export const agentOf = (legId: string): string => legId.replace(/#\d+$/, '');
