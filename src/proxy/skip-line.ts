// A line of an agent's that is passed on to nobody: counted, and the first few are named.
import type { Agent } from './agents/agent.ts';
import type { Hub } from './hub.ts';

const MOST_NAMED = 10;

export function skipLine(hub: Hub, { name }: Agent, reason: string): void {
  if (hub.counters.refusedFromAgents++ < MOST_NAMED) hub.report(`a line from agent "${name}" was skipped: ${reason}`);
}
