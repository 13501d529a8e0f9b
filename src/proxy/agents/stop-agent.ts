// A person takes an agent out of service: what it is asked from now on is refused, and its processes end when its turns have.

import type { Hub } from '../hub.ts';
import { withdrawAll } from '../requests/agent-requests.ts';
import { loseSessions } from '../sessions/recover-session.ts';
import { cancelTurns } from '../turns/cancel.ts';
import type { AgentLeg } from './agent.ts';

/** `now`: turns are cancelled, and have a moment to end in their own words. `drain`: they are left to end by themselves. */
export type HowToStop = 'now' | 'drain';

const LAST_WORDS_MS = 1000;
const LOOK_MS = 50;

/** Whether there is such an agent. */
export function stopAgent(hub: Hub, name: string, how: HowToStop): boolean {
  const leg = hub.agents.get(name);
  if (!leg) return false;
  leg.standing.isStopped = true;
  for (const one of processesOf(hub, leg)) {
    if (how === 'now') for (const session of one.sessions.values()) if (session.turns.size > 0) cancelTurns(hub, session);
    endWhenIdle(hub, one, how === 'now' ? LAST_WORDS_MS : Number.POSITIVE_INFINITY);
  }
  return true;
}

export const processesOf = (hub: Hub, leg: AgentLeg): readonly AgentLeg[] => [
  leg,
  ...[...hub.isolated].filter((other) => other.name === leg.name),
];

function endWhenIdle(hub: Hub, leg: AgentLeg, leftMs: number): void {
  if (!leg.standing.isStopped || !leg.isStarted) return;
  if (leg.health().inFlight === 0 || leftMs <= 0) return end(hub, leg);
  hub.clock.after(LOOK_MS, () => endWhenIdle(hub, leg, leftMs - LOOK_MS));
}

/** As after a crash, its sessions are there to be brought back; in good order, so that nobody takes it for one. */
export function end(hub: Hub, leg: AgentLeg): void {
  if (!leg.isStarted) return;
  loseSessions(hub, leg);
  leg.retire();
  withdrawAll(hub, leg);
}
