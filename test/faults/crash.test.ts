// An agent that dies in mid-turn: what its own sessions get, and that nobody else is affected.
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { type Client, fixture, open, prompt } from '../e2e/harness.ts';
import { childOf, end, eventually, isAlive, noticed, pidIn, test } from './setup.ts';

const EXIT_DATA = {
  ...{ agent: 'sick', reason: 'agent_exited', code: 17, signal: null, stderr: ['first line', 'the disk is on fire'], retryable: true },
  lastFrames: expect.arrayContaining([expect.objectContaining({ dir: 'toAgent', method: 'session/prompt' })]),
};
const REQUESTS = ['session/request_permission', 'elicitation/create', 'fs/read_text_file'];

test.concurrent('row 4: an agent that dies mid-turn: every request gets one error with all that is known, requests are cancelled, tool calls closed, and the other agent continues', async ({
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
  const received = await Promise.all(REQUESTS.map((method) => client.got(method)));
  const waiting = client.request('_x/wait', { sessionId: idle.id }, 'waiting');
  const died = prompt(client, dying.id, 'crash', 'dying');

  for (const answer of [await died, await working, await waiting]) {
    expect(answer.error).toMatchObject({ code: -32603 });
    expect(answer.error.message).toMatch(/"sick" exited \(code 17\)/);
    expect(answer.error.data).toEqual(EXIT_DATA);
  }
  for (const { msg } of received) await client.got('$/cancel_request', ({ requestId }) => requestId === msg.id);
  expect(client.all('$/cancel_request')).toHaveLength(REQUESTS.length);

  const closed = client.all('session/update', ({ update }) => update.sessionUpdate === 'tool_call_update' && update.status === 'failed');
  expect(closed.map(({ msg }) => msg.params)).toEqual([
    { sessionId: busy.id, update: { sessionUpdate: 'tool_call_update', toolCallId: 'open', status: 'failed' } },
  ]);
  expect(closed[0]?.index).toBeLessThan(client.answersTo('working')[0]?.index as number);

  // A client that answers a cancelled request changes nothing.
  for (const { msg } of received) client.reply(msg, {});
  expect((await counting).result).toEqual({ stopReason: 'end_turn' });
  expect(client.agentText(well.id)).toBe(Array.from({ length: 2000 }, (_, n) => `${n + 1} `).join(''));
  for (const id of ['working', 'dying', 'waiting']) expect(client.answersTo(id)).toHaveLength(1);
  await noticed(client, 'switchboard: Agent "sick" exited (code 17)');
});

test.concurrent('row 4: when very many requests wait for an agent that dies, each is answered, and the first ones include its last frames', async ({
  stage,
}) => {
  const client = await stage.connect({ sick: fixture('crash-mid-turn', 'sick') });
  const { id } = await open(client, stage.cwd);
  const waiting = Array.from({ length: 200 }, () => client.request('_x/wait', { sessionId: id }));
  const died = prompt(client, id, 'crash');
  const failures = (await Promise.all([...waiting, died])).map((answer) => answer.error.data);
  for (const data of failures) expect(data).toMatchObject({ agent: 'sick', reason: 'agent_exited', code: 17 });
  expect(failures.filter((data) => 'lastFrames' in data)).toHaveLength(16);
});

test.concurrent('row 4: the only agent dies: the same answers, and the client keeps its connection', async ({ stage }) => {
  const client = await stage.connect({ sick: fixture('crash-mid-turn', 'sick') });
  const { id } = await open(client, stage.cwd);
  const working = prompt(client, id, 'work');
  const received = await Promise.all(REQUESTS.map((method) => client.got(method)));
  expect((await prompt(client, id, 'crash')).error.data).toEqual(EXIT_DATA);
  expect((await working).error.data).toEqual(EXIT_DATA);
  for (const { msg } of received) await client.got('$/cancel_request', ({ requestId }) => requestId === msg.id);
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

test.concurrent('row 4: the error of a killed agent does not quote what the agent logged before, as if it were the reason', async ({
  stage,
}) => {
  const client = await stage.connect({ sick: fixture('crash-mid-turn', 'sick') });
  const { id } = await open(client, stage.cwd);
  const working = prompt(client, id, 'log');
  await client.got('session/update', ({ update }) => update.sessionUpdate === 'agent_message_chunk');
  end(pidIn(id));
  const { error } = await working;
  expect(error.message).toContain('"sick" exited (signal SIGKILL) before answering');
  expect(error.message).not.toContain('last output');
  expect(error.data.stderr).toEqual(['loaded 3 plugins']);
  expect(`${error.message}${client.stderr()}`).not.toContain('loaded 3 plugins');
});

test.concurrent('row 4: the error of an agent that exits does not quote what the agent logged more than a second before', async ({
  stage,
}) => {
  const client = await stage.connect({ sick: fixture('crash-mid-turn', 'sick') });
  const { id } = await open(client, stage.cwd);
  const working = prompt(client, id, 'log');
  await client.got('session/update', ({ update }) => update.sessionUpdate === 'agent_message_chunk');
  await delay(1500); // longer than the time in which a line counts as the agent's last output
  const { error } = await prompt(client, id, 'exit');
  expect(error.message).toContain('"sick" exited (code 3) before answering. ');
  expect((await working).error.data.stderr).toEqual(['loaded 3 plugins']);
});

test.concurrent('row 4: a cancelled turn ends cancelled, even when its agent dies first', async ({ stage }) => {
  const client = await stage.connect({ sick: fixture('crash-mid-turn', 'sick') });
  const { id } = await open(client, stage.cwd);
  const working = prompt(client, id, 'work');
  await client.got('fs/read_text_file');
  client.notify('session/cancel', { sessionId: id });
  expect((await prompt(client, id, 'crash')).error.data.code).toBe(17);
  expect((await working).result).toEqual({ stopReason: 'cancelled' });
});

test.concurrent('row 4: with isolation session, a dying process affects only its session', async ({ stage }) => {
  const client = await stage.connect({
    apart: { ...fixture('crash-mid-turn', 'apart'), isolation: 'session', while_running: 'pass' },
    well: fixture('well-behaved', 'well'),
  });
  const [one, two] = [await open(client, stage.cwd, 'apart'), await open(client, stage.cwd, 'apart')];
  expect(pidIn(one.id)).not.toBe(pidIn(two.id));
  const working = prompt(client, two.id, 'work', 'working');
  await client.got('fs/read_text_file');
  expect((await prompt(client, one.id, 'crash')).error.data).toEqual({ ...EXIT_DATA, agent: 'apart' });
  expect((await prompt(client, two.id, 'hello')).result).toEqual({ stopReason: 'end_turn' });
  expect(client.agentText(two.id)).toBe(`workinghello by ${pidIn(two.id)};`);
  expect([client.answersTo('working'), client.all('$/cancel_request')]).toEqual([[], []]);
  end(pidIn(two.id));
  expect((await working).error.data.signal).toBe('SIGKILL');
});

test.concurrent("row 4: the agent's stderr in the error contains none of its secrets", async ({ stage }) => {
  const SECRET = 'canary-5f2a9c71e0';
  const client = await stage.connect({ sick: { ...fixture('crash-mid-turn', 'sick'), env: { SECRET } } });
  const { id } = await open(client, stage.cwd);
  const { error } = await prompt(client, id, 'crash');
  expect(error.data.stderr[1]).toContain('the disk is on fire');
  expect(JSON.stringify(error)).not.toContain(SECRET);
  expect(client.stderr()).not.toContain(SECRET);
});

test.concurrent("row 5: a child that holds stdout open does not hide its agent's exit from the client, and is ended afterwards", async ({
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

test.concurrent('row 5: frames that an agent wrote before it exited still arrive, in order, before the error', async ({ stage }) => {
  const client = await stage.connect({ sick: fixture('floods', 'sick', '--exits') });
  const { id } = await open(client, stage.cwd);
  expect((await prompt(client, id, '3000 100', 'last')).result).toEqual({ stopReason: 'end_turn' });
  expect(numbersIn(client, id)).toEqual(Array.from({ length: 3000 }, (_, n) => n));
});

const numbersIn = (client: Client, id: string): number[] =>
  client.updates(id, 'agent_message_chunk').map(({ content }) => Number.parseInt(content.text, 10));

test.concurrent('row 8: a complete last line without its line feed still counts', async ({ stage }) => {
  const client = await stage.connect({ sick: fixture('half-line-then-exit', 'sick') });
  const { id } = await open(client, stage.cwd);
  expect((await prompt(client, id, 'whole')).result).toEqual({ stopReason: 'end_turn' });
});

test.concurrent('row 8: half a last line is skipped, and the waiting request gets the exit of its agent', async ({ stage }) => {
  const client = await stage.connect({ sick: fixture('half-line-then-exit', 'sick') });
  const { id } = await open(client, stage.cwd);
  const { error } = await prompt(client, id, 'half', 'half');
  expect(error.data).toMatchObject({ agent: 'sick', reason: 'agent_exited', code: 0 });
  expect(client.answersTo('half')).toHaveLength(1);
  expect(client.seen.filter(({ msg }) => msg === undefined)).toEqual([]);
  await noticed(client, 'a line from agent "sick" was skipped');
});
