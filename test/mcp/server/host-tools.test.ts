// Host tools with real MCP clients (SDK 1.32) in real agents, behind the built proxy.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { describe, expect, vi } from 'vitest';
import { createRemembered } from '../../../src/store/remembered-answers.ts';
import { type Client as AcpClient, hello, open, Refusal, type Stage, test } from '../../e2e/harness.ts';
import { called, HOST_TOOLS, mcpAgent, notified, type Takes, wordsOf } from '../tool-sessions.ts';

const OURS = [
  'read_file',
  'write_file',
  'edit_file',
  'list_directory',
  'search_files',
  'run_command',
  'command_output',
  'kill_command',
  'ask_question',
  'session_info',
];

/** A client that has these files open and allows everything. */
function servesFiles(acpClient: AcpClient, files: Record<string, string>): void {
  acpClient.on('fs/read_text_file', ({ path: file }) => {
    if (files[file] === undefined) throw new Refusal(-32002, `no such file: ${file}`);
    return { content: files[file] };
  });
  acpClient.on('fs/write_text_file', ({ path: file, content }) => {
    files[file] = content;
    return {};
  });
  acpClient.on('session/request_permission', () => ({ outcome: { outcome: 'selected', optionId: 'once' } }));
}

/** All stored records of a session. */
function recordsOf(stage: Stage, sessionId: string): { tools?: unknown }[] {
  const lines = readFileSync(path.join(stage.state, 'sessions.jsonl'), 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line)).filter((record) => record.sessionId === sessionId);
}
const recordOf = (stage: Stage, sessionId: string) => recordsOf(stage, sessionId).at(-1) ?? {};

describe.each<Takes>(['stdio', 'http', 'acp', 'acp-old'])('an agent that takes %s servers', (takes) => {
  test('lists and calls our tools', async ({ stage }) => {
    const acpClient = await stage.connect({ one: mcpAgent(takes) }, { config: HOST_TOOLS });
    const file = path.join(stage.cwd, 'a.txt');
    const files: Record<string, string> = { [file]: 'not saved yet' };
    servesFiles(acpClient, files);
    const { id } = await open(acpClient, stage.cwd);

    const tools = await notified(acpClient, id, 'tools');
    expect(tools.map((tool: { name: string }) => tool.name)).toEqual(OURS);
    expect(wordsOf(await called(acpClient, id, 'read_file', { path: 'a.txt' }))).toBe('not saved yet');
    expect((await called(acpClient, id, 'session_info')).structuredContent).toMatchObject({ session_id: id, agent: 'one', cwd: stage.cwd });
    await called(acpClient, id, 'edit_file', { path: file, old_text: 'not saved', new_text: 'edited' });
    expect(files[file]).toBe('edited yet');
    expect(await called(acpClient, id, 'read_file', {})).toMatchObject({ isError: true });
    expect(await called(acpClient, id, 'no_such_tool')).toMatchObject({ failed: expect.stringContaining('Unknown tool: no_such_tool') });
    expect(recordOf(stage, id).tools).toMatchObject({ transport: takes === 'acp-old' ? 'acp' : takes, state: 'called' });
  });

  test('can cancel a call', async ({ stage }) => {
    if (takes === 'acp-old') return; // that draft had no cancellation
    const acpClient = await stage.connect({ one: mcpAgent(takes) }, { config: HOST_TOOLS });
    acpClient.on('fs/read_text_file', () => new Promise(() => {}));
    const { id } = await open(acpClient, stage.cwd);
    expect(await notified(acpClient, id, 'cancel read_file {"path":"a.txt"}')).toMatch(/^cancelled/);
  });
});

test('the client keeps its servers, and a server name that it uses', async ({ stage }) => {
  const acpClient = await stage.connect({ one: mcpAgent('none') }, { config: HOST_TOOLS });
  const mine = { name: 'switchboard', command: '/bin/true', args: [], env: [], future: 1 };
  const { id } = await open(acpClient, stage.cwd, undefined, { mcpServers: [mine] });
  const servers = await notified(acpClient, id, 'servers');
  expect(servers).toHaveLength(2);
  expect(servers[0]).toEqual(mine);
  for (const { tools } of recordsOf(stage, id)) expect(tools).toEqual({ transport: 'stdio', state: 'offered' });
  expect(servers[1]).toMatchObject({ name: 'switchboard-2', args: [expect.stringContaining('switchboard.js'), 'mcp-shim'] });
  // The token is in the environment, where other users cannot read it.
  expect(JSON.stringify(servers[1].args)).not.toContain(servers[1].env[1].value);
});

test.for([
  ['off', []],
  ['stdio', ['stdio']],
  ['http', ['http']],
] as const)('mcp_transport %s', async ([setting, types], { stage, expect }) => {
  const acpClient = await stage.connect({ one: { ...mcpAgent('http'), mcp_transport: setting } }, { config: HOST_TOOLS });
  const { id } = await open(acpClient, stage.cwd);
  expect((await notified(acpClient, id, 'servers')).map((server: { type?: string }) => server.type ?? 'stdio')).toEqual(types);
});

test('two sessions have separate servers', async ({ stage }) => {
  const acpClient = await stage.connect({ one: mcpAgent('stdio') }, { config: HOST_TOOLS });
  const [a, b] = await Promise.all([open(acpClient, stage.cwd), open(acpClient, stage.cwd)]);
  const [infoA, infoB] = await Promise.all([called(acpClient, a.id, 'session_info'), called(acpClient, b.id, 'session_info')]);
  expect(infoA.structuredContent.session_id).toBe(a.id);
  expect(infoB.structuredContent.session_id).toBe(b.id);
  const tokens = await Promise.all([a, b].map(async ({ id }) => (await notified(acpClient, id, 'servers'))[0].env[1].value));
  expect(new Set(tokens).size).toBe(2);
});

test('a session that is loaded, resumed, forked or recovered has the host tools too', async ({ stage }) => {
  const acpClient = await stage.connect({ one: mcpAgent('stdio') }, { config: HOST_TOOLS });
  const { id } = await open(acpClient, stage.cwd);
  await acpClient.call('session/load', { sessionId: id, cwd: stage.cwd, mcpServers: [] });
  expect((await notified(acpClient, id, 'tools')).length).toBe(OURS.length);
  await acpClient.call('session/resume', { sessionId: id, cwd: stage.cwd });
  expect((await notified(acpClient, id, 'tools')).length).toBe(OURS.length);
  const { sessionId } = await acpClient.call('session/fork', { sessionId: id, cwd: stage.cwd });
  expect((await called(acpClient, sessionId, 'session_info')).structuredContent.session_id).toBe(sessionId);
  await acpClient.refused('session/prompt', { sessionId: id, prompt: [{ type: 'text', text: 'crash' }] });
  expect((await called(acpClient, id, 'session_info')).structuredContent.session_id).toBe(id);
});

test('a session that moves to another agent before its first prompt has the host tools there', async ({ stage }) => {
  const acpClient = await stage.connect({ one: mcpAgent('http', 'one'), two: mcpAgent('stdio', 'two') }, { config: HOST_TOOLS });
  const { sessionId } = await acpClient.call('session/new', { cwd: stage.cwd, mcpServers: [] });
  const first = recordOf(stage, sessionId).tools;
  await acpClient.call('session/set_config_option', { sessionId, configId: 'agent', value: 'two' });
  expect((await called(acpClient, sessionId, 'session_info')).structuredContent).toMatchObject({ session_id: sessionId, agent: 'two' });
  expect([first, recordOf(stage, sessionId).tools]).toMatchObject([{ transport: 'http' }, { transport: 'stdio', state: 'called' }]);
  expect(await notified(acpClient, sessionId, 'servers')).toHaveLength(1);
});

test('a closed session has its tools again when the client reopens it, and none meanwhile', async ({ stage }) => {
  const plain = mcpAgent('http');
  const agents = { one: { ...plain, args: [...(plain.args ?? []), '--plain'] }, two: mcpAgent('none') };
  const acpClient = await stage.connect(agents, { config: HOST_TOOLS });
  const { id } = await open(acpClient, stage.cwd, 'one');
  const [{ url, headers }] = await notified(acpClient, id, 'servers');
  const [{ value: authorization }] = headers;
  const client = new Client({ name: 'the same agent', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { authorization } } }));
  const info = () => client.callTool({ name: 'session_info', arguments: {} });
  expect(await info()).toMatchObject({ structuredContent: { session_id: id } });
  await acpClient.call('session/close', { sessionId: id });
  expect(await info()).toMatchObject({ isError: true, content: [{ text: 'The session this server belongs to is closed' }] });
  await acpClient.call('session/load', { sessionId: id, cwd: stage.cwd, mcpServers: [] });
  expect((await called(acpClient, id, 'session_info')).structuredContent.session_id).toBe(id);
  expect(await info()).toMatchObject({ structuredContent: { session_id: id } });
  await acpClient.call('session/close', { sessionId: id });
  // Only its own process could continue it.
  const { id: other } = await open(acpClient, stage.cwd, 'one');
  await acpClient.refused('session/prompt', { sessionId: other, prompt: [{ type: 'text', text: 'crash' }] });
  await expect(info()).rejects.toThrow();
  const knock = { method: 'POST', headers: { authorization, 'content-type': 'application/json' }, body: '{}' };
  expect((await fetch(url, knock)).status).toBe(401);
});

test("files and terminals that the client lacks are served by the proxy, inside the session's directories and with permission", async ({
  stage,
}) => {
  const acpClient = stage.proxy({ one: mcpAgent('stdio') }, { config: HOST_TOOLS });
  await hello(acpClient, { clientCapabilities: {} });
  const { id } = await open(acpClient, stage.cwd);
  const at = (file: string) => path.join(stage.cwd, file);
  const answers = ['once', 'no', 'once', 'once'];
  acpClient.on('session/request_permission', () => ({ outcome: { outcome: 'selected', optionId: answers.shift() } }));
  expect((await notified(acpClient, id, 'tools')).map((tool: { name: string }) => tool.name)).toEqual(OURS);
  writeFileSync(at('a.txt'), 'one\ntwo\n');
  expect(wordsOf(await called(acpClient, id, 'read_file', { path: 'a.txt', line: 2, limit: 1 }))).toMatch(/^two\n?$/);
  await called(acpClient, id, 'write_file', { path: 'b.txt', content: 'b' });
  expect(readFileSync(at('b.txt'), 'utf8')).toBe('b');
  expect(await called(acpClient, id, 'write_file', { path: 'b.txt', content: 'c' })).toMatchObject({ isError: true });
  expect(readFileSync(at('b.txt'), 'utf8')).toBe('b');
  expect(await called(acpClient, id, 'read_file', { path: '/etc/hostname' })).toMatchObject({ isError: true });
  expect(wordsOf(await called(acpClient, id, 'run_command', { command: 'ls', args: ['a.txt'] }))).toBe('a.txt\n[exit code 0]');
  const script = 'console.log(process.pid); setInterval(() => {}, 1e6)';
  const { structuredContent } = await called(acpClient, id, 'run_command', {
    command: process.execPath,
    args: ['-e', script],
    wait_ms: 300,
  });
  expect(structuredContent).toMatchObject({ running: true });
  const pid = await vi.waitFor(
    async () => {
      const { terminal_id } = structuredContent;
      const [, found] = /^(\d+)/.exec(wordsOf(await called(acpClient, id, 'command_output', { terminal_id }))) ?? [];
      return Number(found ?? expect.unreachable('it has said nothing yet'));
    },
    { timeout: 10_000 },
  );
  await acpClient.call('session/close', { sessionId: id });
  await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'), { timeout: 10_000 });
  expect(acpClient.seen.map(({ msg }) => msg.method).filter((method) => /^(fs|terminal)\//.test(method ?? ''))).toEqual([]);
});

test('a change needs permission, and is not made if the user rejects it; a tool that was allowed for the session is listed and can be revoked', async ({
  stage,
}) => {
  const acpClient = await stage.connect({ one: mcpAgent('stdio') }, { config: HOST_TOOLS });
  const files: Record<string, string> = {};
  servesFiles(acpClient, files);
  const answers = ['no', 'session', 'no'];
  acpClient.on('session/request_permission', () => ({ outcome: { outcome: 'selected', optionId: answers.shift() } }));
  const { id } = await open(acpClient, stage.cwd);
  const write = (content: string) => called(acpClient, id, 'write_file', { path: 'new.txt', content });
  expect(wordsOf(await write('1'))).toBe('write_file was not allowed: the user did not allow it');
  expect(files).toEqual({});
  await write('2');
  await write('3');
  expect(files).toEqual({ [path.join(stage.cwd, 'new.txt')]: '3' });
  expect(acpClient.all('session/request_permission')).toHaveLength(2);
  expect(acpClient.all('session/request_permission')[0]?.msg.params).toMatchObject({
    sessionId: id,
    toolCall: { title: 'write_file new.txt', kind: 'edit', rawInput: { path: 'new.txt', content: '1' } },
  });
  const remembered = createRemembered(stage.state, { redact: (text) => text });
  const [answer] = remembered.list();
  expect(answer).toMatchObject({ verdict: 'allow', scope: 'session', session: id, what: 'host tool switchboard:write_file' });
  remembered.revoke(answer?.id ?? '');
  expect(wordsOf(await write('4'))).toBe('write_file was not allowed: the user did not allow it');
});

test('a call that the agent does not report is shown, and a reported one is not shown twice', async ({ stage }) => {
  const acpClient = await stage.connect({ one: mcpAgent('stdio') }, { config: HOST_TOOLS });
  servesFiles(acpClient, { [path.join(stage.cwd, 'a.txt')]: 'a' });
  const { id } = await open(acpClient, stage.cwd);
  await called(acpClient, id, 'read_file', { path: 'a.txt' });
  await called(acpClient, id, 'read_file', { path: 'b.txt' });
  expect(acpClient.updates(id, 'tool_call')).toMatchObject([
    { title: 'read_file a.txt', status: 'completed' },
    { title: 'read_file b.txt', status: 'failed' },
  ]);
  await notified(acpClient, id, 'report read_file {"path":"a.txt"}');
  expect(acpClient.updates(id, 'tool_call').map(({ title }) => title)).toEqual(['read_file a.txt', 'read_file b.txt', 'mine']);
});

test("a path outside the session's directories is refused, links included", async ({ stage }) => {
  const acpClient = await stage.connect({ one: mcpAgent('stdio') }, { config: HOST_TOOLS });
  servesFiles(acpClient, { '/etc/hostname': 'secret' });
  const { symlinkSync } = await import('node:fs');
  symlinkSync('/etc', path.join(stage.cwd, 'link'));
  writeFileSync(`${stage.cwd}-evil`, '');
  const { id } = await open(acpClient, stage.cwd);
  for (const file of ['/etc/hostname', '../x', 'link/hostname', `${stage.cwd}-evil`, 'a\0b'])
    expect(await called(acpClient, id, 'read_file', { path: file })).toMatchObject({ isError: true });
  expect(acpClient.all('fs/read_text_file')).toEqual([]);
});

test('directories can be listed and files searched, without following links out', async ({ stage }) => {
  const acpClient = await stage.connect({ one: mcpAgent('stdio') }, { config: HOST_TOOLS });
  const { mkdirSync, symlinkSync } = await import('node:fs');
  mkdirSync(path.join(stage.cwd, 'src/deep'), { recursive: true });
  writeFileSync(path.join(stage.cwd, 'src/a.ts'), 'one\ntwo needle\n');
  writeFileSync(path.join(stage.cwd, 'src/deep/b.ts'), 'needle');
  writeFileSync(path.join(stage.dir, 'outside.ts'), 'needle');
  symlinkSync(stage.dir, path.join(stage.cwd, 'src/up'));
  const { id } = await open(acpClient, stage.cwd);
  expect(wordsOf(await called(acpClient, id, 'list_directory'))).toBe('src/');
  expect(wordsOf(await called(acpClient, id, 'list_directory', { path: 'src' }))).toBe('a.ts\ndeep/\nup');
  expect(wordsOf(await called(acpClient, id, 'search_files', { text: 'needle' }))).toBe('src/a.ts:2: two needle\nsrc/deep/b.ts:1: needle');
  expect(wordsOf(await called(acpClient, id, 'search_files', { name: '**/b.*' }))).toBe('src/deep/b.ts');
  expect(wordsOf(await called(acpClient, id, 'search_files', { name: 'x*' }))).toBe('[no matches]');
  for (const outside of ['..', 'src/up', '/etc', 'nowhere'])
    expect(await called(acpClient, id, 'list_directory', { path: outside })).toMatchObject({ isError: true });
  for (const args of [{}, { name: '{a,b}' }, { name: '*a*a*a*a*a' }])
    expect(await called(acpClient, id, 'search_files', args)).toMatchObject({ isError: true });
});

test("commands run in the client's terminals", async ({ stage }) => {
  const acpClient = await stage.connect({ one: mcpAgent('http') }, { config: HOST_TOOLS });
  servesFiles(acpClient, {});
  acpClient.on('terminal/create', () => ({ terminalId: 'T1' }));
  acpClient.on('terminal/wait_for_exit', () => ({ exitCode: 3 }));
  acpClient.on('terminal/output', () => ({ output: 'hello', truncated: false, exitStatus: { exitCode: 3 } }));
  acpClient.on('terminal/release', () => ({}));
  const { id } = await open(acpClient, stage.cwd);
  const ran = await called(acpClient, id, 'run_command', { command: 'ls', args: ['-l', 'a b; rm -rf /'] });
  expect(wordsOf(ran)).toBe('hello\n[exit code 3]');
  expect(acpClient.all('terminal/create')[0]?.msg.params).toMatchObject({
    sessionId: id,
    command: 'ls',
    args: ['-l', 'a b; rm -rf /'],
    cwd: stage.cwd,
  });
  expect(acpClient.all('terminal/release')).toHaveLength(1);
  expect(await called(acpClient, id, 'command_output', { terminal_id: 'T1' })).toMatchObject({ isError: true });
});

test('a question to the user is a form, or a choice if the client does not support forms', async ({ stage }) => {
  const acpClient = stage.proxy({ one: mcpAgent('stdio') }, { config: HOST_TOOLS });
  await acpClient.call('initialize', { protocolVersion: 1, clientCapabilities: { elicitation: { form: {} } } });
  acpClient.on('elicitation/create', () => ({ action: 'accept', content: { answer: 'blue' } }));
  const { id } = await open(acpClient, stage.cwd);
  expect(wordsOf(await called(acpClient, id, 'ask_question', { question: 'Which colour?' }))).toBe('blue');
  expect(acpClient.all('elicitation/create')[0]?.msg.params).toMatchObject({ sessionId: id, mode: 'form', message: 'Which colour?' });

  const plain = await stage.connect({ one: mcpAgent('stdio') }, { config: HOST_TOOLS });
  plain.on('session/request_permission', ({ options }) => ({ outcome: { outcome: 'selected', optionId: options[1].optionId } }));
  const other = await open(plain, stage.cwd);
  expect(wordsOf(await called(plain, other.id, 'ask_question', { question: 'Which?', choices: ['red', 'green'] }))).toBe('green');
  expect(await called(plain, other.id, 'ask_question', { question: 'Which?' })).toMatchObject({ isError: true });
});

test('tools can be disabled by kind, and the user can add some', async ({ stage }) => {
  const count = {
    name: 'count',
    description: 'Counts words.',
    command: process.execPath,
    args: ['-e', 'console.log(process.argv.slice(1))', '--', '{words}', 'x={n}'],
  };
  const commands = [
    {
      ...count,
      input_schema: {
        type: 'object',
        properties: { words: { type: 'array', items: { type: 'string' } }, n: { type: 'number' } },
        required: ['words'],
      },
    },
  ];
  const config = { host_tools: { files: false, terminal: false, ask_user: false, commands } };
  const acpClient = await stage.connect({ one: mcpAgent('stdio') }, { config });
  servesFiles(acpClient, {});
  const { id } = await open(acpClient, stage.cwd);
  expect((await notified(acpClient, id, 'tools')).map((tool: { name: string }) => tool.name)).toEqual(['session_info', 'count']);
  expect(wordsOf(await called(acpClient, id, 'count', { words: ['a b', '$(id)'], n: 2 }))).toBe("[ 'a b', '$(id)', 'x=2' ]\n");
  expect(wordsOf(await called(acpClient, id, 'count', { words: 1 }))).toContain('not valid');
});
