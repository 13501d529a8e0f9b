// Requests to the listener of a built daemon that proxies and servers could read differently, and tokens where they do not belong.
import net from 'node:net';
import { describe, expect } from 'vitest';
import { connectSocket, createToken, type Daemon, runCommand, startDaemon, storeToken } from './daemon.ts';
import { fixture, open, prompt, test } from './harness.ts';

const agents = { a: fixture('well-behaved', 'a') };
const INITIALIZE = '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}';
const SOCKET = {
  ...{ Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Version': '13' },
  'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
};

/** Sends bytes as they are; the status of each answer, or `closed`. */
function send({ address }: Daemon, text: string): Promise<string> {
  const { port } = new URL(address);
  return new Promise((resolve) => {
    const socket = net.connect(Number(port), '127.0.0.1', () => socket.write(text));
    let got = '';
    const statuses = () => [...got.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map(([, status]) => status).join(' ') || 'closed';
    socket.on('data', (chunk) => {
      got += chunk;
      if (!/connection: close/i.test(got)) socket.end(); // the server keeps the connection open
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(statuses()));
  });
}

const request = (line: string, headers: Readonly<Record<string, string | undefined>>, rest = ''): string =>
  `${line}\r\n${Object.entries(headers)
    .flatMap(([name, value]) => (value === undefined ? [] : [`${name}: ${value}\r\n`]))
    .join('')}${rest === '' || rest.startsWith('\r\n') ? '' : rest}\r\n${rest.startsWith('\r\n') ? rest.slice(2) : ''}`;

test('a request that two servers could read differently is refused', async ({ stage }) => {
  const daemon = await startDaemon(stage, agents);
  const usual = { Host: new URL(daemon.address).host, Authorization: `Bearer ${createToken(stage, 'ann')}` };
  const post = { ...usual, 'Content-Type': 'application/json' };
  const length = String(INITIALIZE.length);
  const body = `\r\n${INITIALIZE}`;
  const hidden = `\r\n0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: ${usual.Host}\r\n\r\n`;
  const cases: Readonly<Record<string, readonly [string, string]>> = {
    'as it should be': ['200', request('POST /acp HTTP/1.1', { ...post, 'Content-Length': length }, body)],
    'a length and chunks': [
      'closed',
      request('POST /acp HTTP/1.1', { ...post, 'Content-Length': length, 'Transfer-Encoding': 'chunked' }, hidden),
    ],
    'two lengths': ['closed', request('POST /acp HTTP/1.1', { ...post, 'Content-Length': '3' }, `Content-Length: ${length}\r\n`)],
    'an unknown encoding': ['closed', request('POST /acp HTTP/1.1', { ...post, 'Transfer-Encoding': 'xchunked' }, body)],
    'two encodings': ['closed', request('POST /acp HTTP/1.1', { ...post, 'Transfer-Encoding': 'chunked, identity' }, body)],
    'a space before the colon': ['closed', request('POST /acp HTTP/1.1', { ...post, 'Content-Length ': length }, body)],
    'line feeds alone': ['closed', request('GET /acp HTTP/1.1', usual).replaceAll('\r', '')],
    'two hosts': ['403', request('GET /acp HTTP/1.1', usual, 'Host: evil.test\r\n')],
    'no host': ['403', request('GET /acp HTTP/1.0', { Authorization: usual.Authorization })],
    'a host that ends like ours': ['403', request('GET /acp HTTP/1.1', { ...usual, Host: `evil-${usual.Host}` })],
    'a whole URL': ['404', request('GET http://evil.test/acp HTTP/1.1', usual)],
    'another spelling of the path': ['404', request('GET /./acp HTTP/1.1', usual)],
    'an escaped path': ['404', request('GET /%61cp HTTP/1.1', usual)],
    CONNECT: ['closed', request(`CONNECT ${usual.Host} HTTP/1.1`, usual)],
    'an Origin of null': ['403', request('GET /acp HTTP/1.1', { ...usual, Origin: 'null' })],
    'headers without end': ['closed', request('GET /acp HTTP/1.1', { ...usual, X: 'x'.repeat(20_000) })],
    'a second request behind a refused one': [
      '401',
      request('GET /acp HTTP/1.1', { Host: usual.Host }) + request('GET /healthz HTTP/1.1', usual),
    ],
    'another protocol': ['400', request('GET /acp HTTP/1.1', { ...usual, Connection: 'Upgrade', Upgrade: 'h2c' })],
    'an upgrade with a body': ['405', request('POST /acp HTTP/1.1', { ...usual, ...SOCKET, 'Content-Length': '4' }, '\r\nabcd')],
    'a token in the query': ['401', request(`GET /acp?token=${usual.Authorization.slice(7)} HTTP/1.1`, { ...SOCKET, Host: usual.Host })],
    'a wrong header before a right subprotocol': [
      '401',
      request('GET /acp HTTP/1.1', {
        ...usual,
        ...SOCKET,
        Authorization: 'Bearer x',
        'Sec-WebSocket-Protocol': `acp, bearer.${usual.Authorization.slice(7)}`,
      }),
    ],
    'a right subprotocol behind a wrong one': [
      '401',
      request('GET /acp HTTP/1.1', {
        ...SOCKET,
        Host: usual.Host,
        'Sec-WebSocket-Protocol': `acp, bearer.x, bearer.${usual.Authorization.slice(7)}`,
      }),
    ],
  };
  for (const [name, [expected, text]] of Object.entries(cases)) expect(`${name}: ${await send(daemon, text)}`).toBe(`${name}: ${expected}`);
});

describe('each role', () => {
  test('reaches its own endpoints only, also to disconnect others', async ({ stage }) => {
    const daemon = await startDaemon(stage, agents);
    const paths = ['/acp', '/mcp', '/ws', '/metrics', '/daemon', '/daemon/queue'];
    const may: Readonly<Record<string, readonly number[]>> = {
      owner: [400, 405, 426, 200, 200, 200],
      client: [400, 405, 426, 403, 403, 403],
      observer: [400, 403, 403, 403, 403, 403],
      metrics: [403, 403, 403, 200, 403, 403],
    };
    const victim = await connectSocket(daemon, createToken(stage, 'victim'));
    for (const [role, statuses] of Object.entries(may)) {
      const headers = { authorization: `Bearer ${storeToken(stage, role, role as 'owner')}`, accept: 'text/event-stream' };
      const got = await Promise.all(paths.map(async (at) => (await fetch(`${daemon.address}${at}`, { headers })).status));
      expect([role, ...got]).toEqual([role, ...statuses]);
      if (role === 'owner') continue;
      expect((await fetch(`${daemon.address}/daemon?client=1`, { method: 'DELETE', headers })).status).toBe(403);
    }
    expect((await open(victim, stage.cwd)).id).toMatch(/^a-/);
  });
});

describe('the end of a token', () => {
  test('ends the turns of its sessions, also while they wait for their next client', async ({ stage }) => {
    const agent = stage.agent('a', { turn: () => new Promise(() => {}) });
    const daemon = await startDaemon(stage, [agent]);
    const client = await connectSocket(daemon, createToken(stage, 'laptop'));
    const { id } = await open(client, stage.cwd);
    void prompt(client, id, 'wait').catch(() => {});
    await agent.got('session/prompt');
    client.socket.close();
    await client.closed;
    runCommand(stage, 'token', 'revoke', 'laptop');
    expect((await agent.got('session/cancel')).msg.params.sessionId).toBe(id);
  });

  test('ends its rights: another of the same name has those of its own role', async ({ stage }) => {
    const daemon = await startDaemon(stage, agents, { config: { allow_cwd: [stage.cwd] } });
    const owner = await connectSocket(daemon, storeToken(stage, 'ann', 'owner'));
    expect((await open(owner, stage.dir)).id).toMatch(/^a-/);
    owner.socket.close();
    await owner.closed;
    runCommand(stage, 'token', 'revoke', 'ann');
    const client = await connectSocket(daemon, storeToken(stage, 'ann', 'client'));
    expect((await client.refused('session/new', { cwd: stage.dir, mcpServers: [] })).message).toContain('allow_cwd');
    expect((await open(client, stage.cwd)).id).toMatch(/^a-/);
  });
});

test('frames that nest deep are refused at once, and the daemon goes on', async ({ stage }) => {
  const daemon = await startDaemon(stage, agents);
  const token = createToken(stage, 'ann');
  const [client, other] = [await connectSocket(daemon, token), await connectSocket(daemon, token)];
  const { id } = await open(client, stage.cwd);
  const deep = '['.repeat(5_000_000) + ']'.repeat(5_000_000);
  client.line(
    `{"jsonrpc":"2.0","id":"deep","method":"session/prompt","params":{"sessionId":"${id}","prompt":[{"type":"text","text":"x","annotations":${deep}}]}}`,
  );
  const { msg } = await client.until(({ id: answered }) => answered === 'deep');
  expect(msg.error.message).toContain('nested deeper than 10000 levels');
  const post = (at: string) =>
    fetch(`${daemon.address}${at}`, {
      ...{ method: 'POST', body: `{"jsonrpc":"2.0","id":1,"method":"initialize","params":${deep}}` },
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    });
  for (const at of ['/acp', '/mcp']) expect((await post(at)).status).toBe(400);
  expect((await prompt(other, id, 'say hello')).result).toMatchObject({ stopReason: 'end_turn' });
});
