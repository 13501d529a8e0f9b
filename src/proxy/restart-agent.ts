// A person wants an agent's process replaced: as after a crash, its sessions are brought back by the next request on them.
import { loseSessions } from './bring-back.ts';
import type { Hub } from './hub.ts';
import { withdrawAll } from './questions.ts';

/** Whether there is such an agent. */
export function restartAgent(hub: Hub, name: string): boolean {
  const leg = hub.agents.get(name);
  if (!leg) return false;
  for (const one of [leg, ...[...hub.isolated].filter((other) => other.name === name)]) {
    if (!one.isStarted) continue;
    loseSessions(hub, one);
    one.retire();
    withdrawAll(hub, one);
  }
  leg.start();
  return true;
}
