// A person wants an agent's process replaced: as after a crash, its sessions are brought back by the next request on them.
import type { Hub } from '../hub.ts';
import { end, processesOf } from './stop-agent.ts';

/** Whether there is such an agent. One that was stopped by hand is back in service. */
export function restartAgent(hub: Hub, name: string): boolean {
  const agent = hub.agents.get(name);
  if (!agent) return false;
  agent.standing.isStopped = false;
  for (const one of processesOf(hub, agent)) end(hub, one);
  agent.start();
  return true;
}
