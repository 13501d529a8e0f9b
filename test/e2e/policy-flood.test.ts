// Thousands of permission requests under a policy: evaluations take turns with the other sessions, and nothing piles up.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';
import { fixture, open, prompt, test } from './harness.ts';

/** POLICY_FLOOD=10000 for the whole flood: 10,000 sessions, 100,000 requests. */
const SESSIONS = Number(process.env.POLICY_FLOOD ?? 50);
const REQUESTS = SESSIONS > 1000 ? 10 : 20;
/** Evaluations that another session waits for: those of a few turns of the event loop, 5 ms each, and not all 1,000. */
const MOST_IN_BETWEEN = 300;
/** Of the proxy's own thread during one turn of another session. The clock would also measure what else the machine does. */
const MOST_CPU_MS = 100;

/** How long the main thread of a process has run, in milliseconds. */
const ranMs = (pid: number): number => Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;

test('an agent that asks thousands of times does not hold up the turns of another', { timeout: 1_200_000 }, async ({ stage }) => {
  const client = await stage.connect(
    { loud: fixture('floods-permissions', 'loud'), well: fixture('well-behaved', 'well') },
    { config: { policy: 'standard', sandbox: 'off' } }, // a contained agent has a process for each session
  );
  const log = path.join(stage.state, 'audit.jsonl');
  const decided = (): number => (existsSync(log) ? readFileSync(log).filter((byte) => byte === 0x0a).length : 0);
  const well = await open(client, stage.cwd, 'well');
  const loud = await Promise.all(Array.from({ length: SESSIONS }, () => open(client, stage.cwd, 'loud')));
  let isOver = false;
  const flood = prompt(client, loud[0]?.id ?? '', String(REQUESTS)).finally(() => {
    isOver = true;
  });
  const inBetween: number[] = [];
  const cpuMs: number[] = [];
  const clockMs: number[] = [];
  const pid = client.child.pid as number;
  while (!isOver) {
    const [before, ranBefore, startedMs] = [decided(), ranMs(pid), performance.now()];
    expect((await prompt(client, well.id, 'hello')).result).toEqual({ stopReason: 'end_turn' });
    clockMs.push(performance.now() - startedMs);
    cpuMs.push(ranMs(pid) - ranBefore);
    inBetween.push(decided() - before);
  }
  const most = (values: readonly number[], share: number) => [...values].sort((a, b) => a - b)[Math.ceil(values.length * share) - 1] ?? 0;
  const shown = [cpuMs, clockMs].map((values) => [0.5, 0.99, 1].map((share) => Math.round(most(values, share))).join(', '));
  process.stdout.write(`flood: ${cpuMs.length} turns, CPU ${shown[0]} ms, clock ${shown[1]} ms (half, 99 %, all within)\n`);
  expect((await flood).result).toEqual({ stopReason: 'end_turn' });
  // Four of five are decided by the policy; the user is asked about the fifth.
  expect(decided()).toBe((SESSIONS * REQUESTS * 4) / 5);
  expect(client.all('session/request_permission')).toHaveLength((SESSIONS * REQUESTS) / 5);
  expect(inBetween.length).toBeGreaterThan(5);
  expect(Math.max(...inBetween)).toBeLessThan(MOST_IN_BETWEEN);
  expect(most(cpuMs, 0.99)).toBeLessThan(MOST_CPU_MS);
});
