// The tests' line client: what it takes for silence.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { createPeer } from './peer.ts';

/** Echoes its input; resolves once it has written something. */
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
/** Blocks this process. */
const standStill = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

test('data that arrived while this process was blocked does not count as silence', async () => {
  const peer = await echo(200);
  const received = peer.got('hello');
  peer.notify('hello');
  await new Promise(setImmediate); // it is written
  standStill(600);
  expect((await received).msg).toMatchObject({ method: 'hello' });
});

test('silence is reported, with what was awaited', async () => {
  const peer = await echo(50);
  await expect(peer.got('hello')).rejects.toThrow('cat waited for hello: nothing came within 50 ms');
});
