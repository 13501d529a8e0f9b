// Another thread keeps swapping a directory for a link to the outside: no read returns a secret, no write lands outside.
import { readdirSync, readFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import { createSandbox, SECRET } from './sandbox.ts';

const READS = 1500;
const WRITES = 200; // each waits for the disk

const SWAP = `
  const { renameSync, rmSync, statSync, symlinkSync } = require('node:fs');
  const { workerData: { dir, aside, outside, stop } } = require('node:worker_threads');
  let rounds = 0;
  const stopped = new Int32Array(stop);
  const tryTo = (act) => { try { act(); } catch {} }; // a write may have made the directory anew meanwhile
  while (Atomics.load(stopped, 0) === 0) {
    tryTo(() => renameSync(dir, aside));
    tryTo(() => symlinkSync(outside, dir));
    tryTo(() => rmSync(dir, { recursive: true }));
    tryTo(() => renameSync(aside, dir));
    for (let look = 0; look < rounds % 40; look++) tryTo(() => statSync(dir)); // at rest for a while, and never for the same
    rounds++;
  }`;

function startSwapping({ at }: ReturnType<typeof createSandbox>) {
  const stop = new SharedArrayBuffer(4);
  const workerData = { dir: at('root/sub'), aside: at('root/aside'), outside: at('outside/sub'), stop };
  const worker = new Worker(SWAP, { eval: true, workerData });
  const ended = new Promise((resolve) => worker.once('exit', resolve));
  const end = async () => {
    Atomics.store(new Int32Array(stop), 0, 1);
    await ended;
  };
  onTestFinished(end);
  return { started: new Promise((resolve) => worker.once('online', resolve)), end };
}

// Elsewhere the descriptor has no path, and docs/workspace.md says what that means.
test.runIf(process.platform === 'linux')('reads never return a file outside', { timeout: 60_000 }, async () => {
  const sandbox = createSandbox();
  const { at, read } = sandbox;
  const swapping = startSwapping(sandbox);
  await swapping.started;
  const outcomes = new Map<string, number>();
  for (let tries = 0; tries < READS; tries++) {
    const outcome = await read(at('root/sub/b.txt'));
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  }
  await swapping.end();
  expect(outcomes.get(SECRET)).toBeUndefined();
  expect(outcomes.get('inside')).toBeGreaterThan(0);
  for (const outcome of outcomes.keys()) expect(['inside', 'PATH_OUTSIDE', 'FILE_MISSING', 'FILE_UNUSABLE']).toContain(outcome);
});

test.runIf(process.platform === 'linux')('writes never land outside, and leave no temporary files', { timeout: 60_000 }, async () => {
  const sandbox = createSandbox();
  const { at, write } = sandbox;
  const swapping = startSwapping(sandbox);
  await swapping.started;
  const outcomes = new Map<string, number>();
  // This includes new parent directories, which must not be created outside either.
  for (let tries = 0; tries < WRITES; tries++) {
    const outcome = await write(at('root/sub', tries % 2 === 0 ? 'b.txt' : `new-${tries}/c.txt`), `${tries}`);
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  }
  await swapping.end();
  expect(outcomes.get('{}')).toBeGreaterThan(0);
  expect(readdirSync(at('outside/sub'))).toEqual(['b.txt']);
  expect(readFileSync(at('outside/sub/b.txt'), 'utf8')).toBe(SECRET);
  expect(readdirSync(at('root'), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.tmp'))).toEqual([]);
});
