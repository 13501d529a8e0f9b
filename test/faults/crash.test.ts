// An agent that dies in the middle of its work: what its own sessions hear of it, and that nobody else does.
import { expect } from 'vitest';
import { type Editor, fixture, open, prompt } from '../e2e/harness.ts';
import { childOf, end, eventually, isAlive, noticed, pidIn, test } from './setup.ts';

const GONE = {
  ...{ agent: 'sick', reason: 'agent_exited', code: 17, signal: null, stderr: ['first line', 'the disk is on fire'] },
  lastFrames: expect.arrayContaining([expect.objectContaining({ dir: 'toAgent', method: 'session/prompt' })]),
};
const QUESTIONS = ['session/request_permission', 'elicitation/create', 'fs/read_text_file'];

test.concurrent('row 4: an agent that dies mid-turn: every request gets one error with all that is known, questions are withdrawn, tool calls closed, and the other agent goes on', async ({
  stage,
}) => {
  const editor = await stage.connect({ sick: fixture('crash-mid-turn', 'sick'), well: fixture('works', 'well') });
  const [busy, dying, idle] = [
    await open(editor, stage.cwd, 'sick'),
    await open(editor, stage.cwd, 'sick'),
    await open(editor, stage.cwd, 'sick'),
  ];
  const well = await open(editor, stage.cwd, 'well');
  const counting = prompt(editor, well.id, 'count 2000');
  const working = prompt(editor, busy.id, 'work', 'working');
  const asked = await Promise.all(QUESTIONS.map((method) => editor.got(method)));
  const waiting = editor.request('_x/wait', { sessionId: idle.id }, 'waiting');
  const died = prompt(editor, dying.id, 'crash', 'dying');

  for (const answer of [await died, await working, await waiting]) {
    expect(answer.error).toMatchObject({ code: -32603 });
    expect(answer.error.message).toMatch(/"sick" exited \(code 17\)/);
    expect(answer.error.data).toEqual(GONE);
  }
  for (const { msg } of asked) await editor.got('$/cancel_request', ({ requestId }) => requestId === msg.id);
  expect(editor.all('$/cancel_request')).toHaveLength(QUESTIONS.length);

  const closed = editor.all('session/update', ({ update }) => update.sessionUpdate === 'tool_call_update' && update.status === 'failed');
  expect(closed.map(({ msg }) => msg.params)).toEqual([
    { sessionId: busy.id, update: { sessionUpdate: 'tool_call_update', toolCallId: 'open', status: 'failed' } },
  ]);
  expect(closed[0]?.index).toBeLessThan(editor.answersTo('working')[0]?.index as number);

  // An editor that answers although it was told not to changes nothing.
  for (const { msg } of asked) editor.reply(msg, {});
  expect((await counting).result).toEqual({ stopReason: 'end_turn' });
  expect(editor.said(well.id)).toBe(Array.from({ length: 2000 }, (_, n) => `${n + 1} `).join(''));
  for (const id of ['working', 'dying', 'waiting']) expect(editor.answersTo(id)).toHaveLength(1);
  await noticed(editor, 'switchboard: Agent "sick" exited (code 17)');
});

test.concurrent('row 4: when very many wait for an agent that dies, each is answered, and the first of them hear of its last frames', async ({
  stage,
}) => {
  const editor = await stage.connect({ sick: fixture('crash-mid-turn', 'sick') });
  const { id } = await open(editor, stage.cwd);
  const waiting = Array.from({ length: 200 }, () => editor.request('_x/wait', { sessionId: id }));
  const died = prompt(editor, id, 'crash');
  const told = (await Promise.all([...waiting, died])).map((answer) => answer.error.data);
  for (const data of told) expect(data).toMatchObject({ agent: 'sick', reason: 'agent_exited', code: 17 });
  expect(told.filter((data) => 'lastFrames' in data)).toHaveLength(16);
});

test.concurrent('row 4: the only agent dies: the same answers, and the editor keeps its connection', async ({ stage }) => {
  const editor = await stage.connect({ sick: fixture('crash-mid-turn', 'sick') });
  const { id } = await open(editor, stage.cwd);
  const working = prompt(editor, id, 'work');
  const asked = await Promise.all(QUESTIONS.map((method) => editor.got(method)));
  expect((await prompt(editor, id, 'crash')).error.data).toEqual(GONE);
  expect((await working).error.data).toEqual(GONE);
  for (const { msg } of asked) await editor.got('$/cancel_request', ({ requestId }) => requestId === msg.id);
  expect(editor.updates(id, 'tool_call_update').at(-1)).toEqual({
    sessionUpdate: 'tool_call_update',
    toolCallId: 'open',
    status: 'failed',
  });
  expect((await prompt(editor, id, 'hello')).result).toEqual({ stopReason: 'end_turn' });
});

test.concurrent('row 4: an agent that is killed: the error names the signal', async ({ stage }) => {
  const editor = await stage.connect({ sick: fixture('crash-mid-turn', 'sick'), well: fixture('works', 'well') });
  const { id } = await open(editor, stage.cwd, 'sick');
  const working = prompt(editor, id, 'work');
  await editor.got('fs/read_text_file');
  end(pidIn(id));
  const { error } = await working;
  expect(error).toMatchObject({ code: -32603, data: { agent: 'sick', reason: 'agent_exited', code: null, signal: 'SIGKILL', stderr: [] } });
  expect(error.message).toContain('SIGKILL');
});

test.concurrent('row 4: a cancelled turn ends cancelled, also when its agent does not live to say so', async ({ stage }) => {
  const editor = await stage.connect({ sick: fixture('crash-mid-turn', 'sick') });
  const { id } = await open(editor, stage.cwd);
  const working = prompt(editor, id, 'work');
  await editor.got('fs/read_text_file');
  editor.notify('session/cancel', { sessionId: id });
  expect((await prompt(editor, id, 'crash')).error.data.code).toBe(17);
  expect((await working).result).toEqual({ stopReason: 'cancelled' });
});

test.concurrent('row 4: with isolation session the process of one session dies alone', async ({ stage }) => {
  const editor = await stage.connect({
    apart: { ...fixture('crash-mid-turn', 'apart'), isolation: 'session' },
    well: fixture('works', 'well'),
  });
  const [one, two] = [await open(editor, stage.cwd, 'apart'), await open(editor, stage.cwd, 'apart')];
  expect(pidIn(one.id)).not.toBe(pidIn(two.id));
  const working = prompt(editor, two.id, 'work', 'working');
  await editor.got('fs/read_text_file');
  expect((await prompt(editor, one.id, 'crash')).error.data).toEqual({ ...GONE, agent: 'apart' });
  expect((await prompt(editor, two.id, 'hello')).result).toEqual({ stopReason: 'end_turn' });
  expect(editor.said(two.id)).toBe(`workinghello by ${pidIn(two.id)};`);
  expect([editor.answersTo('working'), editor.all('$/cancel_request')]).toEqual([[], []]);
  end(pidIn(two.id));
  expect((await working).error.data.signal).toBe('SIGKILL');
});

test.concurrent('row 4: what an agent was given as a secret is not in the last words of it that the editor gets', async ({ stage }) => {
  const SECRET = 'canary-5f2a9c71e0';
  const editor = await stage.connect({ sick: { ...fixture('crash-mid-turn', 'sick'), env: { SECRET } } });
  const { id } = await open(editor, stage.cwd);
  const { error } = await prompt(editor, id, 'crash');
  expect(error.data.stderr[1]).toContain('the disk is on fire');
  expect(JSON.stringify(error)).not.toContain(SECRET);
  expect(editor.stderr()).not.toContain(SECRET);
});

test.concurrent('row 5: a child that holds stdout open does not keep the end of its agent from the editor, and is ended behind it', async ({
  stage,
}) => {
  const held = { ...fixture('stdout-held-by-grandchild', 'sick'), timeouts: { stop_grace_ms: 3000 } };
  const editor = await stage.connect({ sick: held, well: fixture('works', 'well') });
  const { id } = await open(editor, stage.cwd, 'sick');
  const turn = prompt(editor, id, 'go');
  const child = await childOf(editor, id);
  const { error } = await turn;
  expect(error.data).toMatchObject({ agent: 'sick', reason: 'agent_exited', code: 0, signal: null });
  expect(isAlive(child)).toBe(true); // and holds stdout
  await eventually(() => expect(isAlive(child)).toBe(false));
});

test.concurrent('row 5: what an agent wrote before it exited still arrives, in order, before the error', async ({ stage }) => {
  const editor = await stage.connect({ sick: fixture('floods', 'sick', '--exits') });
  const { id } = await open(editor, stage.cwd);
  expect((await prompt(editor, id, '3000 100', 'last')).result).toEqual({ stopReason: 'end_turn' });
  expect(numbersSaid(editor, id)).toEqual(Array.from({ length: 3000 }, (_, n) => n));
});

const numbersSaid = (editor: Editor, id: string): number[] =>
  editor.updates(id, 'agent_message_chunk').map(({ content }) => Number.parseInt(content.text, 10));

test.concurrent('row 8: a whole last line without its line feed still counts', async ({ stage }) => {
  const editor = await stage.connect({ sick: fixture('half-line-then-exit', 'sick') });
  const { id } = await open(editor, stage.cwd);
  expect((await prompt(editor, id, 'whole')).result).toEqual({ stopReason: 'end_turn' });
});

test.concurrent('row 8: half a last line is skipped, and the waiting request hears of the end of its agent', async ({ stage }) => {
  const editor = await stage.connect({ sick: fixture('half-line-then-exit', 'sick') });
  const { id } = await open(editor, stage.cwd);
  const { error } = await prompt(editor, id, 'half', 'half');
  expect(error.data).toMatchObject({ agent: 'sick', reason: 'agent_exited', code: 0 });
  expect(editor.answersTo('half')).toHaveLength(1);
  expect(editor.seen.filter(({ msg }) => msg === undefined)).toEqual([]);
  await noticed(editor, 'a line from agent "sick" was skipped');
});
