// What an agent says of a session before the answer that opens it. Editors drop such frames, so they wait until behind that answer.
import type { Agent } from '../agents/agent.ts';
import { fromAgent } from '../from-agent.ts';
import type { ProxyParts } from '../parts.ts';

/** What was held for one session, now that the editor knows it. */
export function release(proxy: ProxyParts, agent: Agent, nativeId: string): void {
  const held = agent.early.get(nativeId);
  if (!held) return;
  agent.early.delete(nativeId);
  for (const { start, end } of held) agent.earlyBytes -= end - start;
  for (const frame of held) fromAgent(proxy, agent, frame);
}

/** Nothing is being opened any more: what is still held belongs to sessions of the agent's own making, and passes. */
export function releaseAll(proxy: ProxyParts, agent: Agent): void {
  if (agent.openings === 0) for (const nativeId of [...agent.early.keys()]) release(proxy, agent, nativeId);
}
