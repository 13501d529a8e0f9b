// Memory and processor time of process trees.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { usageOf } from '../../src/processes/usage.ts';

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
