// Streamable HTTP under TLS: HTTP/2 for clients that offer it, HTTP/1.1 for all others, with the same checks.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import http2, { type ClientHttp2Session, type IncomingHttpHeaders } from 'node:http2';
import https from 'node:https';
import type { Socket } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, expect, test } from 'vitest';
import { createAcpEndpoint } from '../../src/listener/acp-endpoint.ts';
import { createGate } from '../../src/listener/gate.ts';
import { type Endpoint, listen } from '../../src/listener/listener.ts';
import { createBodyBudget } from '../../src/listener/respond.ts';
import type { Token } from '../../src/store/tokens.ts';
import { selfSigned } from '../e2e/remote-agent.ts';

const ANN: Token = { name: 'ann', role: 'client', createdAt: '2026-01-01', expiresAt: undefined };
const INITIALIZE = '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}';
const PROMPT = '{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s"}}';
const JSON_BODY = { 'content-type': 'application/json', authorization: 'Bearer ann' };

const dir = mkdtempSync(path.join(os.tmpdir(), 'switchboard-h2-'));
afterAll(() => rmSync(dir, { recursive: true }));
const files = selfSigned(dir);
const tls = { cert: readFileSync(files.cert), key: readFileSync(files.key) };
const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

/** A proxy that answers initialize, and echoes every other frame as an update of the session. */
async function start() {
  const gate = createGate({
    tokens: { verify: (presented) => (presented === 'ann' ? ANN : undefined), isValid: () => true },
    addresses: () => ({ hosts: new Set([`127.0.0.1:${listener.port}`]), origins: new Set() }),
  });
  cleanups.push(gate.close);
  const endpoint = createAcpEndpoint({
    gate,
    connect({ input, output }) {
      input.on('data', (chunk) => {
        const line = String(chunk).trim();
        const update = { jsonrpc: '2.0', method: 'session/update', params: { sessionId: 's', got: line } };
        output.write(Buffer.from(line === INITIALIZE ? '{"jsonrpc":"2.0","id":1,"result":{}}\n' : `${JSON.stringify(update)}\n`));
      });
      return { closed: new Promise(() => {}), close: async () => {} };
    },
    knows: () => true,
    maxFrameBytes: 1 << 20,
    bodyLimits: createBodyBudget(1 << 20),
    now: Date.now,
  });
  const guarded = gate.guard(endpoint);
  const sockets = new Set<Socket>();
  const seen: Endpoint = {
    handle(request, response, proven) {
      sockets.add(request.socket);
      return guarded.handle(request, response, proven);
    },
  };
  const listener = await listen({ host: '127.0.0.1', port: 0, tls, endpoints: new Map([['/acp', seen]]) });
  cleanups.push(listener.close);
  const session = http2.connect(`https://127.0.0.1:${listener.port}`, { ca: tls.cert });
  session.on('error', () => {});
  cleanups.push(() => session.destroy());
  return { listener, session, sockets };
}

function ask(session: ClientHttp2Session, headers: Record<string, string>, body?: string) {
  const stream = session.request({ ':path': '/acp', ...headers });
  stream.on('error', () => {});
  const answered = new Promise<IncomingHttpHeaders & { ':status'?: number }>((resolve) => stream.once('response', resolve));
  if (body !== undefined) stream.end(body);
  return { stream, answered };
}
const post = async (session: ClientHttp2Session, body: string, more: Record<string, string> = {}) => {
  const { stream, answered } = ask(session, { ':method': 'POST', ...JSON_BODY, ...more }, body);
  stream.resume();
  return answered;
};

test('a client over HTTP/2 initializes, posts and reads its event stream on one connection', async () => {
  const { session } = await start();
  const headers = await post(session, INITIALIZE);
  expect(session.alpnProtocol).toBe('h2');
  expect(headers[':status']).toBe(200);
  const own = { 'acp-connection-id': String(headers['acp-connection-id']), 'acp-session-id': 's' };
  const { stream, answered } = ask(session, { ':method': 'GET', accept: 'text/event-stream', authorization: 'Bearer ann', ...own });
  expect((await answered)[':status']).toBe(200);
  const event = new Promise<string>((resolve) => stream.once('data', (chunk) => resolve(String(chunk))));
  expect((await post(session, PROMPT, own))[':status']).toBe(202);
  expect(await event).toContain('session/prompt');
});

test.each([
  [{ authorization: 'Bearer bob' }, 401],
  [{ ':authority': 'evil.example' }, 403],
  [{ host: 'evil.example' }, 403],
  [{ origin: 'https://evil.example' }, 403],
  [{ ':path': '/other' }, 404],
])('over HTTP/2, the checks are the same: %j is refused with %i', async (more, status) => {
  const { session } = await start();
  expect((await post(session, INITIALIZE, more as unknown as Record<string, string>))[':status']).toBe(status);
});

test('the streams of one HTTP/2 client count as one socket of its principal', async () => {
  const { session, sockets } = await start();
  await Promise.all([post(session, INITIALIZE), post(session, INITIALIZE)]);
  const [socket, ...others] = sockets;
  expect([others, socket?.destroyed]).toEqual([[], false]);
  const closed = new Promise((resolve) => socket?.once('close', resolve));
  session.close();
  await closed;
});

test('a refused request of HTTP/2 ends although its body goes on', async () => {
  const { session } = await start();
  const { stream, answered } = ask(session, { ':method': 'POST', ...JSON_BODY, authorization: 'Bearer bob' });
  stream.resume();
  expect((await answered)[':status']).toBe(401);
  await new Promise<void>((resolve) => stream.once('close', () => resolve()));
});

test('a client that speaks HTTP/1.1 only is served on the same port, and the listener closes both', async () => {
  const { listener, session } = await start();
  await post(session, INITIALIZE);
  const agent = new https.Agent({ keepAlive: true });
  const status = await new Promise((resolve) => {
    const request = https.request(
      { host: '127.0.0.1', port: listener.port, path: '/acp', method: 'POST', headers: JSON_BODY, ca: tls.cert, agent },
      (response) => {
        response.resume();
        resolve(response.statusCode);
      },
    );
    request.end(INITIALIZE);
  });
  expect(status).toBe(200);
  const closed = new Promise<void>((resolve) => session.once('close', () => resolve()));
  listener.close();
  await closed;
  agent.destroy();
});
