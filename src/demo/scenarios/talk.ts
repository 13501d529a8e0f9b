// Any prompt that is not a command: a thought and a short answer.

import { setTimeout as delay } from 'node:timers/promises';
import type { PlanEntry } from '@agentclientprotocol/sdk';
import type { Turn } from '../turn.ts';
import { type Scenario, ScenarioFailure } from './scenario.ts';

const ECHO_CHARACTERS = 400;

export const chat: Scenario = async (turn, { rest, attachments }) => {
  const { title, thoughts, advice } = turn.profile;
  await turn.think(thoughts[0]);
  if (turn.session.record.configValues.thinking === 'thorough') await turn.think(` ${thoughts[1]}`);
  const echo = rest.length > ECHO_CHARACTERS ? `${rest.slice(0, ECHO_CHARACTERS)}…` : rest;
  const besides = attachments.length === 0 ? '' : `With it came ${attachments.join(', ')}. `;
  await turn.send(`${title} here. You said: "${echo}". ${besides}${advice}`);
};

// A plan of three steps that start and complete one after the other.
const STEP_PAUSE_MS = 5;

export const plan: Scenario = async (turn, { rest }) => {
  const topic = rest || 'the work ahead';
  const steps: Pick<PlanEntry, 'content' | 'priority'>[] = [
    { content: `Understand ${topic}`, priority: 'high' },
    { content: 'Choose the simplest way', priority: 'medium' },
    { content: 'Check that it holds', priority: 'low' },
  ];
  await turn.think(`${turn.profile.thoughts[0]} The topic is ${topic}.`);
  // `current` is the step in progress; before the first and after the last there is none.
  for (let current = -1; current <= steps.length; current += 1) {
    await turn.plan(steps.map((step, index) => ({ ...step, status: statusOf(index, current) })));
    await delay(STEP_PAUSE_MS, undefined, { signal: turn.signal });
  }
  await turn.send(`${turn.profile.title} has a plan for ${topic}: ${steps.length} steps, all of them done.`);
};

function statusOf(index: number, current: number): PlanEntry['status'] {
  if (index === current) return 'in_progress';
  return index < current ? 'completed' : 'pending';
}

// Sends slowly, so that there is something to cancel and to interleave with.
const CHUNK_EVERY_MS = 50;
const DEFAULT_SECONDS = 2;
const MAX_SECONDS = 600;

export const slow: Scenario = async (turn, { rest }) => {
  const seconds = rest === '' ? DEFAULT_SECONDS : Number(rest);
  if (!(seconds >= 0 && seconds <= MAX_SECONDS)) throw new ScenarioFailure(`How many seconds, up to ${MAX_SECONDS}? Try /slow 2.`);
  const chunks = Math.ceil((seconds * 1000) / CHUNK_EVERY_MS);
  for (let chunk = 1; chunk <= chunks; chunk += 1) {
    await turn.sendChunk(`${chunk} of ${chunks}\n`);
    await delay(CHUNK_EVERY_MS, undefined, { signal: turn.signal });
  }
  await turn.sendChunk('Done.');
};

// The agent describes itself as JSON, so that tests and the guided tour see which agent answered with what.
export const whoami: Scenario = async (turn) => {
  const { sessionId, cwd, modeId, configValues, turns } = turn.session.record;
  const self = {
    name: turn.profile.name,
    pid: process.pid,
    sessionId,
    cwd,
    mode: modeId,
    ...configValues,
    mcpServers: turn.session.mcp.names,
    turns,
  };
  await turn.send(JSON.stringify(self, null, 2));
};

// Lists the tools of the session's MCP servers. A server that fails is named, and the others are still listed.
export const tools: Scenario = async (turn) => {
  const { names } = turn.session.mcp;
  if (names.length === 0) throw new ScenarioFailure('I was given no MCP servers.');
  const lines = await Promise.all(names.map((name) => linesFor(turn, name)));
  turn.signal.throwIfAborted();
  await turn.send(lines.flat().join('\n'));
};

async function linesFor(turn: Turn, name: string): Promise<string[]> {
  try {
    const offered = await turn.session.mcp.listTools(name, turn.signal);
    return offered.map((tool) => `- ${name} ${tool.name}: ${tool.description ?? ''}`);
  } catch (error) {
    if (!(error instanceof ScenarioFailure)) throw error;
    return [`- ${error.message}`];
  }
}
