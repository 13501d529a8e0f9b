// The user's consent to a permission request covers the one file or terminal request that follows from it.
import { expect, test } from 'vitest';
import { type Json, prompt, UNANSWERED } from '../../e2e/harness.ts';
import { execution, OPTIONS, selected } from '../../e2e/policy-support.ts';
import { end } from '../actors.ts';
import { allowOnce, CANCELLED, type PolicyOptions, type UnderPolicy, underPolicy } from './support.ts';

const FILE = '/work/a.txt';
const ASKING = { ask: ['edit', 'execute', 'read'] };

const editing = (path: string, more: Json = {}): Json => ({
  toolCall: { toolCallId: 'e1', title: `Edit ${path}`, kind: 'edit', rawInput: { file_path: path }, ...more },
  options: OPTIONS,
});

type Turn = UnderPolicy & { readonly call: (method: string, params: Json) => Promise<Json> };

/** A turn in which the agent does this. Returns how often the user was asked. */
async function during(turn: (all: Turn) => Promise<void>, policy: object = ASKING, options: PolicyOptions = {}) {
  const all = await underPolicy(policy, options);
  all.client.on('fs/write_text_file', () => ({}));
  all.client.on('fs/read_text_file', () => ({ content: '' }));
  all.client.on('terminal/create', () => ({ terminalId: 't1' }));
  const call = (method: string, params: Json) => all.agent.request(method, { sessionId: all.id, ...params });
  all.agent.on('session/prompt', async () => {
    await turn({ ...all, call });
    return end;
  });
  const go = async () => {
    const before = all.client.all('session/request_permission').length;
    expect((await prompt(all.client, all.id, 'go')).result).toEqual(end);
    return all.client.all('session/request_permission').length - before;
  };
  return { ...all, call, go };
}
const write = (content = 'one', path = FILE) => ['fs/write_text_file', { path, content }] as const;

test('a write that the user allowed as an edit is not asked about again, once, and its line names the consent', async () => {
  const { go, entries } = await during(async ({ call }) => {
    await call('session/request_permission', editing(FILE));
    await call(...write('one'));
    await call(...write('two'));
  });
  expect(await go()).toBe(2);
  expect(entries).toMatchObject([
    { method: 'session/request_permission', verdict: 'ask', answeredBy: 'user', option: 'a1' },
    { method: 'fs/write_text_file', verdict: 'ask', answeredBy: 'user', option: 'passed', answerIn: 1 },
    { method: 'fs/write_text_file', verdict: 'ask', answeredBy: 'user', option: 'allow' },
  ]);
  expect(entries[2]?.answerIn).toBeUndefined();
});

test('a consent that cannot be used because the line cannot be written is asked again', async () => {
  const { go } = await during(async ({ call, breakAudit }) => {
    await call('session/request_permission', editing(FILE));
    breakAudit();
    await call(...write());
  });
  expect(await go()).toBe(2);
});

test('a consent that could not be recorded covers nothing', async () => {
  const { go } = await during(async ({ call, breakAudit }) => {
    breakAudit();
    await call('session/request_permission', editing(FILE));
    await call(...write());
  });
  expect(await go()).toBe(2);
});

test.each([
  ['another file', (call: Turn['call']) => call(...write('x', '/work/b.txt'))],
  ['a read of the file', (call: Turn['call']) => call('fs/read_text_file', { path: FILE })],
  ['a command', (call: Turn['call']) => call('terminal/create', { command: 'make' })],
])('consent to an edit does not cover %s', async (_, act) => {
  const { go } = await during(async ({ call }) => {
    await call('session/request_permission', editing(FILE));
    await act(call);
  });
  expect(await go()).toBe(2);
});

test('consent to a command covers a terminal with exactly these words', async () => {
  const { go } = await during(async ({ id, call }) => {
    await call('session/request_permission', execution(id, 'make all'));
    await call('terminal/create', { command: 'make', args: ['all', 'install'] });
    await call('terminal/create', { command: 'make', args: ['all'] });
  });
  expect(await go()).toBe(2);
});

test('consent ends with its tool call, and not with another one', async () => {
  const over = (toolCallId: string) => ({ sessionUpdate: 'tool_call_update', toolCallId, status: 'completed' });
  const turn = (ended: string) =>
    during(async ({ call, update }) => {
      await call('session/request_permission', editing(FILE));
      update(over(ended));
      await call(...write());
    });
  expect(await (await turn('e1')).go()).toBe(2);
  expect(await (await turn('e2')).go()).toBe(1);
});

test('consent ends with its turn', async () => {
  let turns = 0;
  const { go } = await during(async ({ call }) => {
    if (++turns === 1) await call('session/request_permission', editing(FILE));
    else await call(...write());
  });
  expect([await go(), await go()]).toEqual([1, 1]);
});

test('outside of a turn there is no consent to keep', async () => {
  const all = await during(async () => {});
  await all.call('session/request_permission', editing(FILE));
  await all.call(...write());
  expect(all.client.all('session/request_permission')).toHaveLength(2);
});

test('consent ends when the turn is cancelled', async () => {
  const { go } = await during(async ({ client, agent, id, call }) => {
    await call('session/request_permission', editing(FILE));
    client.notify('session/cancel', { sessionId: id });
    await agent.got('session/cancel');
    await call(...write());
  });
  expect(await go()).toBe(2);
});

test('consent given after the turn was over, or after it was cancelled, covers nothing', async () => {
  const all = await during(async ({ call, client, id, agent }) => {
    client.on('session/request_permission', () => UNANSWERED);
    const answer = call('session/request_permission', editing(FILE));
    const { msg } = await client.got('session/request_permission');
    client.notify('session/cancel', { sessionId: id });
    await agent.got('session/cancel');
    client.reply(msg, selected('a1'));
    expect((await answer).result).toEqual(CANCELLED);
    allowOnce(client);
    await call(...write());
  });
  expect(await all.go()).toBe(2);
});

test('consent ends when the policy changes', async () => {
  const { go } = await during(async ({ call, replacePolicy }) => {
    await call('session/request_permission', editing(FILE));
    replacePolicy(ASKING);
    await call(...write());
  });
  expect(await go()).toBe(2);
});

test('a rejection covers nothing', async () => {
  const { go, client } = await during(async ({ call }) => {
    await call('session/request_permission', editing(FILE));
    await call(...write());
  });
  client.on('session/request_permission', ({ options }: Json) =>
    selected(options.find(({ kind }: Json) => kind === 'reject_once').optionId),
  );
  expect(await go()).toBe(2);
  expect(client.all('fs/write_text_file')).toEqual([]);
});

test('while two turns are under way, it is unclear whose consent it is, and there is none', async () => {
  const all = await underPolicy(ASKING);
  all.client.on('fs/write_text_file', () => ({}));
  const ends: (() => void)[] = [];
  all.agent.on('session/prompt', () => new Promise((resolve) => ends.push(() => resolve(end))));
  const turns = [prompt(all.client, all.id, 'one'), prompt(all.client, all.id, 'two')];
  await all.agent.until(() => all.agent.all('session/prompt').length === 2);
  await all.agent.call('session/request_permission', { sessionId: all.id, ...editing(FILE) });
  await all.agent.call('fs/write_text_file', { sessionId: all.id, path: FILE, content: 'x' });
  expect(all.client.all('session/request_permission')).toHaveLength(2);
  for (const over of ends) over();
  await Promise.all(turns);
});

test('of very many consents the oldest are forgotten', async () => {
  const file = (n: number) => `/work/${n}.txt`;
  const { go } = await during(async ({ call }) => {
    for (let n = 0; n < 65; n++) await call('session/request_permission', editing(file(n), { toolCallId: `e${n}` }));
    await call(...write('x', file(0)));
    await call(...write('x', file(1)));
    await call(...write('x', file(64)));
  });
  expect(await go()).toBe(66);
});

test('a path is the one that it led to when the request was shown', async () => {
  let target = '/work/a.txt';
  const { go } = await during(
    async ({ call, client }) => {
      client.on('session/request_permission', ({ options }: Json) => {
        target = '/work/b.txt';
        return selected(options[0].optionId);
      });
      await call('session/request_permission', editing('/work/link'));
      await call(...write('x', '/work/link'));
    },
    ASKING,
    { canonical: (path) => (path === '/work/link' ? target : path) },
  );
  expect(await go()).toBe(2);
});

test('a permission request without the id of its tool call gives no consent to keep', async () => {
  const { go } = await during(async ({ call }) => {
    await call('session/request_permission', editing(FILE, { toolCallId: 7 }));
    await call(...write());
  });
  expect(await go()).toBe(2);
});
