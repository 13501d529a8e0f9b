// Too much at once, from one side or for a side that does not read: slowed down, limited, and kept from everybody else.
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { type Client, fixture, type Json, open, prompt, rssMb } from '../e2e/harness.ts';
import { contentOf, eventually, isAlive, pidIn, test } from './setup.ts';

const numbersIn = (client: Client, id: string): number[] =>
  client.updates(id, 'agent_message_chunk').map(({ content }) => Number.parseInt(content.text, 10));
const upTo = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

test('row 21: a client that stops reading blocks the agents, in bounded memory, and then gets everything in order', async ({ stage }) => {
  const client = await stage.connect({ loud: fixture('floods', 'loud'), well: fixture('well-behaved', 'well') });
  const [{ id }, well] = [await open(client, stage.cwd, 'loud'), await open(client, stage.cwd, 'well')];
  await prompt(client, id, '100 100000');
  const before = rssMb(client.child.pid as number);
  client.child.stdout.pause();
  const turn = prompt(client, id, '1500 100000');
  const written = await settled(() => contentOf(path.join(stage.dir, 'loud.written')));
  expect(Number(written)).toBeLessThan(300); // of 1500: the agent waits
  expect(rssMb(client.child.pid as number) - before).toBeLessThan(60);
  const counting = prompt(client, well.id, 'count 20');
  client.child.stdout.resume();
  expect((await turn).result).toEqual({ stopReason: 'end_turn' });
  expect(numbersIn(client, id).slice(100)).toEqual(upTo(1500));
  expect((await counting).result).toEqual({ stopReason: 'end_turn' });
});

/** The value once it has stopped changing. */
async function settled(look: () => string): Promise<string> {
  for (let last = look(), same = 0; ; last = look()) {
    await delay(50);
    same = last !== '' && look() === last ? same + 1 : 0;
    if (same === 8) return last;
  }
}

test.concurrent('row 21: an agent that answers and exits while the client does not read loses nothing', async ({ stage }) => {
  const client = await stage.connect({ loud: fixture('floods', 'loud'), brief: fixture('floods', 'brief', '--exits') });
  const [loud, brief] = [await open(client, stage.cwd, 'loud'), await open(client, stage.cwd, 'brief')];
  client.child.stdout.pause();
  const flood = prompt(client, loud.id, '300 10000');
  await settled(() => contentOf(path.join(stage.dir, 'loud.written')));
  const turn = prompt(client, brief.id, '20 100');
  await eventually(() => expect(isAlive(pidIn(brief.id))).toBe(false));
  await delay(500); // twice as long as an agent's last output is awaited
  client.child.stdout.resume();
  expect((await flood).result).toEqual({ stopReason: 'end_turn' });
  expect((await turn).result).toEqual({ stopReason: 'end_turn' });
  expect(numbersIn(client, brief.id)).toEqual(upTo(20));
});

test.concurrent('row 21: an agent that stops reading is ended when its queue is full, with one answer for each request, and nobody else is affected', async ({
  stage,
}) => {
  const stalled = { ...fixture('stops-reading', 'stalled'), timeouts: { stop_grace_ms: 200 } };
  const client = await stage.connect(
    { stalled, well: fixture('well-behaved', 'well') },
    { config: { limits: { max_queue_bytes: 1 << 20 } } },
  );
  const [{ id }, well] = [await open(client, stage.cwd, 'stalled'), await open(client, stage.cwd, 'well')];
  const counting = prompt(client, well.id, 'count 500');
  const turn = prompt(client, id, 'stall', 'stall');
  await client.until((msg) => msg.params?.update?.content?.text === 'stalled;');
  const filling = upTo(20).map((n) => client.request('_x/fill', { sessionId: id, fill: 'f'.repeat(200_000) }, `fill-${n}`));
  const { error } = await turn;
  expect(error).toMatchObject({ code: -32603, data: { agent: 'stalled', reason: 'queue_full' } });
  expect(error.message).toMatch(/"stalled" was stopped: it does not read its input.*max_queue_bytes \(1048576\)/);
  for (const answer of await Promise.all(filling)) expect(answer.error).toBeDefined();
  for (const n of upTo(20)) expect(client.answersTo(`fill-${n}`)).toHaveLength(1);
  expect((await counting).result).toEqual({ stopReason: 'end_turn' });
  expect(client.agentText(well.id).trim().split(' ')).toHaveLength(500);
  await eventually(() => expect(isAlive(pidIn(id))).toBe(false));
  expect((await prompt(client, id, 'back')).result).toEqual({ stopReason: 'end_turn' });
});

test.concurrent('row 24: an agent that floods is slowed and loses nothing, and the sessions of another are served meanwhile', async ({
  stage,
}) => {
  const client = await stage.connect({ loud: fixture('floods', 'loud'), well: fixture('well-behaved', 'well') });
  const [{ id }, well] = [await open(client, stage.cwd, 'loud'), await open(client, stage.cwd, 'well')];
  const flood = prompt(client, id, '20000 300', 'flood');
  await client.until((msg) => msg.params?.sessionId === id && msg.params.update?.sessionUpdate === 'agent_message_chunk');
  for (const _ of upTo(5)) expect((await prompt(client, well.id, 'hello')).result).toEqual({ stopReason: 'end_turn' });
  expect((await flood).result).toEqual({ stopReason: 'end_turn' });
  expect(numbersIn(client, id)).toEqual(upTo(20000));
});

test.concurrent('row 24: 32 permission requests of an agent reach the user at once; the others are refused, and later ones pass again', async ({
  stage,
}) => {
  const client = await stage.connect({ curious: fixture('asks-forever', 'curious'), well: fixture('well-behaved', 'well') });
  const [{ id }, other] = [await open(client, stage.cwd, 'curious'), await open(client, stage.cwd, 'curious')];
  const turn = prompt(client, id, '40');
  // The limit is per session: another session of the same agent may still ask.
  const elsewhere = prompt(client, other.id, '1');
  const { msg } = await client.got('session/request_permission', ({ sessionId }) => sessionId === other.id);
  expect(client.all('session/request_permission', ({ sessionId }) => sessionId === id)).toHaveLength(32);
  answerAll(client);
  client.reply(msg, { outcome: { outcome: 'selected', optionId: 'yes' } });
  expect([(await turn).result, (await elsewhere).result]).toEqual([{ stopReason: 'end_turn' }, { stopReason: 'end_turn' }]);
  const answers: Json[] = JSON.parse(client.agentText(id));
  expect(answers.filter(({ outcome }) => outcome?.optionId === 'yes')).toHaveLength(32);
  const refusals = answers.filter(({ error }) => error);
  expect(refusals).toHaveLength(8);
  expect(refusals[0].error).toMatchObject({
    code: -32603,
    message: expect.stringContaining('Too many permission requests are open in this session (limit 32)'),
  });

  client.on('session/request_permission', () => ({ outcome: { outcome: 'selected', optionId: 'yes' } }));
  expect((await prompt(client, id, '20')).result).toEqual({ stopReason: 'end_turn' });
  expect(client.agentText(id)).not.toMatch(/\]\[.*error/);
});

function answerAll(client: Client): void {
  for (const { msg } of client.all('session/request_permission')) client.reply(msg, { outcome: { outcome: 'selected', optionId: 'yes' } });
}

test.concurrent('row 24: a session has 64 terminals at most, and a released one makes room for another', async ({ stage }) => {
  const client = await stage.connect({ busy: fixture('opens-many-terminals', 'busy'), well: fixture('well-behaved', 'well') });
  const { id } = await open(client, stage.cwd, 'busy');
  let opened = 0;
  client.on('terminal/create', () => ({ terminalId: `t${opened++}` }));
  client.on('terminal/release', () => ({}));
  const outcomes = async (text: string): Promise<string[]> => {
    const from = client.agentText(id).length;
    expect((await prompt(client, id, text)).result).toEqual({ stopReason: 'end_turn' });
    return JSON.parse(client.agentText(id).slice(from));
  };
  const first = await outcomes('70');
  expect(first.slice(0, 64)).toEqual(Array(64).fill('opened'));
  expect(first.slice(64)).toEqual(Array(6).fill(expect.stringContaining('Too many terminals are open in this session (limit 64)')));
  expect(opened).toBe(64);
  await outcomes('release');
  expect(await outcomes('2')).toEqual(['opened', expect.stringContaining('Too many terminals are open in this session (limit 64)')]);
});
