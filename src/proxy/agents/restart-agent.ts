// A person wants an agent's process replaced: as after a crash, its sessions are brought back by the next request on them.
import type { ProxyParts } from '../parts.ts';
import { end, processesOf } from './stop-agent.ts';

/** Whether there is such an agent. One that was stopped by hand is back in service. */
export function restartAgent(proxy: ProxyParts, name: string): boolean {
  const agent = proxy.pool.agents.get(name);
  if (!agent) return false;
  agent.standing.isStopped = false;
  for (const one of processesOf(proxy, agent)) end(proxy, one);
  agent.start();
  return true;
}
