// Host tools under a policy, with files and terminals that the proxy serves.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, vi } from 'vitest';
import { hello, type Json, open, prompt, type Stage, test, UNANSWERED } from '../e2e/harness.ts';
import { called, HOST_TOOLS, mcpAgent, notified, wordsOf } from './tool-sessions.ts';

const POLICY = {
  deny: [{ id: 'secrets', path: ['**/.env'], reason: 'secrets' }, 'mcp(switchboard:ask_user)'],
  allow: ['read($cwd/**)', 'search($cwd/**)', 'edit($cwd/src/**)', 'execute(ls ...)'],
  mcp: { expose: ['switchboard:*'] },
};

async function place(stage: Stage, policy: Json = POLICY) {
  const config = { host_tools: { enabled: true }, policy: { version: 1, ...policy }, workspace: 'serve-missing' };
  const client = stage.proxy({ one: mcpAgent('stdio') }, { config });
  await hello(client, { clientCapabilities: {} });
  const { id } = await open(client, stage.cwd);
  const call = (tool: string, args: Json = {}) => called(client, id, tool, args);
  const audited = () =>
    readFileSync(path.join(stage.state, 'audit.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  return { client, id, call, audited, at: (file: string) => path.join(stage.cwd, file) };
}

test('an allowed call runs, a denied one does not, and both are audited', async ({ stage }) => {
  const { client, call, audited, at } = await place(stage);
  writeFileSync(at('a.txt'), 'one\ntwo\n');
  writeFileSync(at('.env'), 'KEY=1');
  expect(wordsOf(await call('read_file', { path: 'a.txt', line: 2, limit: 1 }))).toMatch(/^two\n?$/);
  expect(wordsOf(await call('read_file', { path: '.env' }))).toMatch(/^read_file was not allowed: denied by policy: .*secrets/);
  expect(wordsOf(await call('read_file', { path: './x/../.env' }))).toContain('denied by policy');
  expect(wordsOf(await call('search_files', { text: 'KEY' }))).toBe('[no matches]');
  // The rule names the tool as version 0.1 did, and so may an agent that continues an old conversation.
  for (const name of ['ask_user', 'ask_question'])
    expect(wordsOf(await call(name, { question: 'May I?' }))).toContain('was not allowed: denied by policy');
  const calls = audited().filter((line: Json) => JSON.stringify(line).includes('tools/call'));
  expect(calls.length).toBe(6);
  expect((await call('session_info')).structuredContent).toMatchObject({ agent: 'one' });
  expect(client.all('session/request_permission')).toEqual([]);
});

test('without a default allow, a rule for the file or the command is enough', async ({ stage }) => {
  const { call, at } = await place(stage, { ...POLICY, default: 'deny' });
  writeFileSync(at('a.txt'), 'one\n');
  expect(wordsOf(await call('read_file', { path: 'a.txt' }))).toMatch(/^one\n?$/);
  expect(wordsOf(await call('run_command', { command: 'ls', args: ['a.txt'] }))).toBe('a.txt\n[exit code 0]');
  expect(wordsOf(await call('write_file', { path: 'new.txt', content: 'x' }))).toContain('the default is deny');
  expect(wordsOf(await call('ask_user', { question: 'May I?' }))).toContain('denied by policy');
  expect(existsSync(at('new.txt'))).toBe(false);
});

test('an undecided call asks the user once, for the tool and not again for its action', async ({ stage }) => {
  const { client, call, at } = await place(stage);
  const answers = ['reject', 'allow'];
  client.on('session/request_permission', () => ({ outcome: { outcome: 'selected', optionId: answers.shift() } }));
  expect(wordsOf(await call('write_file', { path: 'new.txt', content: 'x' }))).toContain('the user did not allow it');
  await call('write_file', { path: 'new.txt', content: 'y' });
  expect(readFileSync(at('new.txt'), 'utf8')).toBe('y');
  expect(client.all('session/request_permission')).toHaveLength(2);
});

test("commands are evaluated as commands and run in the proxy's terminals", async ({ stage }) => {
  const { client, call, at } = await place(stage);
  writeFileSync(at('a.txt'), '');
  expect(wordsOf(await call('run_command', { command: 'ls', args: ['a.txt'] }))).toBe('a.txt\n[exit code 0]');
  client.on('session/request_permission', () => ({ outcome: { outcome: 'cancelled' } }));
  expect(wordsOf(await call('run_command', { command: 'rm', args: ['a.txt'] }))).toContain('not allowed');
  expect(readFileSync(at('a.txt'), 'utf8')).toBe('');
});

test('a long-running command stays in the background and can be inspected and ended', async ({ stage }) => {
  const { client, call } = await place(stage, { default: 'ask' });
  client.on('session/request_permission', () => ({ outcome: { outcome: 'selected', optionId: 'allow' } }));
  const started = await call('run_command', { command: process.execPath, args: ['-e', 'setInterval(() => {}, 1e6)'], wait_ms: 0 });
  expect(started.structuredContent).toMatchObject({ running: true });
  const { terminal_id } = started.structuredContent;
  expect((await call('command_output', { terminal_id })).structuredContent).toMatchObject({ running: true });
  expect((await call('kill_command', { terminal_id })).structuredContent).toMatchObject({ running: false });
  expect(await call('command_output', { terminal_id })).toMatchObject({ isError: true });
});

test('tools that the policy does not expose are not listed', async ({ stage }) => {
  const { client, id, call } = await place(stage, { ...POLICY, mcp: { expose: ['switchboard:read_*'] } });
  expect((await notified(client, id, 'tools')).map((tool: { name: string }) => tool.name)).toEqual(['read_file']);
  expect(wordsOf(await call('write_file', { path: 'x', content: '' }))).toContain('Unknown tool: write_file');
});

test("a policy that changed while the user decided overrides the user's yes", async ({ stage }) => {
  const file = path.join(stage.dir, 'policy.yaml');
  writeFileSync(file, 'version: 1\nmcp: { expose: ["switchboard:*"] }\n');
  const config = { host_tools: { enabled: true }, policy: 'policy.yaml', workspace: 'serve-missing' };
  const client = stage.proxy({ one: mcpAgent('stdio') }, { config });
  await hello(client, { clientCapabilities: {} });
  const { id } = await open(client, stage.cwd);
  client.on('session/request_permission', () => UNANSWERED);
  const written = called(client, id, 'write_file', { path: 'new.txt', content: 'x' });
  const asked = await client.got('session/request_permission');
  writeFileSync(file, 'version: 1\ndeny: [edit]\nmcp: { expose: ["switchboard:*"] }\n');
  await vi.waitFor(() => expect(client.stderr()).toContain('applies to all sessions'), { timeout: 20_000, interval: 50 });
  client.reply(asked.msg, { outcome: { outcome: 'selected', optionId: 'allow' } });
  expect(wordsOf(await written)).toContain('denied by policy');
  expect(existsSync(path.join(stage.cwd, 'new.txt'))).toBe(false);
});

test('a request with a wrong token is audited; one with the token of an ended session is refused without an alarm', async ({ stage }) => {
  const config = { host_tools: { enabled: true }, policy: { version: 1, ...POLICY } };
  const client = await stage.connect({ one: mcpAgent('http') }, { config });
  const { id } = await open(client, stage.cwd);
  const [{ url, headers }] = await notified(client, id, 'servers');
  const statusWith = async (authorization: string) =>
    (await fetch(url, { method: 'POST', headers: { authorization, 'content-type': 'application/json' }, body: '{}' })).status;
  expect(await statusWith(`Bearer sbmcp_${'A'.repeat(43)}`)).toBe(401);
  await client.call('session/close', { sessionId: id });
  expect(await statusWith(headers[0].value)).toBe(401);
  const audit = readFileSync(path.join(stage.state, 'audit.jsonl'), 'utf8');
  const lines = audit
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines.filter(({ method }) => method === 'mcp')).toMatchObject([{ verdict: 'deny', agent: 'unknown' }]);
  expect(audit).not.toContain(headers[0].value.slice('Bearer '.length));
  await expect.poll(client.stderr).toContain('rejected an MCP connection to the tools of a session');
});

test.for([
  ['stdio', 'withdraw the call'],
  ['stdio', 'disconnect'],
  ['http', 'withdraw the call'],
  ['http', 'disconnect'],
  ['acp', 'withdraw the call'],
] as const)('over %s, a pending permission request is cancelled after: %s', async ([takes, words], { stage }) => {
  const client = await stage.connect(
    { one: mcpAgent(takes) },
    { config: { ...HOST_TOOLS, policy: { version: 1 }, workspace: 'serve-missing' } },
  );
  const { id } = await open(client, stage.cwd);
  client.on('session/request_permission', () => UNANSWERED);
  const call = prompt(client, id, 'call write_file {"path":"new.txt","content":"x"}');
  const asked = await client.got('session/request_permission');
  await prompt(client, id, words);
  const { msg } = await client.got('$/cancel_request');
  expect(msg.params).toEqual({ requestId: asked.msg.id });
  client.reply(asked.msg, { outcome: { outcome: 'selected', optionId: 'allow' } }); // too late
  await call;
  expect(client.agentText(id)).toMatch(/changed my mind|cancelled|closed/i);
  expect(existsSync(path.join(stage.cwd, 'new.txt'))).toBe(false);
  expect(client.all('$/cancel_request')).toHaveLength(1);
  const lines = readFileSync(path.join(stage.state, 'audit.jsonl'), 'utf8').trim().split('\n');
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ verdict: 'deny', by: 'agent', option: 'cancelled' }]);
});
