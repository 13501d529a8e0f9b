// Recorded frames, damaged byte by byte, through the whole connection: from a client and from an agent.
import { afterAll, describe, expect, test } from 'vitest';
import { createFuzzBench, type FuzzBench } from './fuzz-bench.ts';
import { mutate, requestIdIn } from './mutate.ts';
import type { SimSource } from './pipe.ts';
import { type Random, seeded } from './random.ts';
import { readTraces } from './traces.ts';

const { fromClient, fromAgent } = readTraces();

const BATCHES = 60;
const BATCH = 100;
const AGENTS = ['alpha', 'beta'] as const;
let fed = 0;
let agentRequest = 0;

afterAll(() => {
  process.stdout.write(`fuzz: ${count(fed)} damaged frames through the whole connection, ${count(agentRequest)} of them still requests\n`);
});
const count = (total: number) => total.toLocaleString('en-US');

describe('damaged frames', () => {
  test.each([
    { agents: 1, seed: 1 },
    { agents: 2, seed: 2 },
  ])('of a client disturb nobody, with $agents agents', async ({ agents, seed }) => {
    const random = seeded(seed);
    const play = await begun(random, AGENTS.slice(0, agents));
    for (let batch = 0; batch < BATCHES; batch++) {
      for (let left = BATCH; left > 0; left--) {
        // Most of them for existing sessions, so that they get far.
        const sessionId = random.pick([...play.sessions.values(), ...play.sessions.values(), 'nowhere']);
        feed(play, play.bench.client, inSession(random.pick(fromClient), sessionId), random.pick(fromClient));
      }
      await isWell(play);
    }
    await end(play);
  });

  test.each([
    { agents: 1, seed: 3 },
    { agents: 2, seed: 4 },
  ])('of an agent disturb nobody, with $agents agents', async ({ agents, seed }) => {
    const random = seeded(seed);
    const play = await begun(random, AGENTS.slice(0, agents));
    for (let batch = 0; batch < BATCHES; batch++) {
      for (let left = BATCH; left > 0; left--) {
        const agent = random.pick([...play.sessions.keys()]);
        // Sometimes with the session id of another agent.
        const sessionId = random.pick([...play.sessions.values(), 'session-of-beta-2', 'one-of-its-own']);
        const line = inSession(random.pick(fromAgent), sessionId).replace('"jsonrpc":"2.0"', `"jsonrpc":"2.0","_from":"@${agent}"`);
        const source = play.bench.source(agent);
        if (source) feed(play, source, line, random.pick(fromAgent));
      }
      await isWell(play);
    }
    await end(play);
  });
});

type Play = {
  readonly random: Random;
  readonly bench: FuzzBench;
  /** The session that each agent is prompted in. */
  readonly sessions: Map<string, string>;
  /** Ids of lines that are still requests: each must be answered, and once. */
  readonly owed: Set<string>;
  agentRequest: number;
};

const inSession = (line: string, sessionId: string): string => line.replace(/"sessionId":"[^"]*"/, `"sessionId":"${sessionId}"`);

function feed({ random, bench, owed }: Play, to: SimSource, line: string, other: string): void {
  // Long enough that no damage turns it into another line's.
  const id = `"line ${++fed} ${(fed * 7919) % 999_983}"`;
  const named = line.replace(/"id":(?:\d+|"[^"]*")/, `"id":${id}`);
  const damaged = mutate(random, Buffer.from(named), Buffer.from(other));
  if (requestIdIn(damaged) === id) {
    owed.add(id);
    agentRequest++;
  }
  to.send(Buffer.concat([damaged, Buffer.from('\n')]));
  if (!random.chance(0.3)) return;
  try {
    to.deliver(random.pick([1, 7, 200, 1_000_000]));
  } catch (error) {
    bench.problems.push(`${damaged.toString('utf8')}: ${String((error as Error).stack)}`);
  }
}

async function begun(random: Random, names: readonly string[]): Promise<Play> {
  const play: Play = { random, bench: createFuzzBench(names), sessions: new Map(), owed: new Set(), agentRequest: 0 };
  await ask(play, 'initialize', { protocolVersion: 1, clientCapabilities: {} });
  for (const agent of names) await open(play, agent);
  return play;
}

async function open(play: Play, agent: string): Promise<void> {
  const answer = await ask(play, 'session/new', { cwd: '/w', mcpServers: [], _meta: { 'acp-switchboard': { agent } } });
  const sessionId = answer?.result?.sessionId;
  if (typeof sessionId === 'string') play.sessions.set(agent, sessionId);
}

/** A request of our own, which must be answered once whatever passed before it. */
async function ask(play: Play, method: string, params: unknown) {
  const id = `"ask ${++play.agentRequest}"`;
  const { client, answers } = play.bench;
  client.send(Buffer.from(`{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${JSON.stringify(params)}}\n`));
  await untilAnswered(play, [id]);
  expect(answers.get(id)).toHaveLength(1);
  return answers.get(id)?.[0];
}

async function untilAnswered({ bench }: Play, agentRequest: Iterable<string>): Promise<void> {
  const ids = [...agentRequest];
  const { clock, answers } = bench;
  await bench.settle();
  for (let left = 200; left > 0 && clock.nextAtMs() !== undefined && ids.some((id) => !answers.has(id)); left--) {
    clock.fireNext();
    await bench.settle();
  }
}

/** Every request has its one response, nothing went to the wrong place, and each agent still responds. */
async function isWell(play: Play): Promise<void> {
  const { bench, owed, sessions } = play;
  bench.client.send(Buffer.from('\n')); // the line before may have lost its own
  await untilAnswered(play, owed);
  expect(bench.problems).toEqual([]);
  expect([...owed].filter((id) => bench.answers.get(id)?.length !== 1)).toEqual([]);
  owed.clear();
  for (const [agent, sessionId] of sessions) {
    const answer = await ask(play, 'session/prompt', { sessionId, prompt: [{ type: 'text', text: 'still there?' }] });
    // Closed, deleted or lost on the way: the next frames need a session again.
    if (answer?.error !== undefined) await open(play, agent);
  }
}

async function end({ bench }: Play): Promise<void> {
  bench.client.end();
  await bench.settle();
  let hasStopped = false;
  void bench.connection.stop().then(() => {
    hasStopped = true;
  });
  for (let left = 200; left > 0 && !hasStopped; left--) {
    await bench.settle();
    if (!hasStopped) bench.clock.fireNext();
  }
  expect(hasStopped).toBe(true);
  expect(bench.clock.pending('proxy')).toBe(0);
}
