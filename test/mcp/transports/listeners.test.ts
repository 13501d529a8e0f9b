// The two listeners that other local processes could try: the private socket and the loopback port.
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import path from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterEach, describe, expect, test } from 'vitest';
import { needsInput, type ToolEvent } from '../../../src/mcp/server/call-tool.ts';
import { type Attached, createHostTools, type HostTools } from '../../../src/mcp/server/host-tools.ts';
import { type HostTool, object, type SessionHost, text } from '../../../src/mcp/server/tool.ts';

const hello: HostTool = {
  name: 'hello',
  title: 'Hello',
  description: 'Greets.',
  inputSchema: object({ to: { type: 'string' } }, ['to']),
  effect: 'read',
  needs: [],
  timeoutMs: 1000,
  server: 'switchboard',
  run: async ({ to }, { host }) => text(`hello ${String(to)} from ${host.sessionId}`),
};
const host: SessionHost = { sessionId: 's1', agent: 'a', cwd: '/', roots: [], workspace: {}, ask: async () => ({ kind: 'unavailable' }) };

const events: ToolEvent[] = [];
let hostTools: HostTools;
function start(tools: readonly HostTool[] = [hello], more: { maxOutputBytes?: number; gate?: () => Promise<{ allow: true }> } = {}): void {
  events.length = 0;
  hostTools = createHostTools({
    version: '0',
    shim: { command: '/bin/true', args: [] },
    tools: () => tools,
    gate: async () => ({ allow: true }),
    onEvent: (event) => events.push(event),
    maxOutputBytes: 1000,
    ...more,
  });
}
afterEach(() => hostTools.close());

function attach(transport: 'http' | 'stdio'): Promise<Attached> {
  return new Promise((resolve, reject) => {
    const toolSession = { abilities: new Set<never>(), onState() {}, onRevoke() {}, host: () => host };
    hostTools.attach(transport, toolSession, (attached) => (attached instanceof Error ? reject(attached) : resolve(attached)));
  });
}

type Asked = { readonly status: number; readonly body: string };
function post(url: string, headers: Record<string, string>, body = '{}', method = 'POST', at?: string): Promise<Asked> {
  return new Promise((resolve, reject) => {
    const { hostname, port, pathname } = new URL(url);
    const request = httpRequest(
      { hostname, port, path: at ?? pathname, method, headers: { 'content-type': 'application/json', ...headers } },
      (response) => {
        let all = '';
        response.on('data', (chunk) => {
          all += chunk;
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body: all }));
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}

describe('over HTTP', () => {
  async function open() {
    start();
    const attached = await attach('http');
    const { url, headers } = JSON.parse(attached.entry('switchboard'));
    const [{ value: authorization }] = headers;
    attached.toolServer.bind();
    return { attached, url: String(url), authorization: String(authorization) };
  }
  const client = async (url: string, authorization: string) => {
    const one = new Client({ name: 'test', version: '0' });
    await one.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { authorization } } }));
    return one;
  };

  test('a client with the token is served', async () => {
    const { url, authorization, attached } = await open();
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/);
    expect(Buffer.from(authorization.replace('Bearer sbmcp_', ''), 'base64url')).toHaveLength(32);
    expect(attached.toolServer.state).toBe('offered');
    const one = await client(url, authorization);
    expect(attached.toolServer.state).toBe('connected');
    expect((await one.listTools()).tools.map(({ name }) => name)).toEqual(['hello']);
    expect(attached.toolServer.state).toBe('listed');
    expect(await one.callTool({ name: 'hello', arguments: { to: 'you' } })).toMatchObject({ content: [{ text: 'hello you from s1' }] });
    expect(attached.toolServer.state).toBe('called');
    await one.close();
  });

  test.each([
    ['no token', {}],
    ['a wrong token', { authorization: `Bearer ${'A'.repeat(43)}` }],
    ['a token in another form', { authorization: `Basic ${'A'.repeat(43)}` }],
  ])('%s is 401 and is reported', async (_, headers) => {
    const { url } = await open();
    expect((await post(url, headers)).status).toBe(401);
    expect(events).toMatchObject([{ kind: 'refused-token' }]);
  });

  test('the token of an ended session is 401, and no alarm: an agent may come back with it', async () => {
    const { url, authorization, attached } = await open();
    attached.toolServer.revoke();
    expect((await post(url, { authorization })).status).toBe(401);
    expect(events).toEqual([]);
    expect((await post(url, { authorization: 'Bearer guessed' })).status).toBe(401);
    expect(events).toMatchObject([{ kind: 'refused-token' }]);
  });

  test("a session's MCP session id does not work with another session's token", async () => {
    const first = await open();
    const second = await attach('http');
    const { headers } = JSON.parse(second.entry('switchboard'));
    const other = String(headers[0].value);
    second.toolServer.bind();
    const transport = new StreamableHTTPClientTransport(new URL(first.url), {
      requestInit: { headers: { authorization: first.authorization } },
    });
    const one = new Client({ name: 'test', version: '0' });
    await one.connect(transport);
    const body = JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'hello', arguments: { to: 'you' } } });
    const call = (authorization: string) =>
      post(first.url, { authorization, 'mcp-session-id': transport.sessionId ?? '', accept: 'application/json, text/event-stream' }, body);
    expect(other).not.toBe(first.authorization);
    expect(await call(first.authorization)).toMatchObject({ status: 200, body: expect.stringContaining('hello you') });
    const refused = await call(other);
    expect(refused.status).toBe(404);
    expect(refused.body).not.toContain('hello');
    const ended = await post(first.url, { authorization: other, 'mcp-session-id': transport.sessionId ?? '' }, '', 'DELETE');
    expect(ended.status).toBe(404);
    expect((await call(first.authorization)).status).toBe(200);
    await one.close();
  });

  test.each([
    ['another Host', { host: 'evil.example' }, 403],
    ['a Host without the port', { host: '127.0.0.1' }, 403],
    ['an Origin', { origin: 'https://evil.example' }, 403],
    ['the origin null', { origin: 'null' }, 403],
    ['another site', { 'sec-fetch-site': 'cross-site' }, 403],
    ['no JSON', { 'content-type': 'text/plain' }, 415],
  ])('%s is refused, even with the token', async (_, headers, status) => {
    const { url, authorization } = await open();
    expect((await post(url, { authorization, ...headers })).status).toBe(status);
  });

  test('a token in the URL is ignored, and only one path exists', async () => {
    const { url, authorization } = await open();
    expect((await post(url, {}, '{}', 'POST', `/mcp?token=${authorization.replace('Bearer ', '')}`)).status).toBe(404);
    expect((await post(url, { authorization }, '{}', 'POST', '/')).status).toBe(404);
    expect((await post(url, { authorization }, '{"broken', 'POST')).status).toBe(400);
    expect((await post(url, { authorization }, `"${'x'.repeat(5 * 1024 * 1024)}"`, 'POST').catch(() => ({ status: 413 }))).status).toBe(
      413,
    );
  });

  test('repeated wrong tokens are blocked after a while', async () => {
    const { url } = await open();
    const statuses = [];
    for (let n = 0; n < 25; n++) statuses.push((await post(url, {}).catch(() => ({ status: 0 }))).status);
    expect(statuses.slice(0, 20)).toEqual(Array(20).fill(401));
    expect(statuses.slice(20)).toEqual(Array(5).fill(0));
  });
});

describe('over the socket', () => {
  async function open() {
    start();
    const attached = await attach('stdio');
    const { env } = JSON.parse(attached.entry('switchboard'));
    return { attached, address: String(env[0].value), token: String(env[1].value) };
  }
  async function heard(address: string, words: string): Promise<string> {
    const socket = connect(address);
    let all = '';
    socket.on('data', (chunk) => {
      all += chunk;
    });
    socket.write(words);
    await once(socket, 'close');
    return all;
  }

  test('the directory is private to the user and removed at the end', async () => {
    const { address } = await open();
    expect(statSync(path.dirname(address)).mode & 0o777).toBe(0o700);
    hostTools.close();
    expect(() => statSync(path.dirname(address))).toThrow('ENOENT');
  });

  test.each([
    ['a wrong token', 'nonsense\n'],
    ['a first line without end', 'x'.repeat(5000)],
  ])('%s is rejected and reported at most once', async (_, words) => {
    const { address } = await open();
    expect(await heard(address, words)).toMatch(/^invalid or expired token/);
    expect(events.length).toBeLessThanOrEqual(1);
  });

  test('the end of the session closes its connections', async () => {
    const { address, token, attached } = await open();
    const socket = connect(address);
    socket.write(`${token}\n`);
    const [first] = await once(socket, 'data');
    expect(String(first)).toBe('ok\n');
    attached.toolServer.revoke();
    await once(socket, 'close');
    expect(await heard(address, `${token}\n`)).toMatch(/^invalid or expired token/);
  });
});

describe('a call', () => {
  async function call(tool: HostTool, args: object, more: Parameters<typeof start>[1] = {}) {
    start([tool], more);
    const { toolServer } = await attach('stdio');
    toolServer.bind();
    const outcome = await toolServer.call(tool.name, { ...args }, { abort: new AbortController(), progress: () => {} });
    if (needsInput(outcome)) throw new Error('no tool here needs input');
    return { outcome, words: outcome.content.map((block) => (block.type === 'text' ? block.text : '')).join('\n') };
  }

  test('is refused if its decision fails', async () => {
    let isRun = false;
    const run = async () => {
      isRun = true;
      return text('');
    };
    const tool = { ...hello, run };
    const { outcome, words } = await call(tool, { to: 'x' }, { gate: () => Promise.reject(new Error('broken')) });
    expect(outcome.isError).toBe(true);
    expect(words).toContain('the decision failed');
    expect(isRun).toBe(false);
    expect(events).toMatchObject([{ kind: 'denied', tool: 'hello', args: { to: 'x' } }]);
  });

  test('has a time limit', async () => {
    const { words } = await call({ ...hello, timeoutMs: 1, run: () => new Promise(() => {}) }, { to: 'x' });
    expect(words).toBe('hello failed: it did not finish within 1 ms');
  });

  test('has its output truncated if it is too long', async () => {
    const { words } = await call({ ...hello, run: async () => text('ä'.repeat(5000)) }, { to: 'x' }, { maxOutputBytes: 11 });
    expect(words).toBe("äääää\n[cut: a tool's output may have 11 bytes]");
  });

  test('with invalid arguments gets an error that says what is wrong', async () => {
    expect((await call(hello, {})).words).toMatch(/not valid: .*to/);
  });

  test('waits until the session is bound', async () => {
    start();
    const { toolServer } = await attach('stdio');
    const outcome = toolServer.call('hello', { to: 'you' }, { abort: new AbortController(), progress: () => {} });
    toolServer.bind();
    expect((await outcome).content).toEqual([{ type: 'text', text: 'hello you from s1' }]);
  });

  test('of a session that was never opened ends with it', async () => {
    start();
    const { toolServer } = await attach('stdio');
    const outcome = toolServer.call('hello', { to: 'you' }, { abort: new AbortController(), progress: () => {} });
    toolServer.revoke();
    expect((await outcome).isError).toBe(true);
  });
});
