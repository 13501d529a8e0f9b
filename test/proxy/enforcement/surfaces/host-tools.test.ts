// Calls of host tools and of bridged servers, and the user's own access to files in the console.
import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import type { ToolRequest } from '../../../../src/mcp/server/gate.ts';
import { type Json, UNANSWERED } from '../../../e2e/harness.ts';
import { selected } from '../../../e2e/policy-support.ts';
import { type PolicyOptions, type UnderPolicy, underPolicy } from '../support.ts';

const POLICY = {
  deny: [
    { id: 'secrets', path: ['**/.env'] },
    { id: 'no-sudo', action: 'execute', command: 'sudo ...' },
    { id: 'no-drop', action: 'mcp', mcp: 'db:drop' },
    { id: 'no-tool', action: 'mcp', mcp: 'switchboard:edit_file' },
    { id: 'no-agent', action: 'delegate', tool: 'stranger' },
  ],
  ask: [
    { id: 'ask-write', action: 'mcp', mcp: 'db:write' },
    { id: 'ask-user', action: 'mcp', mcp: 'switchboard:ask_carefully' },
  ],
  allow: ['read($cwd/**)', 'search($cwd/**)', 'execute(npm test)', { action: 'mcp', mcp: 'db:read' }],
};
const NOT_WRITTEN = { allow: false, reason: 'the decision could not be audited, so it has no effect' };

const toolRequest = (tool: string, args: Json, more: Partial<ToolRequest> = {}): ToolRequest => ({
  ...{ sessionId: 's1', agent: 'agent', cwd: '/work', roots: ['/work'], server: 'switchboard', effect: 'write' },
  ...{ tool, args },
  ...more,
});
const place = async (options: PolicyOptions = {}) => {
  const all = await underPolicy(POLICY, options);
  const session = await all.session();
  const { signal } = new AbortController();
  return {
    ...all,
    host: (tool: string, args: Json, more?: Partial<ToolRequest>, at: AbortSignal = signal) =>
      all.enforcement.hostToolCall(session, toolRequest(tool, args, more), at),
    bridged: (tool: string, args: Json = {}, at: AbortSignal = signal) =>
      all.enforcement.bridgedCall(session, { server: 'db', tool, args }, at),
    byUser: (act: 'read' | 'edit', file: string) => all.enforcement.fileActionByUser(session, act, file),
    mayRead: (file: string) => all.enforcement.mayRead(session, file),
  };
};
const requests = ({ client }: Pick<UnderPolicy, 'client'>) => client.all('session/request_permission');

describe('a host tool', () => {
  test.each([
    ['read_file', { path: '/work/a' }, 'read: /work/a', '/work/a'],
    ['list_directory', { path: '/work/src' }, 'search: /work/src', '/work/src'],
    ['search_files', { path: '/work/src' }, 'search: /work/src', '/work/src'],
    ['search_files', { path: 7 }, 'search: /work', '/work'],
    ['run_command', { command: 'npm', args: ['test'] }, 'execute: npm test', undefined],
  ])('%s %j is evaluated as what it does, and runs on the evaluated path only', async (tool, args, summary, evaluatedPath) => {
    const all = await place();
    expect(await all.host(tool, args)).toEqual({ allow: true, ...(evaluatedPath !== undefined && { evaluatedPath }) });
    expect(all.entries).toMatchObject([
      { method: 'tools/call', agent: 'agent', session: all.id, verdict: 'allow', answeredBy: 'policy', option: 'passed', summary },
    ]);
    expect(JSON.parse(String(all.entries[0]?.request))).toEqual({ server: 'switchboard', tool, args });
  });

  test.each([
    ['read_file', { path: '/work/.env' }, 'secrets'],
    ['list_directory', { path: '/work/.env' }, 'secrets'],
    ['search_files', { path: '/work/.env' }, 'secrets'],
    ['write_file', { path: '/work/.env' }, 'secrets'],
    ['run_command', { command: 'sudo', args: ['ls'] }, 'no-sudo'],
    ['run_command', { command: 'sudo ls' }, 'no-sudo'],
    ['run_command', { command: 'cat', args: ['.env'], cwd: '/work/sub' }, 'secrets'],
    ['edit_file', { path: '/work/a' }, 'no-tool'],
    ['delegate', { agent: 'stranger', prompt: 'x' }, 'no-agent'],
  ])('%s %j is refused by the rule that denies it', async (tool, args, rule) => {
    const all = await place();
    expect(await all.host(tool, args)).toEqual({ allow: false, reason: expect.stringMatching(`^denied by policy: deny by rule ${rule}`) });
    expect(all.entries).toMatchObject([{ verdict: 'deny', answeredBy: 'policy', option: 'refused', rule: { id: rule } }]);
    expect(requests(all)).toEqual([]);
  });

  test.each([
    ['write_file', { path: '/work/a', content: 'x' }, 'write', 'write_file /work/a', 'edit', 'edit: /work/a', '/work/a'],
    ['run_command', { command: 'make', args: ['all'] }, 'execute', 'run_command make all', 'execute', 'execute: make all', undefined],
    ['delegate', { agent: 'other', prompt: 'hi' }, 'delegate', 'Ask other: hi', 'other', 'delegate: other', undefined],
    ['own_tool', { n: 1 }, 'foreign', 'own_tool', 'other', 'mcp: switchboard:own_tool', undefined],
  ] as const)('%s is put to the user where no rule decides', async (tool, args, effect, title, kind, summary, evaluatedPath) => {
    const all = await place();
    all.client.on('session/request_permission', () => selected('allow'));
    expect(await all.host(tool, args, { effect })).toEqual({ allow: true, ...(evaluatedPath !== undefined && { evaluatedPath }) });
    expect(requests(all)[0]?.msg.params).toMatchObject({ sessionId: all.id, toolCall: { title, kind, rawInput: args } });
    expect(all.entries).toMatchObject([{ verdict: 'ask', answeredBy: 'user', option: 'allow', summary }]);
  });

  test('that the user refuses does not run', async () => {
    const all = await place();
    all.client.on('session/request_permission', () => selected('reject'));
    expect(await all.host('write_file', { path: '/work/a' })).toEqual({ allow: false, reason: 'the user did not allow it' });
  });

  test('that the policy denies by the time of the consent does not run', async () => {
    const all = await place();
    all.client.on('session/request_permission', () => {
      all.replacePolicy({ deny: [{ id: 'now', path: ['/work/a'] }] });
      return selected('allow');
    });
    expect(await all.host('write_file', { path: '/work/a' })).toEqual({
      allow: false,
      reason: expect.stringContaining('denied by policy: deny by rule now'),
    });
    expect(all.decisions()).toEqual([
      ['ask', 'user', 'allow'],
      ['deny', 'policy', 'refused'],
    ]);
  });

  test.each(['ask', 'read'] as const)('with no other effect than %s needs no permission', async (effect) => {
    const all = await place();
    expect(await all.host('own_tool', {}, { effect })).toEqual({ allow: true });
    expect(all.decisions()).toEqual([['allow', 'policy', 'passed']]);
    expect(requests(all)).toEqual([]);
  });

  test('with no other effect is put to the user if a rule says so', async () => {
    const all = await place();
    all.client.on('session/request_permission', () => selected('reject'));
    expect(await all.host('ask_carefully', {}, { effect: 'ask' })).toMatchObject({ allow: false });
    expect(requests(all)).toHaveLength(1);
  });

  test('that reads a file outside is not harmless because it only reads', async () => {
    const all = await place();
    all.client.on('session/request_permission', () => selected('reject'));
    expect(await all.host('read_file', { path: '/etc/passwd' }, { effect: 'read' })).toMatchObject({ allow: false });
    expect(requests(all)).toHaveLength(1);
  });

  test('with the name of a host tool on another server is known by its name and arguments only', async () => {
    const all = await place();
    all.client.on('session/request_permission', () => selected('allow'));
    expect(await all.host('read_file', { path: '/work/a' }, { server: 'other', effect: 'foreign' })).toEqual({ allow: true });
    expect(all.entries).toMatchObject([{ verdict: 'ask', summary: expect.stringContaining('mcp: other:read_file') }]);
    expect(requests(all)[0]?.msg.params.toolCall.title).toBe('other: read_file /work/a');
  });

  test('whose decision cannot be recorded does not run', async () => {
    const all = await place();
    all.breakAudit();
    expect(await all.host('read_file', { path: '/work/a' })).toEqual(NOT_WRITTEN);
    expect(await all.host('own_tool', {}, { effect: 'ask' })).toEqual(NOT_WRITTEN);
  });

  test('passes where the policy only observes', async () => {
    const all = await place({ isObserving: true });
    expect(await all.host('read_file', { path: '/work/.env' })).toEqual({ allow: true });
    expect(all.decisions()).toEqual([['deny', 'policy', 'passed']]);
  });

  test('that was withdrawn before it was put to the user is not asked about', async () => {
    const all = await place();
    const verdict = await all.host('write_file', { path: '/work/a' }, {}, AbortSignal.abort());
    expect(verdict).toEqual({ allow: false, reason: 'the call was withdrawn before the user answered' });
    expect(requests(all)).toEqual([]);
    expect(all.decisions()).toEqual([['deny', 'agent', 'cancelled']]);
  });

  test('that is withdrawn while the user is asked is withdrawn at the client, and a late abort changes nothing', async () => {
    const all = await place();
    all.client.on('session/request_permission', () => UNANSWERED);
    const controller = new AbortController();
    const verdict = all.host('write_file', { path: '/work/a' }, {}, controller.signal);
    const { msg } = await all.client.got('session/request_permission');
    controller.abort();
    expect(await verdict).toEqual({ allow: false, reason: 'the call was withdrawn before the user answered' });
    expect((await all.client.got('$/cancel_request')).msg.params).toEqual({ requestId: msg.id });
    expect(all.client.updates(all.id, 'tool_call_update')).toMatchObject([{ status: 'failed' }]);
    all.client.on('session/request_permission', () => selected('allow'));
    const second = new AbortController();
    expect(await all.host('write_file', { path: '/work/a' }, {}, second.signal)).toMatchObject({ allow: true });
    expect(getEventListeners(second.signal, 'abort')).toEqual([]);
    second.abort();
    expect(all.decisions()).toEqual([
      ['deny', 'agent', 'cancelled'],
      ['ask', 'user', 'allow'],
    ]);
  });
});

describe('a call through a bridge', () => {
  test('passes where a rule allows it, and where no rule matches', async () => {
    const all = await place();
    expect([await all.bridged('read', { table: 't' }), await all.bridged('other')]).toEqual([{ allow: true }, { allow: true }]);
    expect(all.entries).toMatchObject([
      { method: 'tools/call', verdict: 'allow', option: 'passed', summary: 'mcp: db:read', session: all.id },
      { verdict: 'ask', answeredBy: 'policy', option: 'passed', summary: 'mcp: db:other' },
    ]);
    expect(JSON.parse(String(all.entries[0]?.request))).toEqual({ server: 'db', tool: 'read', args: { table: 't' } });
  });

  test('is refused where a rule denies it', async () => {
    const all = await place();
    expect(await all.bridged('drop')).toEqual({ allow: false, reason: expect.stringMatching(/^denied by policy: deny by rule no-drop/) });
    expect(all.decisions()).toEqual([['deny', 'policy', 'refused']]);
  });

  test('is put to the user where a rule says so', async () => {
    const all = await place();
    all.client.on('session/request_permission', () => selected('allow'));
    expect(await all.bridged('write', { n: 1 })).toEqual({ allow: true });
    expect(requests(all)[0]?.msg.params.toolCall).toMatchObject({
      ...{ title: 'db: write', kind: 'other', rawInput: { server: 'db', tool: 'write', args: { n: 1 } } },
    });
    all.client.on('session/request_permission', () => selected('reject'));
    expect(await all.bridged('write')).toEqual({ allow: false, reason: 'the user did not allow it' });
  });

  test('does not pass when its decision cannot be recorded', async () => {
    const all = await place();
    all.breakAudit();
    expect([await all.bridged('read'), await all.bridged('other')]).toEqual([NOT_WRITTEN, NOT_WRITTEN]);
  });

  test('passes where the policy only observes', async () => {
    const all = await place({ isObserving: true });
    expect(await all.bridged('drop')).toEqual({ allow: true });
    expect(all.decisions()).toEqual([['deny', 'policy', 'passed']]);
  });
});

describe('the user in the console', () => {
  test('may do what no rule denies: the act itself is the consent', async () => {
    const all = await place();
    expect(all.byUser('edit', '/work/a')).toEqual({ allow: true, evaluatedPath: '/work/a' });
    expect(all.byUser('read', '/work/a')).toEqual({ allow: true, evaluatedPath: '/work/a' });
    expect(all.entries).toMatchObject([
      { method: 'console/edit', verdict: 'ask', answeredBy: 'user', option: 'passed', summary: 'edit: /work/a', session: all.id },
      { method: 'console/read', verdict: 'allow', answeredBy: 'policy', option: 'passed', summary: 'read: /work/a' },
    ]);
    expect(JSON.parse(String(all.entries[0]?.request))).toEqual({ act: 'edit', file: '/work/a' });
  });

  test('may not do what a rule denies, or what cannot be recorded', async () => {
    const all = await place();
    expect(all.byUser('read', '/work/.env')).toEqual({
      allow: false,
      reason: expect.stringMatching(/^denied by policy: deny by rule secrets/),
    });
    expect(all.decisions()).toEqual([['deny', 'policy', 'refused']]);
    all.breakAudit();
    expect(all.byUser('read', '/work/a')).toEqual(NOT_WRITTEN);
  });

  test('may do anything where the policy only observes, even if that cannot be recorded', async () => {
    const all = await place({ isObserving: true });
    expect(all.byUser('read', '/work/.env')).toEqual({ allow: true });
    expect(all.decisions()).toEqual([['deny', 'policy', 'passed']]);
    all.breakAudit();
    expect(all.byUser('read', '/work/.env')).toEqual({ allow: true });
  });
});

test('a search reads only files that are allowed without asking, and any file where the policy only observes', async () => {
  const all = await place();
  expect(['/work/a', '/work/.env', '/etc/passwd'].map(all.mayRead)).toEqual([true, false, false]);
  expect(all.entries).toEqual([]);
  const observing = await place({ isObserving: true });
  expect(['/work/.env', '/etc/passwd'].map(observing.mayRead)).toEqual([true, true]);
});

test('agents see only the tools that the policy exposes', async () => {
  const all = await underPolicy({ mcp: { expose: ['db:r*'] } });
  expect([all.enforcement.exposes('db', 'read'), all.enforcement.exposes('db', 'write')]).toEqual([true, false]);
});

test('a refused token is recorded without a session', async () => {
  const all = await underPolicy({});
  all.enforcement.tokenRefused('expired');
  expect(all.entries).toEqual([
    {
      ...{ agent: 'unknown', method: 'mcp', request: '', summary: 'mcp: a connection', evidence: 'raw', verdict: 'deny', why: 'expired' },
      ...{ answeredBy: 'policy', outcome: 'prevented', option: 'refused', latencyMs: 0, policyHash: '1', mode: 'enforce' },
    },
  ]);
});

describe('a carriage return inside a frame', () => {
  const update = (all: UnderPolicy, text: string) =>
    `{"jsonrpc":"2.0","method":"session/update",${text}"params":{"sessionId":"${all.id}","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"heard"}}}}`;

  test('makes it two lines to some readers, and the client does not get it', async () => {
    const all = await underPolicy({});
    all.agent.write(`${update(all, '\r')}\n`);
    all.agent.write(`${update(all, '')}\n`);
    await all.settled();
    expect(all.client.agentText(all.id)).toBe('heard');
  });

  test('at its end is the end of a line, and nothing else', async () => {
    const all = await underPolicy({});
    all.agent.write(`${update(all, '')}\r\n${update(all, '')}\n${update(all, '\r')}\n`);
    await all.settled();
    expect(all.client.agentText(all.id)).toBe('heardheard');
  });

  test('passes where the policy only observes', async () => {
    const all = await underPolicy({}, { isObserving: true });
    all.agent.write(`${update(all, '\r')}\n`);
    await all.settled();
    expect(all.client.agentText(all.id)).toBe('heard');
  });
});
