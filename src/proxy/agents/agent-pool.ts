// Agents that can hold only one session get a process for each of them.

import type { Hub } from '../hub.ts';
import { withdrawAll } from '../requests/agent-requests.ts';
import { forgetAllParked } from '../sessions/close-session.ts';
import { failOpenToolCalls } from '../sessions/cut-off.ts';
import type { Agent } from './agent.ts';

/** Where a session of this agent is to live. */
export function agentForSession(hub: Hub, agent: Agent): Agent {
  if (!agent.isIsolated || (agent.sessions.size === 0 && agent.openings === 0)) return agent;
  const another = hub.anotherProcess(agent);
  if (another === agent) return agent; // we are shutting down, and nothing is started any more
  another.handshake = agent.handshake;
  hub.isolated.add(another);
  return another;
}

/** The session that lived there is over, and so is the process it had for itself. */
export function vacate(hub: Hub, agent: Agent): void {
  const isForAll = !agent.isIsolated && !agent.isSuperseded;
  if (isForAll || agent.openings > 0) return;
  for (const { isDiscovered } of agent.sessions.values()) if (!isDiscovered) return;
  // Sessions that only the agent has spoken of end with the process that spoke of them.
  for (const [nativeId, discovered] of agent.sessions) {
    agent.sessions.delete(nativeId);
    failOpenToolCalls(hub, discovered);
    if (hub.sessions.get(discovered.publicId) !== discovered) continue;
    hub.sessions.delete(discovered.publicId);
    hub.table.release(discovered.publicId);
  }
  forgetAllParked(agent);
  agent.refused.clear();
  agent.retire();
  withdrawAll(hub, agent);
  if (agent.isStarted || !hub.isolated.delete(agent)) return; // others wait for it still
  // Its process may take its time to end, and whoever stops us must wait for it.
  hub.leaving.add(agent);
  void agent.left().then(() => hub.leaving.delete(agent));
}

/** The agent behind the id of a leg. */
export const agentOf = (agentId: string): string => agentId.replace(/#\d+$/, '');
