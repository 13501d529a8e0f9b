// Memory that a peer could fill: every queue and cache for it is bounded.
import { expect, test } from 'vitest';
import { open, prompt, UNANSWERED } from '../e2e/harness.ts';
import { connectInProcess, createActor } from '../faults/in-process.ts';
import { able, CWD, chunk, connected, connection, end } from './actors.ts';

/** The limit of the connection in these tests, for a frame and for a queue. */
const MAX_BYTES = 1 << 20;

test('the queue behind a load is bounded: further requests are refused by name, and earlier ones continue', async () => {
  const [left, right] = [able('left'), able('right')];
  const client = await connected([left, right]);
  const { id } = await open(client, CWD, 'left');
  left.on('session/load', () => UNANSWERED);
  void client.request('session/load', { sessionId: id, cwd: CWD, mcpServers: [] });
  const asked = await left.got('session/load');
  const long = 'w'.repeat(MAX_BYTES * 0.6);
  const [first, second] = [prompt(client, id, long), prompt(client, id, long)];
  expect((await second).error).toMatchObject({
    code: -32603,
    message: expect.stringContaining('limits.max_queue_bytes'),
    data: { agent: 'left' },
  });
  left.reply(asked.msg, {});
  expect((await first).result).toEqual(end);
});

test('the queue before initialize is answered is bounded too, and all requests get an answer', async () => {
  const actor = createActor('only');
  actor.on('initialize', () => UNANSWERED);
  actor.on('_vendor/do', () => ({}));
  const { client } = connectInProcess({ agents: { only: { command: 'only' } }, launch: actor.launch });
  const initialized = client.request('initialize', { protocolVersion: 1 });
  const asked = await actor.got('initialize');
  const requests = Array.from({ length: 4 }, () => client.request('_vendor/do', { fill: 'w'.repeat(MAX_BYTES * 0.3) }));
  actor.reply(asked.msg, { protocolVersion: 1, agentCapabilities: {} });
  await initialized;
  for (const answer of await Promise.all(requests)) expect(answer.result).toEqual({});
});

test('an agent that announces ever new sessions is served, and only the latest are remembered', async () => {
  const [left, right] = [able('left'), able('right')];
  const made = await connection([left, right]);
  const { id } = await open(made.client, CWD, 'left');
  let heard = 0;
  made.client.sift((line) => line.includes('"own-') && heard++ >= 0);
  for (let n = 0; n < 10_100; n++) left.notify('session/update', { sessionId: `own-${n}`, update: chunk('hello') });
  expect((await prompt(made.client, id, 'hello')).result).toEqual(end);
  expect(heard).toBe(10_100);
  expect(made.connection.health().left?.sessions).toBe(10_000);
});

test('/agent on a session whose agent has died is answered without a restart of that agent', async () => {
  const [left, right] = [able('left'), able('right')];
  const client = await connected([left, right]);
  const { id } = await open(client, CWD, 'left');
  left.exit({ kind: 'exited', code: 1, signal: null });
  expect((await prompt(client, id, '/agent')).result).toEqual(end);
  expect((await prompt(client, id, '/agent right')).result).toEqual(end);
  expect(client.agentText(id)).toMatch(/agent is left\..*agent is now right\./s);
  expect(left.all('initialize')).toHaveLength(1);
  expect((await prompt(client, id, 'hello')).result).toEqual(end);
  expect(client.agentText(id)).toContain('right heard hello');
});
