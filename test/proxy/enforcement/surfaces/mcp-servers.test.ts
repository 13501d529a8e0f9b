// MCP servers that the client brings, and calls to tools of servers inside the client.
import { describe, expect, test } from 'vitest';
import { type Json, UNANSWERED } from '../../../e2e/harness.ts';
import { selected } from '../../../e2e/policy-support.ts';
import { CWD } from '../../actors.ts';
import { CANCELLED, type PolicyOptions, type UnderPolicy, underPolicy } from '../support.ts';

const POLICY = {
  deny: [
    { id: 'no-sudo', action: 'execute', command: 'sudo ...' },
    { id: 'no-evil', action: 'fetch', host: 'evil.example' },
    { id: 'no-drop', action: 'mcp', mcp: 'db:drop' },
  ],
  ask: [{ id: 'ask-write', action: 'mcp', mcp: 'db:write' }],
  allow: [{ action: 'mcp', mcp: 'db:read' }],
};

const IN_CLIENT = { type: 'acp', name: 'db', serverId: 'srv-1' };

async function place(options: PolicyOptions = {}, policy: object = POLICY): Promise<UnderPolicy> {
  const all = await underPolicy(policy, options);
  await all.client.call('session/new', { cwd: CWD, mcpServers: [IN_CLIENT] });
  all.client.on('mcp/message', () => ({ result: { content: [] } }));
  return all;
}
const requests = ({ client }: UnderPolicy) => client.all('session/request_permission');
const message = (name: unknown, more: Json = {}) => ({
  ...{ serverId: 'srv-1', requestId: '1', method: 'tools/call', params: { name, arguments: { table: 't' } } },
  ...more,
});
const call = (all: UnderPolicy, name: unknown, more?: Json) => all.agent.request('mcp/message', message(name, more));

describe('a server that the client brings', () => {
  test.each([
    [{ name: 'evil', command: 'sudo', args: ['x'], env: [] }, 'no-sudo', 'execute: sudo x'],
    [{ name: 'far', type: 'http', url: 'https://evil.example/mcp', headers: [] }, 'no-evil', 'fetch: evil.example'],
  ])('is refused with the session where a rule denies it: %j', async (server, rule, summary) => {
    const all = await underPolicy(POLICY);
    const before = all.agent.all('session/new').length;
    const error = await all.client.refused('session/new', { cwd: CWD, mcpServers: [server] });
    expect(error).toMatchObject({
      code: -32602,
      message: expect.stringContaining(`MCP server "${server.name}" is not allowed for agent "agent": deny by rule ${rule}`),
      data: { rule },
    });
    expect(all.agent.all('session/new')).toHaveLength(before);
    expect(all.entries).toMatchObject([{ method: 'mcpServers', verdict: 'deny', answeredBy: 'policy', option: 'refused', summary }]);
    expect(String(all.entries[0]?.request)).toBe(JSON.stringify(server));
  });

  test.each([
    { name: 'odd', command: ['sudo', 'x'], args: [], env: [] },
    { name: 'odd', command: 'docs-mcp', args: [{ toString: 'x' }], env: [] },
    { name: 'odd', command: 'docs-mcp', args: 'x', env: [] },
    { name: 'odd', url: 7 },
  ])('is refused where it cannot be read: %j', async (server) => {
    const all = await underPolicy(POLICY);
    const error = await all.client.refused('session/new', { cwd: CWD, mcpServers: [server] });
    expect(error.message).toContain('MCP server "odd" is not allowed for agent "agent": its command or URL cannot be read');
    expect(all.entries).toMatchObject([{ verdict: 'deny', option: 'refused', why: 'its command or URL cannot be read' }]);
  });

  test('that is nothing at all is refused too', async () => {
    const all = await underPolicy(POLICY);
    expect(all.enforcement.refusesServers((await all.session()).agent, '{"mcpServers":[null]}')?.message).toContain('cannot be read');
  });

  test('is recorded and passes where no rule denies it, and one inside the client is evaluated call by call', async () => {
    const all = await underPolicy(POLICY);
    const servers = [
      { name: 'tame', command: 'docs-mcp', args: ['--quiet'], env: [] },
      { name: 'near', type: 'http', url: 'https://good.example/mcp', headers: [] },
      { name: 'short', command: 'docs-mcp' },
      IN_CLIENT,
    ];
    await all.client.call('session/new', { cwd: CWD, mcpServers: servers });
    expect(all.entries.map(({ summary, option, verdict }) => [summary, option, verdict])).toEqual([
      ['execute: docs-mcp --quiet', 'passed', 'ask'],
      ['fetch: good.example', 'passed', 'ask'],
      ['execute: docs-mcp', 'passed', 'ask'],
    ]);
  });

  test('is evaluated in the directory of its session', async () => {
    const all = await underPolicy({ deny: [{ id: 'here', action: 'execute', command: 'cat ...', path: ['/elsewhere/**'] }] });
    const server = { name: 'cat', command: 'cat', args: ['secret'], env: [] };
    const refused = await all.client.request('session/new', { cwd: '/elsewhere', mcpServers: [server] });
    expect(refused.error?.message).toContain('deny by rule here');
    expect((await all.client.request('session/new', { cwd: CWD, mcpServers: [server] })).result).toBeDefined();
  });

  test('passes where the policy only observes, with what would have been refused', async () => {
    const all = await underPolicy(POLICY, { isObserving: true });
    const servers = [
      { name: 'odd', command: ['x'] },
      { name: 'evil', command: 'sudo', args: ['x'], env: [] },
    ];
    await all.client.call('session/new', { cwd: CWD, mcpServers: servers });
    expect(all.decisions()).toEqual([
      ['deny', 'policy', 'passed'],
      ['deny', 'policy', 'passed'],
    ]);
  });

  test.each([undefined, 'null', '{}', '{"mcpServers":{}}'])('is none in the params %s', async (params) => {
    const all = await underPolicy(POLICY);
    expect(all.enforcement.refusesServers((await all.session()).agent, params)).toBeUndefined();
    expect(all.entries).toEqual([]);
  });
});

describe('a call to a tool inside the client', () => {
  test('passes where a rule allows it, and where no rule matches: the tools are the client’s own', async () => {
    const all = await place();
    for (const tool of ['read', 'other']) expect((await call(all, tool)).result).toEqual({ result: { content: [] } });
    expect(all.entries).toMatchObject([
      { method: 'mcp/message', verdict: 'allow', answeredBy: 'policy', option: 'passed', summary: 'mcp: db:read' },
      { method: 'mcp/message', verdict: 'ask', answeredBy: 'policy', option: 'passed', summary: 'mcp: db:other' },
    ]);
    expect([all.client.all('mcp/message').length, requests(all)]).toEqual([2, []]);
  });

  test('is an error of the tool where a rule denies it', async () => {
    const all = await place();
    const { result } = await call(all, 'drop');
    expect(result.error).toMatchObject({ code: -32603, message: expect.stringMatching(/^Denied by policy: deny by rule no-drop/) });
    expect(all.client.all('mcp/message')).toEqual([]);
    expect(all.decisions()).toEqual([['deny', 'policy', 'refused']]);
  });

  test('that cannot be recorded does not pass unseen', async () => {
    const all = await place();
    all.breakAudit();
    all.client.on('session/request_permission', () => selected('reject'));
    expect((await call(all, 'read')).result.error.message).toBe('Denied by policy: the user refused it');
    expect([requests(all).length, all.client.all('mcp/message')]).toEqual([1, []]);
  });

  test('is put to the user in the agent’s latest session where a rule says so', async () => {
    const all = await place();
    all.client.on('session/request_permission', () => selected('allow'));
    expect((await call(all, 'write')).result).toEqual({ result: { content: [] } });
    const [request] = requests(all);
    expect(request?.msg.params).toMatchObject({
      sessionId: 's2',
      toolCall: { title: 'Use db: write', kind: 'other', rawInput: { server: 'db', tool: 'write', arguments: { table: 't' } } },
      _meta: { 'acp-switchboard': { summary: 'mcp: db:write', why: expect.stringContaining('ask by rule ask-write') } },
    });
    expect(all.client.all('mcp/message')[0]?.msg.params).toEqual(message('write'));
    expect(all.decisions()).toEqual([['ask', 'user', 'allow']]);
  });

  test.each([selected('reject'), CANCELLED])('does not pass when the user answers %j', async (answer) => {
    const all = await place();
    all.client.on('session/request_permission', () => answer);
    expect((await call(all, 'write')).result.error.message).toBe('Denied by policy: the user refused it');
    expect(all.client.all('mcp/message')).toEqual([]);
  });

  test('does not pass when the policy denies it by the time of the consent', async () => {
    const all = await place();
    all.client.on('session/request_permission', () => {
      all.replacePolicy({ deny: [{ id: 'now', action: 'mcp', mcp: 'db:*' }] });
      return selected('allow');
    });
    expect((await call(all, 'write')).result.error.message).toContain('Denied by policy: deny by rule now');
    expect(all.client.all('mcp/message')).toEqual([]);
    expect(all.decisions()).toEqual([
      ['ask', 'user', 'allow'],
      ['deny', 'policy', 'refused'],
    ]);
  });

  test.each([
    ['an unknown server', { serverId: 'foreign' }, 'foreign'],
    ['no server', { serverId: undefined }, 'undefined'],
    ['a server in another form', { serverId: 7 }, '7'],
    ['an unknown connection', { serverId: undefined, connectionId: 'c9' }, 'c9'],
    ['no tool', { params: {} }, 'srv-1'],
    ['no params', { params: undefined }, 'srv-1'],
    ['a tool in another form', { params: { name: ['read'] } }, 'srv-1'],
    ['no method', { method: undefined }, 'srv-1'],
    ['a method in another form', { method: ['tools/call'] }, 'srv-1'],
  ])('that names %s is refused and recorded', async (_, more, named) => {
    const all = await place();
    expect((await call(all, 'read', more)).error).toMatchObject({ code: -33001, message: `This agent has no MCP server "${named}"` });
    expect(all.client.all('mcp/message')).toEqual([]);
    expect(all.entries).toMatchObject([
      { verdict: 'deny', option: 'refused', why: 'it names no tool of a server that the agent was given' },
    ]);
  });

  test('of another kind than a tool call is not evaluated', async () => {
    const all = await place();
    expect((await call(all, 'drop', { method: 'tools/list' })).result).toEqual({ result: { content: [] } });
    expect(all.entries).toEqual([]);
  });

  test('passes where the policy only observes', async () => {
    const all = await place({ isObserving: true });
    expect((await call(all, 'drop')).result).toEqual({ result: { content: [] } });
    expect((await call(all, 7)).result).toEqual({ result: { content: [] } });
    expect(all.decisions()).toEqual([
      ['deny', 'policy', 'passed'],
      ['deny', 'policy', 'passed'],
    ]);
  });
});

describe('a connection of the older draft', () => {
  test.each(['acpId', 'serverId', 'id'])('is known by the server that %s named when it was opened', async (key) => {
    const all = await place();
    all.client.on('mcp/connect', () => ({ connectionId: 'c1' }));
    expect(await all.agent.call('mcp/connect', { [key]: 'srv-1' })).toEqual({ connectionId: 'c1' });
    const { result } = await call(all, 'drop', { serverId: undefined, connectionId: 'c1' });
    expect(result.error.message).toContain('deny by rule no-drop');
    expect(all.entries).toMatchObject([{ summary: 'mcp: db:drop' }]);
  });

  test('that the client refused, or that names no known server, is none', async () => {
    const all = await place();
    all.client.on('mcp/connect', (_: Json, { id }: Json) => {
      all.client.send({ jsonrpc: '2.0', id, error: { code: -32099, message: 'no', data: { connectionId: 'c1' } } });
      return UNANSWERED;
    });
    expect((await all.agent.refused('mcp/connect', { serverId: 'srv-1' })).code).toBe(-32099);
    all.client.on('mcp/connect', () => ({ connectionId: 'c2' }));
    await all.agent.call('mcp/connect', { serverId: 'foreign' });
    for (const connectionId of ['c1', 'c2']) {
      const { error } = await call(all, 'read', { serverId: undefined, connectionId });
      expect(error?.message).toBe(`This agent has no MCP server "${connectionId}"`);
    }
  });
});
