// The line client of the tests: what it takes for silence.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { createPeer } from './peer.ts';

/** Says what it is told; there once it has said something. */
async function echo(patienceMs: number) {
  const child = spawn('cat', { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill());
  const there = once(child.stdout, 'data');
  child.stdin.write('{"method":"there"}\n');
  await there;
  const peer = createPeer('cat', patienceMs);
  peer.attach(child.stdout, child.stdin);
  return peer;
}
/** Nothing of this process runs meanwhile. */
const standStill = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

test('what has come while this process stood still is no silence', async () => {
  const peer = await echo(200);
  const heard = peer.got('hello');
  peer.notify('hello');
  await new Promise(setImmediate); // it is written
  standStill(600);
  expect((await heard).msg).toMatchObject({ method: 'hello' });
});

test('silence is told of, with what was waited for', async () => {
  const peer = await echo(50);
  await expect(peer.got('hello')).rejects.toThrow('cat waited for hello: nothing came within 50 ms');
});
