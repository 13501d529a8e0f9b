// An agent that dies in the middle of its work: what its own sessions hear of it, and that nobody else does.
import { expect } from 'vitest';
import { type Client, fixture, open, prompt } from '../e2e/harness.ts';
import { childOf, end, eventually, isAlive, noticed, pidIn, test } from './setup.ts';

const GONE = {
  ...{ agent: 'sick', reason: 'agent_exited', code: 17, signal: null, stderr: ['first line', 'the disk is on fire'] },
  lastFrames: expect.arrayContaining([expect.objectContaining({ dir: 'toAgent', method: 'session/prompt' })]),
};
const QUESTIONS = ['session/request_permission', 'elicitation/create', 'fs/read_text_file'];

test.concurrent('row 4: an agent that dies mid-turn: every request gets one error with all that is known, questions are withdrawn, tool calls closed, and the other agent goes on', async ({
  stage,
}) => {
  const client = await stage.connect({ sick: fixture('crash-mid-turn', 'sick'), well: fixture('well-behaved', 'well') });
  const [busy, dying, idle] = [
    await open(client, stage.cwd, 'sick'),
    await open(client, stage.cwd, 'sick'),
    await open(client, stage.cwd, 'sick'),
  ];
  const well = await open(client, stage.cwd, 'well');
  const counting = prompt(client, well.id, 'count 2000');
  const working = prompt(client, busy.id, 'work', 'working');
  const asked = await Promise.all(QUESTIONS.map((method) => client.got(method)));
  const waiting = client.request('_x/wait', { sessionId: idle.id }, 'waiting');
  const died = prompt(client, dying.id, 'crash', 'dying');

  for (const answer of [await died, await working, await waiting]) {
    expect(answer.error).toMatchObject({ code: -32603 });
    expect(answer.error.message).toMatch(/"sick" exited \(code 17\)/);
    expect(answer.error.data).toEqual(GONE);
  }
  for (const { msg } of asked) await client.got('$/cancel_request', ({ requestId }) => requestId === msg.id);
  expect(client.all('$/cancel_request')).toHaveLength(QUESTIONS.length);

  const closed = client.all('session/update', ({ update }) => update.sessionUpdate === 'tool_call_update' && update.status === 'failed');
  expect(closed.map(({ msg }) => msg.params)).toEqual([
    { sessionId: busy.id, update: { sessionUpdate: 'tool_call_update', toolCallId: 'open', status: 'failed' } },
  ]);
  expect(closed[0]?.index).toBeLessThan(client.answersTo('working')[0]?.index as number);

  // An editor that answers although it was told not to changes nothing.
  for (const { msg } of asked) client.reply(msg, {});
  expect((await counting).result).toEqual({ stopReason: 'end_turn' });
  expect(client.agentText(well.id)).toBe(Array.from({ length: 2000 }, (_, n) => `${n + 1} `).join(''));
  for (const id of ['working', 'dying', 'waiting']) expect(client.answersTo(id)).toHaveLength(1);
  await noticed(client, 'switchboard: Agent "sick" exited (code 17)');
});

test.concurrent('row 4: when very many wait for an agent that dies, each is answered, and the first of them hear of its last frames', async ({
  stage,
}) => {
  const client = await stage.connect({ sick: fixture('crash-mid-turn', 'sick') });
  const { id } = await open(client, stage.cwd);
  const waiting = Array.from({ length: 200 }, () => client.request('_x/wait', { sessionId: id }));
  const died = prompt(client, id, 'crash');
  const told = (await Promise.all([...waiting, died])).map((answer) => answer.error.data);
  for (const data of told) expect(data).toMatchObject({ agent: 'sick', reason: 'agent_exited', code: 17 });
  expect(told.filter((data) => 'lastFrames' in data)).toHaveLength(16);
});

test.concurrent('row 4: the only agent dies: the same answers, and the editor keeps its connection', async ({ stage }) => {
  const client = await stage.connect({ sick: fixture('crash-mid-turn', 'sick') });
  const { id } = await open(client, stage.cwd);
  const working = prompt(client, id, 'work');
  const asked = await Promise.all(QUESTIONS.map((method) => client.got(method)));
  expect((await prompt(client, id, 'crash')).error.data).toEqual(GONE);
  expect((await working).error.data).toEqual(GONE);
  for (const { msg } of asked) await client.got('$/cancel_request', ({ requestId }) => requestId === msg.id);
  expect(client.updates(id, 'tool_call_update').at(-1)).toEqual({
    sessionUpdate: 'tool_call_update',
    toolCallId: 'open',
    status: 'failed',
  });
  expect((await prompt(client, id, 'hello')).result).toEqual({ stopReason: 'end_turn' });
});

test.concurrent('row 4: an agent that is killed: the error names the signal', async ({ stage }) => {
  const client = await stage.connect({ sick: fixture('crash-mid-turn', 'sick'), well: fixture('well-behaved', 'well') });
  const { id } = await open(client, stage.cwd, 'sick');
  const working = prompt(client, id, 'work');
  await client.got('fs/read_text_file');
  end(pidIn(id));
  const { error } = await working;
  expect(error).toMatchObject({ code: -32603, data: { agent: 'sick', reason: 'agent_exited', code: null, signal: 'SIGKILL', stderr: [] } });
  expect(error.message).toContain('SIGKILL');
});

test.concurrent('row 4: a cancelled turn ends cancelled, also when its agent does not live to say so', async ({ stage }) => {
  const client = await stage.connect({ sick: fixture('crash-mid-turn', 'sick') });
  const { id } = await open(client, stage.cwd);
  const working = prompt(client, id, 'work');
  await client.got('fs/read_text_file');
  client.notify('session/cancel', { sessionId: id });
  expect((await prompt(client, id, 'crash')).error.data.code).toBe(17);
  expect((await working).result).toEqual({ stopReason: 'cancelled' });
});

test.concurrent('row 4: with isolation session the process of one session dies alone', async ({ stage }) => {
  const client = await stage.connect({
    apart: { ...fixture('crash-mid-turn', 'apart'), isolation: 'session' },
    well: fixture('well-behaved', 'well'),
  });
  const [one, two] = [await open(client, stage.cwd, 'apart'), await open(client, stage.cwd, 'apart')];
  expect(pidIn(one.id)).not.toBe(pidIn(two.id));
  const working = prompt(client, two.id, 'work', 'working');
  await client.got('fs/read_text_file');
  expect((await prompt(client, one.id, 'crash')).error.data).toEqual({ ...GONE, agent: 'apart' });
  expect((await prompt(client, two.id, 'hello')).result).toEqual({ stopReason: 'end_turn' });
  expect(client.agentText(two.id)).toBe(`workinghello by ${pidIn(two.id)};`);
  expect([client.answersTo('working'), client.all('$/cancel_request')]).toEqual([[], []]);
  end(pidIn(two.id));
  expect((await working).error.data.signal).toBe('SIGKILL');
});

test.concurrent('row 4: what an agent was given as a secret is not in the last words of it that the editor gets', async ({ stage }) => {
  const SECRET = 'canary-5f2a9c71e0';
  const client = await stage.connect({ sick: { ...fixture('crash-mid-turn', 'sick'), env: { SECRET } } });
  const { id } = await open(client, stage.cwd);
  const { error } = await prompt(client, id, 'crash');
  expect(error.data.stderr[1]).toContain('the disk is on fire');
  expect(JSON.stringify(error)).not.toContain(SECRET);
  expect(client.stderr()).not.toContain(SECRET);
});

test.concurrent('row 5: a child that holds stdout open does not keep the end of its agent from the editor, and is ended behind it', async ({
  stage,
}) => {
  const held = { ...fixture('stdout-held-by-grandchild', 'sick'), timeouts: { stop_grace_ms: 3000 } };
  const client = await stage.connect({ sick: held, well: fixture('well-behaved', 'well') });
  const { id } = await open(client, stage.cwd, 'sick');
  const turn = prompt(client, id, 'go');
  const child = await childOf(client, id);
  const { error } = await turn;
  expect(error.data).toMatchObject({ agent: 'sick', reason: 'agent_exited', code: 0, signal: null });
  expect(isAlive(child)).toBe(true); // and holds stdout
  await eventually(() => expect(isAlive(child)).toBe(false));
});

test.concurrent('row 5: what an agent wrote before it exited still arrives, in order, before the error', async ({ stage }) => {
  const client = await stage.connect({ sick: fixture('floods', 'sick', '--exits') });
  const { id } = await open(client, stage.cwd);
  expect((await prompt(client, id, '3000 100', 'last')).result).toEqual({ stopReason: 'end_turn' });
  expect(numbersSaid(client, id)).toEqual(Array.from({ length: 3000 }, (_, n) => n));
});

const numbersSaid = (client: Client, id: string): number[] =>
  client.updates(id, 'agent_message_chunk').map(({ content }) => Number.parseInt(content.text, 10));

test.concurrent('row 8: a whole last line without its line feed still counts', async ({ stage }) => {
  const client = await stage.connect({ sick: fixture('half-line-then-exit', 'sick') });
  const { id } = await open(client, stage.cwd);
  expect((await prompt(client, id, 'whole')).result).toEqual({ stopReason: 'end_turn' });
});

test.concurrent('row 8: half a last line is skipped, and the waiting request hears of the end of its agent', async ({ stage }) => {
  const client = await stage.connect({ sick: fixture('half-line-then-exit', 'sick') });
  const { id } = await open(client, stage.cwd);
  const { error } = await prompt(client, id, 'half', 'half');
  expect(error.data).toMatchObject({ agent: 'sick', reason: 'agent_exited', code: 0 });
  expect(client.answersTo('half')).toHaveLength(1);
  expect(client.seen.filter(({ msg }) => msg === undefined)).toEqual([]);
  await noticed(client, 'a line from agent "sick" was skipped');
});
