// One daemon with very many network clients.
import { once } from 'node:events';
import path from 'node:path';
import { expect } from 'vitest';
import { connectSocket, createToken, type Daemon, type SocketClient, startDaemon } from '../e2e/daemon.ts';
import { open, prompt, type Stage, test } from '../e2e/harness.ts';

const light = { command: 'sh', args: [path.resolve(import.meta.dirname, '../fixtures/light-agent.sh')] };
/** A principal may have 256 connections. */
const PER_TOKEN = 250;

async function connectMany(stage: Stage, daemon: Daemon, count: number, name = 'crowd'): Promise<SocketClient[]> {
  const tokens = Array.from({ length: Math.ceil(count / PER_TOKEN) }, (_, n) => createToken(stage, `${name}${n}`));
  const clients: SocketClient[] = [];
  for (let from = 0; from < count; from += 50) {
    const some = Array.from({ length: Math.min(50, count - from) }, (_, n) => tokens[Math.floor((from + n) / PER_TOKEN)] as string);
    clients.push(...(await Promise.all(some.map((token) => connectSocket(daemon, token)))));
  }
  return clients;
}
/** Collects the daemon's garbage; resolves to the heap that remains. */
async function heapBytes({ child, stderr }: Daemon): Promise<number> {
  const from = stderr().length;
  child.kill('SIGUSR2');
  for (;;) {
    const found = /heap: (\d+)\n/.exec(stderr().slice(from))?.[1];
    if (found !== undefined) return Number(found);
    await once(child.stderr as NodeJS.ReadableStream, 'data');
  }
}

test.runIf(process.platform !== 'win32')(
  '1,000 idle clients take 30 kB each at most, start no agent, and another client is served',
  async ({ stage }) => {
    const node = ['--expose-gc', '--require', path.resolve(import.meta.dirname, '../fixtures/report-heap.cjs')];
    const daemon = await startDaemon(stage, { light }, { node });
    await connectMany(stage, daemon, 50, 'first'); // code and tables that all clients share
    const before = await heapBytes(daemon);
    await connectMany(stage, daemon, 1000);
    const perClient = ((await heapBytes(daemon)) - before) / 1000;
    const one = await connectSocket(daemon, createToken(stage, 'ann'));
    const { id } = await open(one, stage.cwd);
    expect((await prompt(one, id, 'hello')).result.stopReason).toBe('end_turn');
    expect(perClient).toBeGreaterThan(1000); // it was measured
    expect(perClient).toBeLessThan(30 * 1024);
  },
);

test('200 clients that prompt at once get their own answers', async ({ stage }) => {
  const daemon = await startDaemon(stage, { light: { ...light, isolation: 'session' } }); // it can hold only one session
  const clients = await connectMany(stage, daemon, 200);
  const sessions = await Promise.all(clients.map((client) => open(client, stage.cwd)));
  expect(new Set(sessions.map(({ id }) => id)).size).toBe(200);
  const answers = await Promise.all(clients.map((client, n) => prompt(client, sessions[n]?.id ?? '', `question ${n}`)));
  expect(answers.map(({ result }) => result?.stopReason)).toEqual(Array(200).fill('end_turn'));
  for (const [n, client] of clients.entries()) {
    const own = sessions[n]?.id ?? '';
    expect(client.agentText(own)).toBe(`done by ${own.replace('light-', '')}`);
    expect(client.all('session/update').every(({ msg }) => msg.params.sessionId === own)).toBe(true);
  }
});
