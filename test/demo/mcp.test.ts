// MCP servers of a demo session.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { type McpServer, methods } from '@agentclientprotocol/sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadedAtStart } from './bundle.ts';
import { type Client, isUpdate, only, startClient } from './client.ts';

const echoFile = path.resolve(import.meta.dirname, '../fixtures/mcp-echo.mjs');
const stdioServer: McpServer = {
  name: 'local',
  command: process.execPath,
  args: [echoFile],
  env: [{ name: 'ECHO_PREFIX', value: 'local>' }],
};
let httpServer: McpServer;
let httpProcess: ChildProcess;
let sketcher: Client;
let builder: Client;
/** Builder's session with the stdio server, which starts once for all tests. */
let sessionId: string;

beforeAll(async () => {
  httpProcess = spawn(process.execPath, [echoFile, '--http'], { stdio: ['ignore', 'pipe', 'inherit'] });
  [sketcher, builder] = await Promise.all([startClient('sketcher'), startClient('builder')]);
  const url = httpProcess.stdout ? String((await once(httpProcess.stdout, 'data'))[0]).trim() : '';
  httpServer = { type: 'http', name: 'web', url, headers: [{ name: 'x-echo-prefix', value: 'web>' }] };
  sessionId = await builder.newSession([stdioServer]);
});
afterAll(async () => {
  httpProcess.kill(); // first: it must not outlive the tests when an agent does not end
  await Promise.all([sketcher.end(), builder.end()]);
});

test('/tools lists the tools of a stdio and an HTTP server, and names a server that cannot be started', async () => {
  const broken = { name: 'broken', command: '/nonexistent/mcp', args: [], env: [] };
  const { stopReason, text } = await sketcher.prompt(await sketcher.newSession([stdioServer, broken, httpServer]), '/tools');
  expect(stopReason).toBe('end_turn');
  expect(text.split('\n')).toEqual([
    '- local echo: Says it again',
    expect.stringContaining('The MCP server "broken" did not do it'),
    '- web echo: Says it again',
  ]);
});

test('/call over stdio passes the environment and shows the call as a tool call', async () => {
  const { updates, text } = await builder.prompt(sessionId, '/call local echo {"text": "hello"}');
  expect(only(updates, 'tool_call')).toMatchObject([
    { title: 'local: echo', kind: 'other', status: 'in_progress', rawInput: { server: 'local', tool: 'echo', args: { text: 'hello' } } },
  ]);
  const content = { type: 'text', text: 'local>hello' };
  expect(only(updates, 'tool_call_update')).toMatchObject([
    { status: 'completed', content: [{ type: 'content', content }], rawOutput: { content: [content] } },
  ]);
  expect(text).toBe('echo answered: local>hello');
});

test('/call over HTTP passes the headers', async () => {
  const { text } = await sketcher.prompt(await sketcher.newSession([httpServer]), '/call web echo {"text": "hello"}');
  expect(text).toBe('echo answered: web>hello');
});

test('a tool that refuses its arguments is a failed tool call', async () => {
  const { stopReason, updates, text } = await builder.prompt(sessionId, '/call local echo {}');
  expect(stopReason).toBe('end_turn');
  expect(only(updates, 'tool_call_update')).toMatchObject([{ status: 'failed' }]);
  expect(text).toContain('echo failed');
});

test('a server that was not given is not called', async () => {
  const { updates, text } = await builder.prompt(sessionId, '/call other echo {}');
  expect(only(updates, 'tool_call_update')).toMatchObject([{ status: 'failed' }]);
  expect(text).toContain('no MCP server called "other"');
});

test('a server that never answers does not prevent a cancel', async () => {
  const silent = { name: 'silent', command: process.execPath, args: ['-e', 'process.stdin.resume()'], env: [] };
  const sessionId = await builder.newSession([silent]);
  const turn = builder.prompt(sessionId, '/call silent echo {}');
  await builder.seen(
    (frame) => isUpdate(frame) && frame.params.sessionId === sessionId && frame.params.update.sessionUpdate === 'tool_call',
  );
  await builder.agent.notify(methods.agent.session.cancel, { sessionId });
  expect((await turn).stopReason).toBe('cancelled');
});

describe('the servers of a session', () => {
  test.each([methods.agent.session.load, methods.agent.session.resume])('are those given in %s, not the earlier ones', async (method) => {
    const sessionId = await sketcher.newSession([stdioServer]);
    await sketcher.agent.request(method as string, { sessionId, cwd: '/project', mcpServers: [httpServer] });
    expect(JSON.parse((await sketcher.prompt(sessionId, '/whoami')).text)).toMatchObject({ mcpServers: ['web'] });
    expect((await sketcher.prompt(sessionId, '/call web echo {"text": "again"}')).text).toBe('echo answered: web>again');
  });
});

test('the MCP client is not loaded before a session needs it', () => {
  expect(loadedAtStart.filter((file) => file.includes('@agentclientprotocol'))).not.toEqual([]);
  expect(loadedAtStart.filter((file) => file.includes('@modelcontextprotocol'))).toEqual([]);
});
