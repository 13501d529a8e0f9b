// What an agent says of a session before the answer that opens it. Editors drop such frames, so they wait until behind that answer.
import type { AgentLeg } from '../agents/agent.ts';
import { fromAgent } from '../from-agent.ts';
import type { Hub } from '../hub.ts';

/** What was held for one session, now that the editor knows it. */
export function release(hub: Hub, leg: AgentLeg, nativeId: string): void {
  const held = leg.early.get(nativeId);
  if (!held) return;
  leg.early.delete(nativeId);
  for (const { start, end } of held) leg.earlyBytes -= end - start;
  for (const frame of held) fromAgent(hub, leg, frame);
}

/** Nothing is being opened any more: what is still held belongs to sessions of the agent's own making, and passes. */
export function releaseAll(hub: Hub, leg: AgentLeg): void {
  if (leg.openings === 0) for (const nativeId of [...leg.early.keys()]) release(hub, leg, nativeId);
}
