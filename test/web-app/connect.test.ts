// Which agent a page gets with `connect`, with which variables and arguments, and what it cannot have.
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';
import { WebSocket } from 'ws';
import { createToken, startDaemon } from '../e2e/daemon.ts';
import { fixture, type Json, test } from '../e2e/harness.ts';
import { openPage, type TestPage } from './page.ts';

const shows = fixture('shows-start', 'shows');
const line = (words: readonly string[]) => words.join(' ');

test('the snippet of docs/web-app.md connects', async ({ stage }) => {
  const daemon = await startDaemon(stage, { claude: shows });
  const [, snippet = ''] = /```js\n(.*?)```/s.exec(readFileSync(path.resolve(import.meta.dirname, '../../docs/web-app.md'), 'utf8')) ?? [];
  const code = snippet.replace('ws://127.0.0.1:8137', daemon.address.replace(/^http/, 'ws'));
  const received = new Promise<Json>((resolve) => {
    const log = (message: Json) => message.type === 'acp_response' && resolve(message);
    new Function('WebSocket', 'token', 'console', code)(WebSocket, createToken(stage, 'web'), { log });
  });
  expect(await received).toMatchObject({ id: 1, ok: true, result: { ok: true, agent: 'claude', init: { protocolVersion: 1 } } });
});

/** How the agent of the page was started. */
async function startOf(page: TestPage, names = 'NONE'): Promise<Json> {
  const { sessionId } = await page.call('session.new', {});
  await page.call('prompt', { sessionId, prompt: [{ type: 'text', text: names }] });
  const { update } = await page.got(
    'session_update',
    (message) => message.sessionId === sessionId && message.update.type === 'agent_message_chunk',
  );
  return JSON.parse(update.content.text);
}

test('agentCmd names a configured agent, and nothing else unless commands are allowed', async ({ stage }) => {
  const broken = { command: path.join(stage.dir, 'missing') };
  const daemon = await startDaemon(stage, { shows, broken }, { config: { default_agent: 'shows' } });
  const page = await openPage(daemon, createToken(stage, 'web'));
  for (const agentCmd of ['shows', line([shows.command, ...shows.args]), line(['node', ...shows.args]), '', undefined])
    expect(await page.call('connect', { agentCmd })).toMatchObject({ ok: true, agent: 'shows' });
  for (const agentCmd of [line([shows.command, ...shows.args, 'more']), shows.command, 'rm -rf /', '/bin/sh'])
    expect((await page.refused('connect', { agentCmd })).message).toContain('use one of shows, broken, or let the owner');
  expect((await page.refused('connect', { agentCmd: 'broken' })).message).toContain('broken');
  expect((await page.refused('session.new', {})).message).toContain('send connect first');
  await page.call('connect', { agentCmd: 'shows', proxy: 'http://proxy.example:8080' });
  expect((await startOf(page)).args).toEqual(['shows', '--proxy', 'http://proxy.example:8080']);
  for (const proxy of ['proxy.example', 'file:///etc/passwd', 'http://a b', '--help'])
    expect((await page.refused('connect', { agentCmd: 'shows', proxy })).message).toContain('proxy must be a URL');

  const open = await startDaemon(stage, { shows }, { config: { web_app: { allow_commands: true } } });
  const free = await openPage(open, createToken(stage, 'free'));
  expect(await free.call('connect', { agentCmd: line([shows.command, ...shows.args, "'a word'"]), cwd: stage.cwd })).toMatchObject({
    agent: 'web-app.node',
  });
  expect(await startOf(free)).toMatchObject({ args: ['shows', 'a word'], cwd: stage.cwd });
  expect((await free.refused('connect', { agentCmd: 'no-such-program' })).message).toContain('no-such-program');
  expect((await free.refused('connect', { agentCmd: line([shows.command, 'x']), env: { LD_PRELOAD: '/tmp/x.so' } })).message).toContain(
    'load code',
  );
});

test('env gives an agent keys and what its settings name, and nothing that loads code', async ({ stage }) => {
  const listed = { ...shows, env: { REGION: 'eu', NODE_OPTIONS: '' } };
  const daemon = await startDaemon(stage, { listed, elsewhere: { url: 'ws://127.0.0.1:9/' } as Json });
  const page = await openPage(daemon, createToken(stage, 'web', 'owner'));
  await page.call('connect', { agentCmd: 'listed', env: { KEY: 'k', ANTHROPIC_API_KEY: 'page-api-key', REGION: 'us', LC_ALL: 'C' } });
  const first = await startOf(page, 'KEY ANTHROPIC_API_KEY REGION LC_ALL');
  expect(first.env).toEqual({ KEY: 'k', ANTHROPIC_API_KEY: 'page-api-key', REGION: 'us', LC_ALL: 'C' });
  for (const [env, why] of [
    [{ NODE_OPTIONS: '--require=/tmp/x.js' }, 'load code'],
    [{ node_options: '--require=/tmp/x.js' }, 'load code'],
    [{ LD_PRELOAD: '/tmp/x.so' }, 'load code'],
    [{ DYLD_INSERT_LIBRARIES: 'x' }, 'load code'],
    [{ PATH: '/tmp' }, 'load code'],
    [{ PYTHONSTARTUP: '/tmp/x.py' }, 'load code'],
    [{ GIT_SSH_COMMAND: 'sh -c x' }, 'load code'],
    [{ SWITCHBOARD_TOKEN: 'x' }, 'load code'],
    [{ ANTHROPIC_BASE_URL: 'https://evil.example' }, 'naming it in env of the agent'],
    [{ HTTPS_PROXY: 'http://evil.example' }, 'naming it in env of the agent'],
    [{ 'A=B': 'x' }, 'not the name of a variable'],
    [{ KEY: 'a\0b' }, 'NUL'],
    [{ KEY: 7 }, 'env.KEY'],
    [['KEY=1'], 'env'],
  ] as const)
    expect([env, (await page.refused('connect', { agentCmd: 'listed', env })).message]).toEqual([env, expect.stringContaining(why)]);
  expect((await page.refused('connect', { agentCmd: 'elsewhere', env: { KEY: 'k' } })).message).toContain('runs elsewhere');

  // The same settings: the same process. Others: another one, and its sessions go on.
  const env = { KEY: 'k', ANTHROPIC_API_KEY: 'page-api-key', REGION: 'us', LC_ALL: 'C' };
  await page.call('connect', { agentCmd: 'listed', env });
  const { sessionId } = await page.call('session.last');
  expect((await startOf(page)).pid).toBe(first.pid);
  await page.call('connect', { agentCmd: 'listed', env: { KEY: 'another' } });
  expect(await startOf(page, 'KEY')).toMatchObject({ env: { KEY: 'another' } });
  expect(await page.call('prompt', { sessionId, prompt: [{ type: 'text', text: 'KEY' }] })).toMatchObject({
    stopReason: 'end_turn',
    sessionId,
  });
});

test('sessions open in allowed directories, and MCP servers of a page are not programs', async ({ stage }) => {
  const inside = path.join(stage.cwd, 'inside');
  mkdirSync(inside);
  symlinkSync('/', path.join(inside, 'way-out'));
  const daemon = await startDaemon(stage, { shows }, { config: { allow_cwd: [inside] } });
  const page = await openPage(daemon, createToken(stage, 'web'));
  for (const cwd of [stage.cwd, '/', path.join(inside, 'way-out')])
    expect((await page.refused('connect', { agentCmd: 'shows', cwd })).message).toContain('not in allow_cwd');
  for (const cwd of ['relative', path.join(inside, 'missing')])
    expect((await page.refused('connect', { agentCmd: 'shows', cwd })).message).toContain('absolute path of a directory');
  await page.call('connect', { agentCmd: 'shows', cwd: inside });
  // Where its program starts is not the page's choice: its words may be relative.
  expect((await startOf(page)).cwd).toBe(stage.cwd);
  expect((await page.refused('session.new', { cwd: '/' })).message).toContain('not in allow_cwd');
  const program = { name: 'shell', command: '/bin/sh', args: ['-c', 'true'] };
  const owner = await openPage(daemon, createToken(stage, 'boss', 'owner'));
  await owner.call('connect', { agentCmd: 'shows' });
  for (const one of [page, owner]) {
    expect((await one.refused('session.new', { mcpServers: [program] })).message).toContain('network_clients.stdio_servers');
    expect((await one.refused('session.new', { mcpServers: [{ ...program, type: 'stdio' }] })).message).toContain(
      'network_clients.stdio_servers',
    );
    expect((await one.refused('session.new', { mcpServers: [{ name: 'x', url: 'file:///x' }] })).message).toContain('mcpServers');
  }
  const open = await startDaemon(stage, { shows }, { config: { network_clients: { stdio_servers: true } } });
  const allowed = await openPage(open, createToken(stage, 'allowed'));
  await allowed.call('connect', { agentCmd: 'shows' });
  expect(await allowed.call('session.new', { mcpServers: [{ ...program, env: { A: 'b' } }] })).toMatchObject({
    sessionId: expect.any(String),
  });
});
