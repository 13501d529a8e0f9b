// The client's end of streamable HTTP against servers that fail, and that know a session late.
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { connectRemote } from '../../src/transports/connect-remote.ts';
import { exitOf, MAX_FRAME_BYTES } from './contract.ts';

afterEach(() => void vi.useRealTimers());

const remote = (url: string, keepaliveMs = 30_000) => ({
  url,
  headers: {},
  tls: {},
  connectMs: 5000,
  keepaliveMs,
  configKey: 'agent_servers.x',
});
const EVENTS = { 'content-type': 'text/event-stream' };
type HttpAgentOptions = {
  readonly onGet?: (session: string | undefined, response: ServerResponse) => void;
  readonly keepaliveMs?: number;
};

/** A server that answers initialize and then handles each POST, and each GET, as told. */
async function httpAgent(onPost: (body: string, response: ServerResponse) => void, { onGet, keepaliveMs }: HttpAgentOptions = {}) {
  const posts: { body: string; cookie: string | undefined }[] = [];
  const deleted: IncomingHttpHeaders[] = [];
  const http = createServer((request, response) => {
    if (request.method === 'GET' && onGet) return onGet(request.headers['acp-session-id'] as string | undefined, response);
    if (request.method === 'GET') return void response.writeHead(200, EVENTS).flushHeaders();
    if (request.method === 'DELETE') {
      deleted.push(request.headers);
      return void response.writeHead(202).end();
    }
    let body = '';
    request.on('data', (part) => {
      body += part;
    });
    request.on('end', () => {
      posts.push({ body, cookie: request.headers.cookie });
      if (request.headers['acp-connection-id'] !== undefined) return onPost(body, response);
      const cookies = Array.from({ length: 40 }, (_, n) => `c${n}=${'v'.repeat(n === 1 ? 5000 : 1)}; Path=/`);
      response.writeHead(200, { 'content-type': 'application/json', 'acp-connection-id': 'c', 'set-cookie': cookies });
      response.end('{"jsonrpc":"2.0","id":0,"result":{}}');
    });
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const { port } = http.address() as AddressInfo;
  const at = { ...remote(`http://127.0.0.1:${port}/acp`, keepaliveMs), connectMs: 250 };
  const transport = connectRemote(at, { maxFrameBytes: MAX_FRAME_BYTES });
  let heard = '';
  const ready = new Promise<void>((resolve) =>
    transport.fromAgent.on('data', (chunk: Buffer) => {
      heard += chunk.toString();
      resolve();
    }),
  );
  transport.toAgent.write(Buffer.from('{"jsonrpc":"2.0","id":0,"method":"initialize"}\n'));
  await ready;
  const stop = async () => {
    http.closeAllConnections();
    await transport.stop();
    await new Promise((resolve) => http.close(resolve));
  };
  return { transport, posts, deleted, heard: () => heard, stop };
}
const accept = (_body: string, response: ServerResponse): void => void response.writeHead(202).end();
const PROMPT = Buffer.from('{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s"}}\n');

test.each([
  ['closes the socket instead of an answer', (response: ServerResponse): void => void response.socket?.destroy(), /closed|socket hang up/],
  ['resets it in the middle of the answer', (response: ServerResponse): void => void response.socket?.resetAndDestroy(), /closed/],
  ['never answers', () => {}, /no HTTP answer within 1000 ms/],
] as const)('an HTTP server that %s loses the connection, and the prompt is not sent again', async (_, fault, why) => {
  const { transport, posts, stop } = await httpAgent((_body, response) => fault(response));
  transport.toAgent.write(PROMPT);
  expect(await exitOf(transport)).toMatchObject({ kind: 'disconnected', why: expect.stringMatching(why) });
  await stop();
  expect(posts.filter(({ body }) => body.includes('session/prompt'))).toHaveLength(1);
});

test('the connection that is lost is ended at the HTTP server, so that the agent does not work on in it', async () => {
  const { transport, deleted, stop } = await httpAgent((_body, response) => void response.socket?.resetAndDestroy());
  transport.toAgent.write(PROMPT);
  await exitOf(transport);
  await transport.stop();
  expect(deleted.map((headers) => [headers['acp-connection-id'], headers.cookie?.slice(0, 4)])).toEqual([['c', 'c0=v']]);
  await stop();
});

test('cookies of an HTTP server come back to it, up to a limit', async () => {
  const { transport, posts, stop } = await httpAgent(accept);
  transport.toAgent.write(PROMPT);
  await vi.waitFor(() => expect(posts).toHaveLength(2));
  await stop();
  const names = posts[1]?.cookie?.split('; ').map((one) => one.split('=')[0]);
  expect(names).toHaveLength(32);
  expect(names).not.toContain('c1');
});

/** The stream of the connection works; that of each session is as told. */
const sessionStreams = (answer: (response: ServerResponse) => void) => (session: string | undefined, response: ServerResponse) => {
  if (session !== undefined) return answer(response);
  response.writeHead(200, EVENTS).flushHeaders();
};

test.each([409, 429, 503])('a prompt whose event stream is refused with HTTP %i fails alone, and is not sent', async (status) => {
  const onGet = sessionStreams((response) => void response.writeHead(status).end());
  const { transport, posts, heard, stop } = await httpAgent(accept, { onGet });
  transport.toAgent.write(PROMPT);
  await vi.waitFor(() => expect(heard()).toMatch(new RegExp(`"id":1,"error".*did not reach the agent: .*HTTP ${status}`)));
  expect(posts.filter(({ body }) => body.includes('session/prompt'))).toEqual([]);
  transport.toAgent.write(Buffer.from('{"jsonrpc":"2.0","id":2,"method":"session/list"}\n'));
  await vi.waitFor(() => expect(posts.at(-1)?.body).toContain('session/list'));
  await stop();
});

test('the event stream of a session that the server knows late is opened then, and the answer arrives', async () => {
  let tries = 0;
  const onGet = sessionStreams((response) => {
    if (++tries < 4) return void response.writeHead(403).end();
    response.writeHead(200, EVENTS).write('data: {"jsonrpc":"2.0","id":1,"result":{"stopReason":"end_turn"}}\n\n');
  });
  const { transport, heard, stop } = await httpAgent(accept, { onGet });
  transport.toAgent.write(PROMPT);
  await vi.waitFor(() => expect(heard()).toContain('"id":1,"result"'));
  await stop();
});

test('a server that takes a prompt and opens no event stream for it loses the connection', async () => {
  const onGet = sessionStreams((response) => void response.writeHead(404).end());
  const { transport, posts, stop } = await httpAgent(accept, { onGet });
  transport.toAgent.write(PROMPT);
  expect(await exitOf(transport)).toEqual({ kind: 'disconnected', why: 'it opens no event stream for the session' });
  expect(posts.filter(({ body }) => body.includes('session/prompt'))).toHaveLength(1);
  await stop();
});

test('an event stream whose kept socket the server closes is asked for again', async () => {
  let isFirst = true;
  const onGet = sessionStreams((response) => {
    if (isFirst) response.socket?.resetAndDestroy();
    else response.writeHead(200, EVENTS).write('data: {"jsonrpc":"2.0","id":1,"result":{}}\n\n');
    isFirst = false;
  });
  const { transport, heard, posts, stop } = await httpAgent(accept, { onGet });
  transport.toAgent.write(Buffer.from('{"jsonrpc":"2.0","method":"x"}\n'));
  await vi.waitUntil(() => posts.length === 2);
  for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate); // client and server are in this process: its socket is free now
  transport.toAgent.write(PROMPT);
  await vi.waitFor(() => expect(heard()).toContain('"id":1,"result"'));
  await stop();
});

test('the event stream of a session that is closed is closed too', async () => {
  let connection: ServerResponse | undefined;
  let isClosed = false;
  const onGet = (session: string | undefined, response: ServerResponse) => {
    response.writeHead(200, EVENTS).flushHeaders();
    if (session === undefined) connection = response;
    else
      response.on('close', () => {
        isClosed = true;
      });
  };
  const answers = (_body: string, response: ServerResponse) => {
    accept('', response);
    connection?.write('data: {"jsonrpc":"2.0","id":1,"result":{}}\n\n');
  };
  const { transport, stop } = await httpAgent(answers, { onGet });
  transport.toAgent.write(Buffer.from('{"jsonrpc":"2.0","id":1,"method":"session/close","params":{"sessionId":"s"}}\n'));
  await vi.waitFor(() => expect(isClosed).toBe(true));
  await stop();
});

/** Streams that send comments, each by itself. */
const commenting = (isAlive: (session: string | undefined) => boolean) => (session: string | undefined, response: ServerResponse) => {
  response.writeHead(200, EVENTS).write(':\n\n:\n\n');
  const timer = setInterval(() => void (isAlive(session) && response.write(':\n\n')), 50);
  response.on('close', () => clearInterval(timer));
};

test('an event stream with an open request that falls silent loses the connection, although the others are alive', async () => {
  const { transport, stop } = await httpAgent(accept, { onGet: commenting((session) => session === undefined), keepaliveMs: 150 });
  transport.toAgent.write(PROMPT);
  expect(await exitOf(transport)).toEqual({ kind: 'disconnected', why: 'it was silent for 300 ms' });
  await stop();
});

test('with keepalive_ms 0, and after a single comment at its beginning, a silent stream is never lost', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'setInterval', 'clearInterval'] });
  for (const [onGet, keepaliveMs] of [
    [commenting(() => false), 0],
    [sessionStreams((response) => void response.writeHead(200, EVENTS).write(':\n\n')), 100],
  ] as const) {
    const { transport, posts, stop } = await httpAgent(accept, { onGet, keepaliveMs });
    const exits: unknown[] = [];
    transport.onExit((how) => void exits.push(how));
    transport.toAgent.write(PROMPT);
    await vi.waitUntil(() => posts.length === 2);
    vi.advanceTimersByTime(3_600_000);
    expect(exits).toEqual([]);
    await stop();
  }
});

test('the answer to session/load waits for the replay, also if the server knows the session only then', async () => {
  const frame = (more: object) => `data: ${JSON.stringify({ jsonrpc: '2.0', ...more })}\n\n`;
  let connection: ServerResponse | undefined;
  let isLoaded = false;
  const http = createServer((request, response) => {
    const session = request.headers['acp-session-id'];
    if (request.method === 'GET') {
      if (session !== undefined && !isLoaded) return void response.writeHead(403).end();
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      if (session === undefined) connection = response;
      else for (const n of [1, 2]) response.write(frame({ method: 'session/update', params: { sessionId: 's', n } }));
      return;
    }
    request.resume();
    request.on('end', () => {
      if (request.headers['acp-connection-id'] !== undefined) {
        response.writeHead(202).end();
        isLoaded = true;
        return void connection?.write(frame({ id: 1, result: {} }));
      }
      response.writeHead(200, { 'content-type': 'application/json', 'acp-connection-id': 'c' });
      response.end('{"jsonrpc":"2.0","id":0,"result":{}}');
    });
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const { port } = http.address() as AddressInfo;
  const transport = connectRemote(remote(`http://127.0.0.1:${port}/acp`), { maxFrameBytes: MAX_FRAME_BYTES });
  let heard = '';
  transport.fromAgent.on('data', (chunk: Buffer) => {
    heard += chunk.toString();
  });
  transport.toAgent.write(Buffer.from('{"jsonrpc":"2.0","id":0,"method":"initialize"}\n'));
  transport.toAgent.write(Buffer.from('{"jsonrpc":"2.0","id":1,"method":"session/load","params":{"sessionId":"s"}}\n'));
  const frames = () =>
    heard
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  await vi.waitFor(() => expect(heard).toContain('"id":1'));
  expect(frames().map(({ id, params }) => id ?? `update ${params.n}`)).toEqual([0, 'update 1', 'update 2', 1]);
  http.closeAllConnections();
  await transport.stop();
  await new Promise((resolve) => http.close(resolve));
});
