// A plan of three steps that are begun and completed one after the other.
import { setTimeout as delay } from 'node:timers/promises';
import type { PlanEntry } from '@agentclientprotocol/sdk';
import type { Scene } from './scenario.ts';

const STEP_PAUSE_MS = 5;

export const plan: Scene = async (turn, { rest }) => {
  const topic = rest || 'the work ahead';
  const steps: Pick<PlanEntry, 'content' | 'priority'>[] = [
    { content: `Understand ${topic}`, priority: 'high' },
    { content: 'Choose the simplest way', priority: 'medium' },
    { content: 'Check that it holds', priority: 'low' },
  ];
  await turn.think(`${turn.persona.thoughts[0]} The topic is ${topic}.`);
  // `current` is the step being worked on; before the first and after the last there is none.
  for (let current = -1; current <= steps.length; current += 1) {
    await turn.plan(steps.map((step, index) => ({ ...step, status: statusOf(index, current) })));
    await delay(STEP_PAUSE_MS, undefined, { signal: turn.signal });
  }
  await turn.say(`${turn.persona.title} has a plan for ${topic}: ${steps.length} steps, all of them done.`);
};

function statusOf(index: number, current: number): PlanEntry['status'] {
  if (index === current) return 'in_progress';
  return index < current ? 'completed' : 'pending';
}
