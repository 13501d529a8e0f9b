// One allow is enough for one action: what the user allowed in the agent's permission request is not asked again when the agent does it.
import { rmSync, symlinkSync } from 'node:fs';
import { expect } from 'vitest';
import { type Json, prompt, type Stage, testAtOnce as test } from './harness.ts';
import { audit, execution, OPTIONS, selected, underPolicy } from './policy-support.ts';

type Turn = (about: { readonly id: string; readonly call: (method: string, params: Json) => Promise<Json> }, stage: Stage) => Promise<void>;

/** A turn in which the agent does this. Returns how often the user was asked. */
async function during(stage: Stage, turn: Turn, policy: Json = { ask: ['edit', 'execute'] }) {
  const agent = stage.agent('agent', {
    turn: async ({ id }) => {
      await turn({ id, call: (method, params) => agent.request(method, { sessionId: id, ...params }) }, stage);
      return { stopReason: 'end_turn' };
    },
  });
  const all = await underPolicy(stage, policy, {}, agent);
  all.client.on('fs/write_text_file', () => ({}));
  all.client.on('terminal/create', () => ({ terminalId: 't1' }));
  const go = () => prompt(all.client, all.id, 'go');
  return { ...all, go, requests: () => all.client.all('session/request_permission').length };
}

const editing = (path: string, more: Json = {}): Json => ({
  toolCall: { toolCallId: 'e1', title: `Edit ${path}`, kind: 'edit', rawInput: { file_path: path }, ...more },
  options: OPTIONS,
});

test('a write that the user has allowed as an edit is not asked about again, once', async ({ stage }) => {
  const file = `${stage.cwd}/a.txt`;
  const { client, go, requests } = await during(stage, async ({ call }) => {
    await call('session/request_permission', editing(file));
    await call('fs/write_text_file', { path: file, content: 'one' });
    await call('fs/write_text_file', { path: file, content: 'two' });
  });
  expect((await go()).result).toEqual({ stopReason: 'end_turn' });
  expect(requests()).toBe(2); // nobody has allowed the second write
  expect(client.all('fs/write_text_file')).toHaveLength(2);
  const [answer, first, second] = audit(stage);
  expect(answer).toMatchObject({ method: 'session/request_permission', by: 'user', option: 'a1' });
  expect(first).toMatchObject({ method: 'fs/write_text_file', verdict: 'ask', by: 'user', option: 'passed', answerIn: answer?.seq });
  expect(second).toMatchObject({ method: 'fs/write_text_file', verdict: 'ask', by: 'user', option: 'allow' });
});

test('the same goes for a command in a terminal, and for nothing else', async ({ stage }) => {
  const { go, requests } = await during(stage, async ({ id, call }) => {
    await call('session/request_permission', execution(id, 'make all'));
    await call('terminal/create', { command: 'make', args: ['all', 'install'] });
    await call('terminal/create', { command: 'make', args: ['all'] });
  });
  await go();
  expect(requests()).toBe(2);
});

test('a grant ends with the tool call, with the turn and with a cancel', async ({ stage }) => {
  const file = `${stage.cwd}/a.txt`;
  const write = { path: file, content: 'x' };
  let n = 0;
  const { agent, client, id, go, requests } = await during(stage, async ({ call }) => {
    n++;
    if (n === 2) await call('fs/write_text_file', write); // of the turn before
    await call('session/request_permission', editing(file));
    if (n === 2) {
      agent.update(id, { sessionUpdate: 'tool_call_update', toolCallId: 'e1', status: 'completed' });
      await call('fs/write_text_file', write);
    }
    if (n === 3) {
      client.notify('session/cancel', { sessionId: id });
      await agent.got('session/cancel');
      await call('fs/write_text_file', write);
    }
  });
  await go();
  expect(requests()).toBe(1);
  await go();
  expect(requests()).toBe(4);
  await go();
  expect(requests()).toBe(6);
});

test('a link that leads elsewhere by then is evaluated by its target: asked about again, or denied', async ({ stage }) => {
  const link = `${stage.cwd}/link.txt`;
  const lead = (to: string) => {
    rmSync(link, { force: true });
    symlinkSync(`${stage.cwd}/${to}`, link);
  };
  const answers: Json[] = [];
  const { client, go, requests } = await during(
    stage,
    async ({ call }) => {
      for (const to of ['b.txt', '.env']) {
        lead('a.txt');
        await call('session/request_permission', editing(link));
        lead(to);
        answers.push(await call('fs/write_text_file', { path: link, content: 'x' }));
      }
    },
    { ask: ['edit'], deny: [{ path: ['**/.env'] }] },
  );
  await go();
  expect(answers).toMatchObject([{ result: {} }, { error: { message: expect.stringContaining('denied by policy') } }]);
  expect(requests()).toBe(3);
  expect(client.all('fs/write_text_file')).toHaveLength(1);
});

test('a rejection grants nothing', async ({ stage }) => {
  const file = `${stage.cwd}/a.txt`;
  const { client, go, requests } = await during(stage, async ({ call }) => {
    await call('session/request_permission', editing(file));
    await call('fs/write_text_file', { path: file, content: 'x' });
  });
  client.on('session/request_permission', ({ options }: Json) =>
    selected(options.find(({ kind }: Json) => kind === 'reject_once').optionId),
  );
  await go();
  expect(requests()).toBe(2);
  expect(client.all('fs/write_text_file')).toEqual([]);
});
