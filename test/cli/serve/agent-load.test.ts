// CPU and memory of agent processes, as the console shows them.
import { spawn } from 'node:child_process';
import { expect, test } from 'vitest';
import { agentLoads } from '../../../src/cli/serve/agent-rows.ts';
import type { AgentHealth } from '../../../src/proxy/agents/agent.ts';

test.skipIf(process.platform === 'win32')('CPU use is measured between two calls, and processes that have exited are left out', () => {
  const child = spawn('sleep', ['60']);
  const health = (pid: number | undefined) => ({ pid }) as AgentHealth;
  let now = 0;
  const loads = agentLoads(
    { health: () => ({ busy: health(process.pid), idle: health(child.pid), none: health(undefined), gone: health(2 ** 30) }) },
    () => now,
  );
  try {
    const first = loads();
    expect(first.map(({ id, cpuPercent }) => [id, cpuPercent])).toEqual([
      ['busy', undefined],
      ['idle', undefined],
    ]);
    expect(first[0]?.memoryBytes).toBeGreaterThan(10_000_000);
    const until = performance.now() + 120;
    while (performance.now() < until); // uses the CPU
    now = 1000;
    const [busy, idle] = loads();
    expect(busy?.cpuPercent).toBeGreaterThan(0);
    expect(idle?.cpuPercent).toBe(0);
    now = 100_000;
    expect(loads()[0]?.cpuPercent).toBeUndefined(); // the last sample is too old
  } finally {
    child.kill();
  }
});
