// What the user is shown and what a yes covers: by content, not by the agent's title and labels.
import { describe, expect, test } from 'vitest';
import { type Json, prompt } from '../../e2e/harness.ts';
import { OPTIONS, selected } from '../../e2e/policy-support.ts';
import { end } from '../actors.ts';
import { CANCELLED, type UnderPolicy, underPolicy } from './support.ts';

const call = (more: Json): Json => ({ toolCallId: 'c1', kind: 'execute', ...more });
const shown = ({ client }: UnderPolicy): readonly Json[] => client.all('session/request_permission').map(({ msg }) => msg.params);
const request = (all: UnderPolicy, toolCall: Json, options: readonly Json[] = OPTIONS) =>
  all.agent.call('session/request_permission', { sessionId: all.id, toolCall, options });

describe('the question', () => {
  test('says first that the title is not what the request does', async () => {
    const all = await underPolicy({});
    await request(all, call({ title: 'git status', rawInput: { command: 'rm -rf src' } }));
    expect(shown(all)).toMatchObject([
      { toolCall: { title: 'The title is not what this does. Run rm -rf src. Title: “git status”', rawInput: { command: 'rm -rf src' } } },
    ]);
  });

  test('says what the request does where the agent gives no title, and leaves everything else as it was', async () => {
    const all = await underPolicy({});
    await request(all, { toolCallId: 'c1', rawInput: { command: 'make' }, odd: 1.5 });
    expect(shown(all)[0]?.toolCall).toEqual({ title: 'Run make', toolCallId: 'c1', rawInput: { command: 'make' }, odd: 1.5 });
  });

  test('is about what an earlier update said, if the request has only an id', async () => {
    const all = await underPolicy({});
    all.update({ sessionUpdate: 'tool_call', toolCallId: 'c1', title: 'git status', status: 'pending', rawInput: { command: 'rm x' } });
    await request(all, { toolCallId: 'c1' });
    expect(shown(all)[0]?.toolCall.title).toBe('The title is not what this does. Run rm x. Title: “git status”');
  });

  test('stays as the agent wrote it while the policy is only observed', async () => {
    const all = await underPolicy({}, { isObserving: true });
    await request(all, call({ title: 'git status', rawInput: { command: 'rm x' } }));
    expect(shown(all)[0]?.toolCall.title).toBe('git status');
  });
});

describe('an option whose label says the opposite of its kind', () => {
  const LYING = [
    { optionId: 'x', name: 'Reject', kind: 'allow_once' },
    { optionId: 'y', name: 'Allow', kind: 'reject_once' },
  ];

  test('is not offered to the user', async () => {
    const all = await underPolicy({});
    await request(all, call({ title: 'make', rawInput: { command: 'make' } }), [...LYING, ...OPTIONS]);
    expect(shown(all)[0]?.options).toEqual(OPTIONS);
  });

  test('is not chosen by the policy, which asks instead', async () => {
    const all = await underPolicy({ allow: ['execute(make)'] });
    all.client.on('session/request_permission', () => selected('x'));
    expect(await request(all, call({ title: 'make', rawInput: { command: 'make' } }), LYING)).toEqual(CANCELLED);
    expect(all.entries).toMatchObject([{ verdict: 'ask', answeredBy: 'user', outcome: 'withdrawn' }]);
  });
});

describe('a yes covers the command that follows', () => {
  async function asksAgain(toolCall: Json, options: readonly Json[], answer: string): Promise<number> {
    const all = await underPolicy({});
    all.client.on('terminal/create', () => ({ terminalId: 't1' }));
    all.client.on('session/request_permission', ({ options: offered }: Json) =>
      selected(offered.some(({ optionId }: Json) => optionId === answer) ? answer : 'reject'),
    );
    all.agent.on('session/prompt', async () => {
      await request(all, toolCall, options);
      await all.agent.request('terminal/create', { sessionId: all.id, command: 'make' });
      return end;
    });
    await prompt(all.client, all.id, 'go');
    return shown(all).length - 1;
  }
  const make = call({ title: 'make', rawInput: { command: 'make' } });

  test('if the option says so', async () => {
    expect(await asksAgain(make, OPTIONS, 'a1')).toBe(0);
  });

  test('in any language', async () => {
    expect(await asksAgain(make, [{ optionId: 'go', name: 'Einmal erlauben', kind: 'allow_once' }], 'go')).toBe(0);
  });

  test('not if the option has no label', async () => {
    expect(await asksAgain(make, [{ optionId: 'go', name: '', kind: 'allow_once' }], 'go')).toBe(1);
  });

  test('not if the title named another command', async () => {
    expect(await asksAgain({ ...make, title: 'git status' }, OPTIONS, 'a1')).toBe(1);
  });

  test('not if the input has a part that is not known', async () => {
    expect(await asksAgain({ ...make, rawInput: { command: 'make', hook: 'x' } }, OPTIONS, 'a1')).toBe(1);
  });
});

describe('a member or a method that the protocol does not have', () => {
  const OPEN = { default: 'allow', allow: ['read', 'edit', 'execute(npm test ...)'], deny: ['read(**/.env)'] };

  test.each([
    ['terminal/create', { command: 'npm', args: ['test'], shell: './evil' }, 'shell'],
    ['terminal/create', { command: 'npm', args: ['test'], stdin: 'x' }, 'stdin'],
    ['fs/read_text_file', { path: '/work/a', follow: '/etc/passwd' }, 'follow'],
    ['fs/write_text_file', { path: '/work/a', content: '', mode: 0o777 }, 'mode'],
  ])('%s with %j is asked about, and the member is shown', async (method, params, member) => {
    const all = await underPolicy(OPEN);
    all.client.on('session/request_permission', () => selected('reject'));
    expect((await all.agent.request(method, { sessionId: all.id, ...params })).error.message).toContain('the user refused it');
    expect(shown(all)[0]?.toolCall.title).toContain(`a member that the protocol does not have (${member})`);
    expect(shown(all)[0]?.toolCall.rawInput).toHaveProperty(member);
    expect(all.client.all(method)).toEqual([]);
  });

  test.each([
    ['_zed.dev/fs/read', { path: '/work/a' }],
    ['_x/readFile', { name: 'a' }],
    ['_vendor.example/open_documents', {}],
    ['_x/do', { what: '/etc/passwd' }],
    ['_x/do', { command: 'id' }],
    ['_x/do', { link: 'https://evil.example' }],
    ['_fs/list', {}],
    ['terminal/attach', { terminalId: 't1' }],
  ])('%s with %j is asked about', async (method, params) => {
    const all = await underPolicy(OPEN);
    all.client.on('session/request_permission', () => selected('reject'));
    expect((await all.agent.request(method, { sessionId: all.id, ...params })).error.message).toContain('the user refused it');
    expect(all.client.all(method)).toEqual([]);
  });

  test('a file that a rule denies is refused to such a method without asking', async () => {
    const all = await underPolicy(OPEN);
    const { error } = await all.agent.request('_zed.dev/fs/read', { sessionId: all.id, path: '/work/.env' });
    expect(error.message).toContain('deny by rule');
    expect(shown(all)).toEqual([]);
  });

  test('one that names nothing passes as before', async () => {
    const all = await underPolicy(OPEN);
    all.client.on('_x/ping', () => ({ pong: 1.5 }));
    expect(await all.agent.call('_x/ping', { sessionId: all.id, n: 1, text: 'hello' })).toEqual({ pong: 1.5 });
    expect(all.entries).toEqual([]);
  });
});
