// A person takes an agent out of service: what it is asked from now on is refused, and its processes end when its turns have.

import type { ProxyParts } from '../parts.ts';
import { withdrawAll } from '../requests/agent-requests.ts';
import { loseSessions } from '../sessions/recover-session.ts';
import { cancelTurns } from '../turns/cancel.ts';
import type { Agent } from './agent.ts';

/** `now`: turns are cancelled, and have a moment to end in their own words. `drain`: they are left to end by themselves. */
export type HowToStop = 'now' | 'drain';

const LAST_WORDS_MS = 1000;
const LOOK_MS = 50;

/** Whether there is such an agent. */
export function stopAgent(proxy: ProxyParts, name: string, how: HowToStop): boolean {
  const agent = proxy.pool.agents.get(name);
  if (!agent) return false;
  agent.standing.isStopped = true;
  for (const one of processesOf(proxy, agent)) {
    if (how === 'now') for (const session of one.sessions.values()) if (session.turns.size > 0) cancelTurns(proxy, session);
    endWhenIdle(proxy, one, how === 'now' ? LAST_WORDS_MS : Number.POSITIVE_INFINITY);
  }
  return true;
}

export const processesOf = (proxy: ProxyParts, agent: Agent): readonly Agent[] => [
  agent,
  ...[...proxy.pool.isolated].filter((other) => other.name === agent.name),
];

function endWhenIdle(proxy: ProxyParts, agent: Agent, leftMs: number): void {
  if (!agent.standing.isStopped || !agent.isStarted) return;
  if (agent.health().inFlight === 0 || leftMs <= 0) return end(proxy, agent);
  proxy.context.clock.after(LOOK_MS, () => endWhenIdle(proxy, agent, leftMs - LOOK_MS));
}

/** As after a crash, its sessions are there to be brought back; in good order, so that nobody takes it for one. */
export function end(proxy: ProxyParts, agent: Agent): void {
  if (!agent.isStarted) return;
  loseSessions(proxy, agent);
  agent.retire();
  withdrawAll(proxy, agent);
}
