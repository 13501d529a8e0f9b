// fs/* and terminal/* under a policy: forwarded, refused with the name of the rule, or asked about.
import { mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect } from 'vitest';
import { type Json, type Stage, type StartOptions, testAtOnce as test, UNANSWERED } from './harness.ts';
import { audit, type PolicySession, selected, underPolicy } from './policy-support.ts';

const POLICY = {
  deny: [{ id: 'secrets', path: ['**/.env'], reason: 'secrets' }, 'execute(sudo ...)'],
  allow: ['read($cwd/**)', 'edit($cwd/src/**)', 'execute(npm test ...)'],
};

async function place(
  stage: Stage,
  policy: Json = POLICY,
  options: StartOptions = {},
): Promise<PolicySession & { readonly at: (file: string) => string }> {
  const all = await underPolicy(stage, policy, options);
  all.client.on('fs/read_text_file', ({ path: file }: Json) => ({ content: `of ${path.basename(file)}` }));
  all.client.on('fs/write_text_file', () => ({}));
  all.client.on('terminal/create', () => ({ terminalId: 't1' }));
  return { ...all, at: (file) => path.join(stage.cwd, file) };
}

const toolCallUpdates = ({ client, id }: PolicySession) => client.updates(id, 'tool_call_update');

test('an allowed request reaches the client unchanged, and its response the agent', async ({ stage }) => {
  const { agent, client, id, at } = await place(stage);
  const params = { sessionId: id, path: at('a.ts'), line: 1, limit: 2, _meta: { odd: 1 } };
  expect(await agent.call('fs/read_text_file', params)).toEqual({ content: 'of a.ts' });
  expect((await client.got('fs/read_text_file')).msg.params).toEqual(params);
  expect(await agent.call('terminal/create', { sessionId: id, command: 'npm', args: ['test'] })).toEqual({ terminalId: 't1' });
});

test('a denied request is an error that names the rule and its file, and the client does not see it', async ({ stage }) => {
  const { agent, client, id, at } = await place(stage);
  for (const [method, params] of [
    ['fs/read_text_file', { path: at('.env') }],
    ['fs/write_text_file', { path: at('src/.env'), content: 'x' }],
    ['fs/read_text_file', { path: at('src/../.env') }],
    ['terminal/create', { command: 'sudo', args: ['ls'] }],
    ['terminal/create', { command: 'sudo ls' }],
    ['terminal/create', { command: 'sh', args: ['-c', 'cat .env'] }],
  ] as const) {
    const { error } = await agent.request(method, { sessionId: id, ...params });
    expect(error.message).toMatch(/denied by policy: deny by rule (secrets|deny\[1\]) \(.*#policy:\d+\)/);
  }
  expect(client.all('fs/read_text_file')).toEqual([]);
  expect(client.all('terminal/create')).toEqual([]);
});

test('a link is evaluated by its target', async ({ stage }) => {
  const { agent, client, id, at } = await place(stage);
  mkdirSync(at('src'));
  symlinkSync('/etc', at('src/out'));
  const write = agent.request('fs/write_text_file', { sessionId: id, path: at('src/out/passwd'), content: 'x' });
  expect((await client.got('session/request_permission')).msg.params.toolCall.title).toContain('src/out/passwd');
  await write;
});

describe('a request that no rule matches', () => {
  test('becomes our permission request, and is forwarded once allowed', async ({ stage }) => {
    const all = await place(stage);
    const { agent, client, id, at } = all;
    const params = { sessionId: id, path: at('README.md'), content: 'new words' };
    expect(await agent.call('fs/write_text_file', params)).toEqual({});
    const received = await client.got('session/request_permission');
    expect(received.msg.params).toMatchObject({
      sessionId: id,
      toolCall: {
        title: `Write ${at('README.md')}`,
        kind: 'edit',
        content: [{ type: 'diff', path: at('README.md'), newText: 'new words' }],
      },
      options: [{ kind: 'allow_once' }, { kind: 'allow_always' }, { kind: 'reject_once' }, { kind: 'reject_always' }],
    });
    expect((await client.got('fs/write_text_file')).msg.params).toEqual(params);
    expect(toolCallUpdates(all)).toMatchObject([{ toolCallId: received.msg.params.toolCall.toolCallId, status: 'completed' }]);
    expect(audit(stage)).toMatchObject([{ method: 'fs/write_text_file', verdict: 'ask', by: 'user' }]);
  });

  test.for([
    ['a no', selected('reject')],
    ['a cancel', { outcome: { outcome: 'cancelled' } }],
    ['an option that was not offered', selected('other')],
    ['nonsense', { outcome: 7 }],
  ] as const)('is refused by %s', async ([, answer], { stage }) => {
    const all = await place(stage);
    const { agent, client, id, at } = all;
    client.on('session/request_permission', () => answer);
    const { error } = await agent.request('fs/write_text_file', { sessionId: id, path: at('README.md'), content: '' });
    expect(error.message).toContain('denied by policy');
    expect(client.all('fs/write_text_file')).toEqual([]);
    expect(toolCallUpdates(all)).toMatchObject([{ status: 'failed' }]);
  });

  test('is asked once when the answer is for always', async ({ stage }) => {
    const { agent, client, id, at } = await place(stage);
    client.on('session/request_permission', () => selected('allow-always'));
    for (const content of ['one', 'two']) await agent.call('fs/write_text_file', { sessionId: id, path: at('README.md'), content });
    expect(client.all('session/request_permission')).toHaveLength(1);
    expect(client.all('fs/write_text_file')).toHaveLength(2);
  });

  test('lets the agent cancel what waits behind it: that is answered at once, and never asked or done', async ({ stage }) => {
    const { agent, client, id, at } = await place(stage);
    client.on('session/request_permission', () => UNANSWERED);
    const write = agent.request('fs/write_text_file', { sessionId: id, path: at('README.md'), content: 'x' });
    const received = await client.got('session/request_permission');
    const second = agent.request('fs/write_text_file', { sessionId: id, path: at('second'), content: 'x' }, 'second');
    const read = () => agent.request('fs/read_text_file', { sessionId: id, path: at('README.md') }, 'third');
    void read();
    expect((await read()).error).toMatchObject({ code: -32600 }); // the id is in use
    agent.notify('$/cancel_request', { requestId: 'second' });
    expect((await second).error).toMatchObject({ code: -32800 });
    agent.notify('$/cancel_request', { requestId: 'second' }); // twice, and now there is none
    client.reply(received.msg, selected('allow'));
    expect((await write).result).toEqual({});
    await agent.until((msg) => msg.id === 'third' && msg.result !== undefined);
    expect(client.all('session/request_permission')).toHaveLength(1);
    expect(client.all('fs/write_text_file').map(({ msg }) => msg.params.path)).toEqual([at('README.md')]);
    expect(agent.answersTo('second')).toHaveLength(1);
  });

  test.for([
    [
      'that parsers read differently',
      (id: number) => `{"jsonrpc":"2.0","id":${id},"result":{},"result":${JSON.stringify(selected('allow'))}}`,
    ],
    [
      'over the limit',
      (id: number) => `{"jsonrpc":"2.0","id":${id},"result":${JSON.stringify({ ...selected('allow'), pad: 'x'.repeat(70_000) })}}`,
    ],
  ] as const)('is refused by an answer %s, and what waits behind it continues', async ([, answer], { stage }) => {
    const { agent, client, id, at } = await place(stage, POLICY, { config: { limits: { max_frame_bytes: 65_536 } } });
    client.on('session/request_permission', () => UNANSWERED);
    const write = agent.request('fs/write_text_file', { sessionId: id, path: at('README.md'), content: 'x' });
    const received = await client.got('session/request_permission');
    const read = agent.call('fs/read_text_file', { sessionId: id, path: at('README.md') });
    client.line(answer(received.msg.id));
    expect((await write).error.message).toContain('denied by policy');
    await read;
    expect(client.all('fs/write_text_file')).toEqual([]);
  });

  test("holds back the agent's requests behind it, and nothing else", async ({ stage }) => {
    const { agent, client, id, at } = await place(stage);
    client.on('session/request_permission', () => UNANSWERED);
    const write = agent.request('fs/write_text_file', { sessionId: id, path: at('README.md'), content: 'x' });
    const received = await client.got('session/request_permission');
    const read = agent.call('fs/read_text_file', { sessionId: id, path: at('README.md') });
    agent.sendText(id, 'meanwhile');
    await client.until((msg) => msg.params?.update?.content?.text === 'meanwhile');
    expect(client.all('fs/read_text_file')).toEqual([]);
    client.reply(received.msg, selected('allow'));
    expect((await write).result).toEqual({});
    expect(await read).toEqual({ content: 'of README.md' });
    const order = [(await client.got('fs/write_text_file')).index, (await client.got('fs/read_text_file')).index];
    expect(order).toEqual(order.toSorted((a, b) => a - b));
  });

  test('is refused when the turn is cancelled, and the next request proceeds', async ({ stage }) => {
    const { agent, client, id, at } = await place(stage);
    client.on('session/request_permission', () => UNANSWERED);
    const write = agent.request('fs/write_text_file', { sessionId: id, path: at('README.md'), content: 'x' });
    await client.got('session/request_permission');
    const read = agent.call('fs/read_text_file', { sessionId: id, path: at('a') });
    client.notify('session/cancel', { sessionId: id });
    expect((await write).error.message).toContain('denied by policy');
    expect(await read).toEqual({ content: 'of a' });
  });

  test('does not hold the next process of an agent that dies while it is pending', async ({ stage }) => {
    const { agent, client, id, at } = await place(stage);
    client.on('session/request_permission', () => UNANSWERED);
    void agent.request('fs/write_text_file', { sessionId: id, path: at('README.md'), content: 'x' }).catch(() => {});
    await client.got('session/request_permission');
    agent.exit();
    await client.got('$/cancel_request');
    await client.call('session/prompt', { sessionId: id, prompt: [{ type: 'text', text: 'on' }] });
    expect(await agent.call('fs/read_text_file', { sessionId: id, path: at('a') })).toEqual({ content: 'of a' });
  });
});

test.for([
  ['fs/read_text_file', { path: ['/etc/passwd'] }],
  ['fs/write_text_file', { content: 'x' }],
  ['terminal/create', { command: 'npm', args: ['test', { toString: 'x' }] }],
  ['terminal/create', { command: 'npm', args: 'test' }],
] as const)('%s of an unknown shape is refused instead of being guessed: %j', async ([method, params], { stage }) => {
  const { agent, client, id } = await place(stage);
  expect((await agent.request(method, { sessionId: id, ...params })).error.code).toBe(-32602);
  expect(client.all(method)).toEqual([]);
});
