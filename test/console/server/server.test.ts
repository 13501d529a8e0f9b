// Access checks with bare HTTP: every route, the socket included, rejects foreign pages and guesses.
import http from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import WebSocket from 'ws';
import { type ConsoleServer, openServer } from '../../../src/console/server/server.ts';

let server: ConsoleServer;
const welcomed: unknown[] = [];

beforeAll(async () => {
  const files = new Map([
    ['/', { type: 'text/html', bytes: Buffer.from('<!doctype html>') }],
    ['/page.js', { type: 'text/javascript', bytes: Buffer.from('1') }],
  ]);
  server = await openServer({
    port: 0,
    files,
    now: Date.now,
    welcome(socket, first) {
      welcomed.push(first);
      socket.send('{"t":"welcome"}');
    },
  });
});
afterAll(() => server.close());

type Answer = { readonly status: number; readonly headers: http.IncomingHttpHeaders; readonly body: string };

function send(method: string, path: string, headers: http.OutgoingHttpHeaders = {}, body?: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = http.request({ host: '127.0.0.1', port: server.port, method, path, headers, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }));
    });
    request.on('error', reject);
    request.end(body);
  });
}
const origin = () => `http://127.0.0.1:${server.port}`;
const enter = (token: string, headers: http.OutgoingHttpHeaders = {}) =>
  send('POST', '/enter', { origin: origin(), 'content-type': 'application/json', ...headers }, JSON.stringify({ token }));
const tokenOf = (link: string) => new URL(link).hash.slice(1);

/** The status a socket is rejected with, or the socket. */
function openSocket(headers: Record<string, string>): Promise<WebSocket | number> {
  return new Promise((resolve) => {
    const socket = new WebSocket(`ws://127.0.0.1:${server.port}/socket`, { headers });
    socket.once('open', () => resolve(socket));
    socket.once('unexpected-response', (_, response) => resolve(response.statusCode ?? 0));
    socket.once('error', () => resolve(0));
  });
}
async function credentials(): Promise<{ readonly cookie: string; readonly pageKey: string }> {
  const { headers, body } = await enter(tokenOf(server.link()));
  return { cookie: headers['set-cookie']?.[0]?.split(';')[0] ?? '', pageKey: JSON.parse(body).pageKey };
}

describe('a foreign page', () => {
  const routes = [
    ['GET', '/'],
    ['GET', '/page.js'],
    ['POST', '/enter'],
    ['GET', '/nothing'],
  ] as const;

  test.each(routes)('is rejected by its Host, its Origin and its site: %s %s', async (method, path) => {
    for (const headers of [
      { host: `evil.example:${server.port}` },
      { host: '127.0.0.1' },
      { host: `127.0.0.1:${server.port + 1}` },
      { origin: 'http://evil.example' },
      { origin: 'null' },
      { origin: `http://127.0.0.1:${server.port + 1}` },
      { origin: `http://localhost:${server.port}` }, // our address, but not the requested one
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
    ]) {
      const { status } = await send(method, path, { 'content-type': 'application/json', ...headers });
      expect({ status, headers }).toMatchObject({ status: 403 });
    }
  });

  test('may link here, which changes nothing', async () => {
    expect(await send('GET', '/', { 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'document' })).toMatchObject({ status: 200 });
    expect(await send('GET', '/', { 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'iframe' })).toMatchObject({ status: 403 });
  });

  test('gets no socket, even with a valid cookie and key', async () => {
    const { cookie } = await credentials();
    for (const headers of [
      { origin: 'http://evil.example' },
      { origin: `http://127.0.0.1:${server.port + 1}` },
      {}, // a page always sends its origin
      { origin: origin(), host: `evil.example:${server.port}` },
      { origin: origin(), 'sec-fetch-site': 'cross-site' },
    ])
      expect(await openSocket({ cookie, ...(headers as Record<string, string>) })).toBe(403);
  });
});

describe('a link', () => {
  test('works once', async () => {
    const token = tokenOf(server.link());
    expect(await enter(token)).toMatchObject({ status: 200 });
    expect(await enter(token)).toMatchObject({ status: 401 });
  });

  test('is exchanged for a cookie that scripts cannot read and other sites do not send', async () => {
    const { headers } = await enter(tokenOf(server.link()));
    expect(headers['set-cookie']).toEqual([
      expect.stringMatching(new RegExp(`^switchboard_${server.port}=[\\w-]{43}; HttpOnly; SameSite=Strict; Path=/$`)),
    ]);
  });

  test('is accepted only as JSON from a page', async () => {
    const token = tokenOf(server.link());
    expect(await enter(token, { 'content-type': 'text/plain' })).toMatchObject({ status: 415 });
    expect(await send('POST', '/enter', { 'content-type': 'application/json' }, JSON.stringify({ token }))).toMatchObject({ status: 403 });
    expect(await send('POST', '/enter', { origin: origin(), 'content-type': 'application/json' }, 'x'.repeat(5000))).toMatchObject({
      status: 413,
    });
    expect(await send('GET', `/enter?token=${token}`)).toMatchObject({ status: 404 });
  });
});

describe('the socket', () => {
  test('requires the cookie and its page key', async () => {
    const [one, other] = [await credentials(), await credentials()];
    expect(await openSocket({ origin: origin() })).toBe(401);
    expect(await openSocket({ origin: origin(), cookie: `switchboard_${server.port}=guessed` })).toBe(401);
    for (const pageKey of ['guessed', other.pageKey]) {
      const socket = await openSocket({ origin: origin(), cookie: one.cookie });
      if (typeof socket === 'number') throw new Error(`refused with ${socket}`);
      const closed = new Promise((resolve) => socket.once('close', resolve));
      socket.send(JSON.stringify({ hello: pageKey }));
      expect(await closed).toBe(4401);
    }
    const before = welcomed.length;
    const socket = await openSocket({ origin: origin(), cookie: one.cookie });
    if (typeof socket === 'number') throw new Error(`refused with ${socket}`);
    const answer = new Promise((resolve) => socket.once('message', (data) => resolve(String(data))));
    socket.send(JSON.stringify({ hello: one.pageKey }));
    expect(await answer).toBe('{"t":"welcome"}');
    expect(welcomed).toHaveLength(before + 1);
    socket.terminate();
  });
});

test('every response forbids frames, foreign code and type sniffing', async () => {
  for (const path of ['/', '/page.js', '/nothing']) {
    const { headers } = await send('GET', path);
    expect(headers['content-security-policy']).toMatch(
      /^default-src 'none'; script-src 'self'; style-src 'self'; .*frame-ancestors 'none'/,
    );
    expect(headers['content-security-policy']).not.toMatch(/unsafe|\*|https?:/);
    expect(headers['content-security-policy']).toContain("require-trusted-types-for 'script'; trusted-types 'none'");
    expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer', 'cache-control': 'no-store' });
    expect(headers['access-control-allow-origin']).toBeUndefined();
  }
});

test('a peer that disconnects in mid-request affects nothing else', async () => {
  const failed: unknown[] = [];
  const note = (error: unknown) => void failed.push(error);
  process.on('unhandledRejection', note);
  const head = ['POST /enter HTTP/1.1', `host: 127.0.0.1:${server.port}`, `origin: ${origin()}`, 'content-type: application/json'];
  const socket = connect(server.port, '127.0.0.1');
  await new Promise<void>((resolve) => socket.write(`${[...head, 'content-length: 100'].join('\r\n')}\r\n\r\n{"tok`, () => resolve()));
  await send('GET', '/'); // by then the server has read it
  socket.destroy();
  for (let round = 0; round < 5; round++) expect(await send('GET', '/')).toMatchObject({ status: 200 });
  process.off('unhandledRejection', note);
  expect(failed).toEqual([]);
});

test('it listens on loopback only', () => {
  expect(server.link()).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#[\w-]{43}$/);
});

test('a guesser is disconnected', async () => {
  let cut = 0;
  for (let guess = 0; guess < 30; guess++) await enter('x'.repeat(43)).catch(() => cut++);
  expect(cut).toBeGreaterThan(5);
});

test('a refused WebSocket is closed, also if the peer keeps its side open', async () => {
  for (const [path, from] of [
    ['/socket', origin()],
    ['/socket', 'http://evil.test'],
    ['/other', origin()],
  ] as const) {
    const socket = connect({ host: '127.0.0.1', port: server.port, allowHalfOpen: true });
    const lines = [
      `GET ${path} HTTP/1.1`,
      `Host: 127.0.0.1:${server.port}`,
      `Origin: ${from}`,
      'Connection: Upgrade',
      'Upgrade: websocket',
    ];
    socket.write(`${lines.join('\r\n')}\r\n\r\n`);
    await new Promise((resolve) => socket.resume().once('end', resolve));
    const isReset = new Promise((resolve) => socket.once('error', resolve));
    // Only a peer that has closed both directions answers a write with a reset.
    const writing = setInterval(() => socket.write('x'), 20);
    await isReset;
    clearInterval(writing);
    socket.destroy();
  }
});
