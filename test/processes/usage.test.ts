// Memory and processor time of process trees.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { fromPs, usageOf } from '../../src/processes/usage.ts';

test.skipIf(process.platform === 'win32')('a tree is counted with its children, and an exited one is missing', async () => {
  const child = spawn('sh', ['-c', 'sleep 60 & echo ready; wait'], { detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
  const pid = child.pid as number;
  try {
    await once(child.stdout, 'data');
    const all = usageOf([pid, process.pid]);
    expect(all.get(pid)?.processes).toBe(2);
    expect(all.get(pid)?.memoryBytes).toBeGreaterThan(100_000);
    expect(all.get(process.pid)?.cpuMs).toBeGreaterThan(0);
  } finally {
    process.kill(-pid, 'SIGKILL');
  }
  await once(child, 'close');
  expect(usageOf([pid]).size).toBe(0);
});

test('the output of ps is parsed: times with days and with hundredths', () => {
  const rows = fromPs('  12     1   12  3400   1-02:03:04\n  13 12 12 100 0:01.50\nnot a line\n');
  expect(rows.map(({ pid, parent, group, cpuMs, memoryBytes }) => [pid, parent, group, cpuMs, memoryBytes()])).toEqual([
    [12, 1, 12, 93_784_000, 3_481_600],
    [13, 12, 12, 1500, 102_400],
  ]);
});
