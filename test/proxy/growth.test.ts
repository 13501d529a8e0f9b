// Memory that a peer could fill: whatever waits or is remembered for it has an end.
import { expect, test } from 'vitest';
import { open, prompt, UNANSWERED } from '../e2e/harness.ts';
import { connectInProcess, createActor } from '../faults/in-process.ts';
import { able, CWD, chunk, connected, connection, end } from './actors.ts';

/** Of the connection in these tests, both for a frame and for what waits. */
const MAX_BYTES = 1 << 20;

test('what waits behind a load is limited: beyond it requests are refused by name, and those before it go on', async () => {
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

test('what comes before initialize is answered is limited too, and all of it is answered afterwards', async () => {
  const actor = createActor('only');
  actor.on('initialize', () => UNANSWERED);
  actor.on('_vendor/do', () => ({}));
  const { client } = connectInProcess({ agents: { only: { command: 'only' } }, launch: actor.launch });
  const greeting = client.request('initialize', { protocolVersion: 1 });
  const asked = await actor.got('initialize');
  const requests = Array.from({ length: 4 }, () => client.request('_vendor/do', { fill: 'w'.repeat(MAX_BYTES * 0.3) }));
  actor.reply(asked.msg, { protocolVersion: 1, agentCapabilities: {} });
  await greeting;
  for (const answer of await Promise.all(requests)) expect(answer.result).toEqual({});
});

test('an agent that speaks of ever new sessions of its own is heard, and only the last of them are remembered', async () => {
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

test('/agent on a session whose agent has died is answered without starting that agent again', async () => {
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
