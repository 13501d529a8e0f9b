// A line of an agent's that is passed on to nobody: counted, and the first few are named.
import type { Agent } from './agents/agent.ts';
import type { ProxyParts } from './parts.ts';

const MOST_NAMED = 10;

export function skipLine(proxy: ProxyParts, { name }: Agent, reason: string): void {
  if (proxy.context.counters.refusedFromAgents++ < MOST_NAMED) proxy.context.report(`a line from agent "${name}" was skipped: ${reason}`);
}
