// Clients that connect to `switchboard serve` over a WebSocket: who gets in, and what each may see and do.
import { mkdirSync, symlinkSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { describe, expect, vi } from 'vitest';
import { WebSocket } from 'ws';
import { connectSocket, createToken, type Daemon, runCommand, startDaemon } from './daemon.ts';
import { fixture, type Json, open, prompt, test } from './harness.ts';

const two = { a: fixture('well-behaved', 'a'), b: fixture('well-behaved', 'b') };
const one = { a: fixture('well-behaved', 'a') };

/** The status with which a WebSocket is refused, or `open`. */
function knock(
  { socketUrl }: Daemon,
  headers: Record<string, string>,
  protocols: string[] = [],
  where = socketUrl,
): Promise<number | string> {
  return new Promise((resolve) => {
    const socket = new WebSocket(where, protocols, { headers });
    socket.once('open', () => {
      resolve(`open ${socket.protocol}`.trim());
      socket.terminate();
    });
    socket.once('unexpected-response', (_, response) => resolve(response.statusCode ?? 0));
    socket.once('error', (error) => resolve(error.message));
  });
}

describe('the listener', () => {
  test('admits a valid token only, in the header or as a subprotocol, and never in the query', async ({ stage }) => {
    const daemon = await startDaemon(stage, one);
    const token = createToken(stage, 'laptop');
    const bearer = { authorization: `Bearer ${token}` };
    expect(await knock(daemon, {})).toBe(401);
    expect(await knock(daemon, { authorization: 'Bearer wrong' })).toBe(401);
    expect(await knock(daemon, {}, [], `${daemon.socketUrl}?token=${token}`)).toBe(401);
    expect(await knock(daemon, bearer)).toBe('open');
    expect(await knock(daemon, {}, ['acp', `bearer.${token}`])).toBe('open acp');
    expect(await knock(daemon, { ...bearer, origin: 'https://evil.example' })).toBe(403);
    expect(await knock(daemon, { ...bearer, host: 'evil.example' })).toBe(403);
    expect(await knock(daemon, bearer, [], daemon.socketUrl.replace('/acp', '/other'))).toBe(404);
    expect(await knock(daemon, { authorization: `Bearer ${createToken(stage, 'graphs', 'metrics')}` })).toBe(403);
    expect(daemon.stderr()).not.toContain(token);
  });

  test('admits pages of a listed origin', async ({ stage }) => {
    const daemon = await startDaemon(stage, one, { config: { network_clients: { origins: ['https://app.example'] } } });
    const bearer = { authorization: `Bearer ${createToken(stage, 'page')}` };
    expect(await knock(daemon, { ...bearer, origin: 'https://app.example' })).toBe('open');
    expect(await knock(daemon, { ...bearer, origin: 'https://app.example.evil' })).toBe(403);
  });

  test('admits names of a proxy in front of it, and behind all addresses also any address', async ({ stage }) => {
    const listen = ['--listen', '0.0.0.0:0', '--behind-tls-proxy'];
    const daemon = await startDaemon(stage, one, {
      config: { network_clients: { hosts: ['ACP.example.com', 'b.example:8443'] } },
      args: listen,
    });
    const bearer = `Bearer ${createToken(stage, 'laptop')}`;
    const socketUrl = daemon.socketUrl.replace('0.0.0.0', '127.0.0.1');
    const statuses = (hosts: readonly string[]) =>
      Promise.all(hosts.map((host) => knock(daemon, { authorization: bearer, host }, [], socketUrl)));
    const own = ['acp.example.com', 'acp.example.com:443', 'b.example:8443', '127.0.0.1', '10.0.0.5:7420', '[::1]:8137'];
    expect(await statuses(own)).toEqual(own.map(() => 'open'));
    const foreign = [
      'evil.example',
      'b.example',
      'acp.example.com.evil',
      'x@acp.example.com',
      'acp.example.com:80:80',
      '127.0.0.1.evil:80',
    ];
    expect(await statuses(foreign)).toEqual(foreign.map(() => 403));
  });

  test('ends the connections of a token that is revoked', async ({ stage }) => {
    const daemon = await startDaemon(stage, one);
    const [kept, gone] = [createToken(stage, 'kept'), createToken(stage, 'gone')];
    const clients = [await connectSocket(daemon, kept), await connectSocket(daemon, gone)] as const;
    runCommand(stage, 'token', 'revoke', 'gone');
    expect(await clients[1].closed).toEqual({ code: 1008, reason: 'the token was revoked or has expired' });
    expect(await knock(daemon, { authorization: `Bearer ${gone}` })).toBe(401);
    const { id } = await open(clients[0], stage.cwd);
    expect((await prompt(clients[0], id, 'still here')).result.stopReason).toBe('end_turn');
  });

  test('answers its owner while peers without a token hold many requests open', async ({ stage }) => {
    const daemon = await startDaemon(stage, one);
    const { port } = new URL(daemon.address);
    const slow = Array.from({ length: 100 }, () => {
      const request = http.request({
        port,
        path: '/acp',
        method: 'POST',
        headers: { 'content-type': 'application/json', 'content-length': 1000 },
      });
      request.on('error', () => {});
      request.write('{');
      return request;
    });
    const client = await connectSocket(daemon, createToken(stage, 'laptop'));
    expect((await open(client, stage.cwd)).id).toMatch(/^a-/);
    for (const request of slow) request.destroy();
  });
});

describe('a client', () => {
  test('uses several agents, and two clients with the same agents stay apart', async ({ stage }) => {
    const daemon = await startDaemon(stage, two);
    const clients = await Promise.all(['ann', 'bob'].map(async (name) => connectSocket(daemon, createToken(stage, name))));
    const sessions = await Promise.all(clients.map((client) => open(client, stage.cwd, 'b')));
    const answers = await Promise.all(clients.map((client, k) => prompt(client, sessions[k]?.id ?? '', `hello ${k}`)));
    expect(answers.map(({ result }) => result.stopReason)).toEqual(['end_turn', 'end_turn']);
    for (const [k, client] of clients.entries()) {
      expect(client.agentText(sessions[k]?.id ?? '')).toMatch(new RegExp(`^hello ${k} by`));
      expect(client.agentText(sessions[1 - k]?.id ?? '')).toBe('');
    }
  });

  for (const [count, agents] of [
    ['one agent', one],
    ['several agents', two],
  ] as const)
    test(`sees its own sessions only, with ${count}`, async ({ stage }) => {
      const daemon = await startDaemon(stage, agents);
      const [ann, bob] = await Promise.all(['ann', 'bob'].map(async (name) => connectSocket(daemon, createToken(stage, name))));
      if (!ann || !bob) throw new Error('no clients');
      const mine = await open(ann, stage.cwd);
      await prompt(ann, mine.id, 'secret plan');
      for (const method of ['session/load', 'session/resume', 'session/prompt', 'session/set_mode', 'session/delete', 'session/fork']) {
        const params = { sessionId: mine.id, cwd: stage.cwd, mcpServers: [], prompt: [], modeId: 'x' };
        expect((await bob.refused(method, params)).code, method).toBe(-32002);
      }
      expect((await bob.call('session/list', {})).sessions).toEqual([]);
      expect((await ann.call('session/list', {})).sessions.map(({ sessionId }: { sessionId: string }) => sessionId)).toEqual([mine.id]);
      const owner = await connectSocket(daemon, createToken(stage, 'root', 'owner'));
      expect((await owner.call('session/list', {})).sessions.length).toBeGreaterThan(0);
    });

  test('opens sessions in allowed directories only, and a link does not lead out', async ({ stage }) => {
    const allowed = path.join(stage.dir, 'allowed');
    mkdirSync(path.join(allowed, 'inside'), { recursive: true });
    symlinkSync('/etc', path.join(allowed, 'link'));
    const daemon = await startDaemon(stage, one, { config: { allow_cwd: ['allowed'] } });
    const client = await connectSocket(daemon, createToken(stage, 'laptop'));
    expect((await open(client, path.join(allowed, 'inside'))).id).toMatch(/^a-/);
    for (const cwd of ['/', '/etc', stage.cwd, path.join(allowed, 'link'), path.join(allowed, '..'), path.join(allowed, 'missing')]) {
      const error = await client.refused('session/new', { cwd, mcpServers: [] });
      expect(error).toMatchObject({ code: -32602, message: expect.stringContaining('allow_cwd') });
    }
    const more = { cwd: allowed, additionalDirectories: ['/etc'], mcpServers: [] };
    expect((await client.refused('session/new', more)).message).toContain('/etc');
  });

  test('may not name programs as MCP servers, unless the configuration allows it', async ({ stage }) => {
    const server = { name: 'shell', command: '/bin/sh', args: [], env: [] };
    const params = { cwd: stage.cwd, mcpServers: [server] };
    const daemon = await startDaemon(stage, one);
    const client = await connectSocket(daemon, createToken(stage, 'laptop'));
    expect((await client.refused('session/new', params)).message).toContain('MCP server "shell" is a program');
    expect((await client.refused('session/new', { ...params, mcpServers: [{ ...server, type: 'stdio' }] })).code).toBe(-32602);
    const open_ = await startDaemon(stage, one, { config: { network_clients: { stdio_servers: true } } });
    const other = await connectSocket(open_, createToken(stage, 'desktop'));
    expect((await other.call('session/new', params)).sessionId).toMatch(/^a-/);
  });

  test('logs in only by methods that it was offered: none that run in a terminal', async ({ stage }) => {
    const authMethods = [
      { id: 'key', name: 'Key' },
      { id: 'shell', name: 'Shell', type: 'terminal', args: [] },
    ];
    const [a, b] = [stage.agent('a', { authMethods }), stage.agent('b', { authMethods })];
    a.on('authenticate', () => ({}));
    const single = await connectSocket(await startDaemon(stage, { a: a.server }), createToken(stage, 'ann'));
    const several = await connectSocket(await startDaemon(stage, { a: a.server, b: b.server }), createToken(stage, 'bob'));
    for (const [client, prefix] of [
      [single, ''],
      [several, 'a/'],
    ] as const) {
      expect((await client.refused('authenticate', { methodId: `${prefix}shell` })).message).toContain(`${prefix}key`);
      expect((await client.request('authenticate', { methodId: `${prefix}key` })).error).toBeUndefined();
    }
    expect(a.all('authenticate').map(({ msg }) => msg.params.methodId)).toEqual(['key', 'key']);
  });

  test('sets no options for the agent in the _meta of a prompt', async ({ stage }) => {
    const daemon = await startDaemon(stage, one);
    const client = await connectSocket(daemon, createToken(stage, 'ann'));
    const { id } = await open(client, stage.cwd);
    const params = { sessionId: id, prompt: [{ type: 'text', text: 'hello' }] };
    const refusal = await client.refused('session/prompt', { ...params, _meta: { claudeCode: { options: {} } } });
    expect(refusal.message).toContain('network clients may not set "claudeCode"');
    expect((await client.call('session/prompt', { ...params, _meta: { traceparent: '00-1-2-01' } })).stopReason).toBe('end_turn');
  });

  test('with the role observer lists sessions, reads their transcripts, and does nothing else', async ({ stage }) => {
    const daemon = await startDaemon(stage, one);
    const ann = await connectSocket(daemon, createToken(stage, 'ann'));
    const { id } = await open(ann, stage.cwd);
    await prompt(ann, id, 'a question');
    const observer = await connectSocket(daemon, createToken(stage, 'tv', 'observer'));
    expect((await observer.refused('session/prompt', { sessionId: id, prompt: [] })).message).toContain('can only list');
    expect((await observer.refused('session/new', { cwd: stage.cwd, mcpServers: [] })).message).toContain('can only list');
    expect((await observer.call('session/list', {})).sessions.map(({ sessionId }: Json) => sessionId)).toEqual([id]);
    await vi.waitFor(async () => {
      await observer.call('session/load', { sessionId: id, cwd: '/', mcpServers: [] });
      expect(JSON.stringify(observer.updates(id))).toContain('a question by');
    });
    expect((await observer.refused('session/load', { sessionId: 'unknown', cwd: '/', mcpServers: [] })).code).toBe(-32002);
  });
});

test('SIGTERM cancels a turn that takes longer than --drain-seconds: the prompt is answered before the connection closes', async ({
  stage,
}) => {
  const agent = stage.agent('a', {
    async turn() {
      await agent.got('session/cancel');
      return { stopReason: 'cancelled' };
    },
  });
  const daemon = await startDaemon(stage, [agent], { args: ['--drain-seconds', '0.1'] });
  const client = await connectSocket(daemon, createToken(stage, 'laptop'));
  const { id } = await open(client, stage.cwd);
  const turn = prompt(client, id, 'wait');
  await agent.got('session/prompt');
  daemon.child.kill('SIGTERM');
  expect((await turn).result.stopReason).toBe('cancelled');
  expect(await client.closed).toEqual({ code: 1001, reason: 'the server is shutting down' });
});

test('SIGTERM lets a running turn end within --drain-seconds, then closes with 1001, and leaves no agent', async ({ stage }) => {
  const daemon = await startDaemon(stage, one, { args: ['--drain-seconds', '20'] });
  const client = await connectSocket(daemon, createToken(stage, 'laptop'));
  const { id } = await open(client, stage.cwd);
  const turn = prompt(client, id, 'wait');
  await client.got('session/update');
  daemon.child.kill('SIGTERM');
  // It accepts nobody from then on, and goes on with those it has.
  while (!String(await knock(daemon, {})).includes('ECONNREFUSED'));
  await client.call('session/list', {});
  client.notify('session/cancel', { sessionId: id });
  expect((await turn).result.stopReason).toBe('cancelled');
  expect((await client.closed).code).toBe(1001);
});

test.for([
  [['--listen', '0.0.0.0:0'], /0\.0\.0\.0 is reachable from other machines.*--tls-cert/s],
  [['--listen', 'nonsense'], /invalid address "nonsense"/],
  [['--tls-cert', 'x'], /TLS needs a certificate and its key/],
  [['--port', '1', '--listen', '127.0.0.1:0'], /exclude each other/],
] as const)('serve refuses %s', async ([args, text], { expect: expects }) => {
  const { execFile } = await import('node:child_process');
  const { SWITCHBOARD } = await import('./harness.ts');
  const stderr = await new Promise<string>((resolve) => {
    execFile(process.execPath, [SWITCHBOARD, 'serve', ...args], (_, __, err) => resolve(err));
  });
  expects(stderr).toMatch(text);
});
