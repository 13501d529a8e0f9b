// The transports that run everywhere hold the contract; and what only network transports must notice.
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { expect, test, vi } from 'vitest';
import { startChildProcess } from '../../src/transports/child-process.ts';
import { connectRemote } from '../../src/transports/connect-remote.ts';
import { inProcessPair } from '../../src/transports/in-process.ts';
import { onceExited } from '../../src/transports/transport.ts';
import { type Carrier, exitOf, holdsTheContract, MAX_FRAME_BYTES } from './contract.ts';
import { echoOverHttp, echoOverWebSocket } from './echo-peers.ts';

const ECHO = path.resolve(import.meta.dirname, '../fixtures/echoes-lines.mjs');

const remote = (url: string, keepaliveMs = 30_000) => ({
  url,
  headers: {},
  tls: {},
  connectMs: 5000,
  keepaliveMs,
  configKey: 'agent_servers.x',
});

const CARRIERS: readonly Carrier[] = [
  {
    name: 'an in-process pair',
    async start() {
      const { client, proxy } = inProcessPair();
      client.input.pipe(client.output); // the agent, here the client's end, echoes
      const exit = onceExited();
      proxy.input.on('close', () => exit.happened({ kind: 'disconnected', why: 'the other end closed' }));
      const cut = () => void proxy.input.destroy();
      const end = { stop: async () => cut(), kill: cut };
      const transport = {
        fromAgent: proxy.input,
        toAgent: proxy.output,
        pid: undefined,
        stderrTail: () => [],
        onExit: exit.listen,
        ...end,
      };
      return { transport, peer: { cut, stop: end.stop } };
    },
  },
  {
    name: 'a child process',
    async start() {
      const command = {
        command: process.execPath,
        args: [ECHO],
        env: process.env as Record<string, string>,
        cwd: undefined,
        configKey: 'x',
      };
      const transport = startChildProcess(command, { graceMs: 500 });
      return { transport, peer: { cut: () => process.kill(transport.pid as number, 'SIGKILL'), stop: async () => transport.kill() } };
    },
  },
  {
    name: 'a WebSocket',
    async start() {
      const peer = await echoOverWebSocket();
      return { transport: connectRemote(remote(peer.url), { maxFrameBytes: MAX_FRAME_BYTES }), peer };
    },
  },
  {
    name: 'streamable HTTP',
    async start() {
      const peer = await echoOverHttp();
      const transport = connectRemote(remote(peer.url), { maxFrameBytes: MAX_FRAME_BYTES });
      transport.toAgent.write(Buffer.from('{"jsonrpc":"2.0","id":0,"method":"initialize"}\n'));
      await new Promise<void>((resolve) => transport.fromAgent.on('data', () => resolve()));
      return { transport, peer };
    },
  },
];

for (const carrier of CARRIERS) holdsTheContract(carrier);

test('a WebSocket peer that answers no ping is lost', async () => {
  const peer = await echoOverWebSocket({ answersPings: false });
  const transport = connectRemote(remote(peer.url, 200), { maxFrameBytes: MAX_FRAME_BYTES });
  expect(await exitOf(transport)).toEqual({ kind: 'disconnected', why: 'no answer to a ping within 200 ms' });
  await transport.stop();
  await peer.stop();
});

test('an HTTP peer that has sent comments and then nothing is lost', async () => {
  const peer = await echoOverHttp({ comments: 1 });
  const transport = connectRemote(remote(peer.url, 300), { maxFrameBytes: MAX_FRAME_BYTES });
  transport.toAgent.write(Buffer.from('{"jsonrpc":"2.0","id":0,"method":"initialize"}\n'));
  expect(await exitOf(transport)).toEqual({ kind: 'disconnected', why: 'it was silent for 600 ms' });
  await transport.stop();
  await peer.stop();
});

/** A server that answers initialize and then handles each POST as told. */
async function httpAgent(onPost: (body: string, response: ServerResponse) => void) {
  const posts: { body: string; cookie: string | undefined }[] = [];
  const deleted: IncomingHttpHeaders[] = [];
  const http = createServer((request, response) => {
    if (request.method === 'GET') return void response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
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
  const transport = connectRemote({ ...remote(`http://127.0.0.1:${port}/acp`), connectMs: 250 }, { maxFrameBytes: MAX_FRAME_BYTES });
  const ready = new Promise((resolve) => transport.fromAgent.on('data', resolve));
  transport.toAgent.write(Buffer.from('{"jsonrpc":"2.0","id":0,"method":"initialize"}\n'));
  await ready;
  const stop = async () => {
    http.closeAllConnections();
    await transport.stop();
    await new Promise((resolve) => http.close(resolve));
  };
  return { transport, posts, deleted, stop };
}
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
  const { transport, posts, stop } = await httpAgent((_body, response) => void response.writeHead(202).end());
  transport.toAgent.write(PROMPT);
  await vi.waitFor(() => expect(posts).toHaveLength(2));
  await stop();
  const names = posts[1]?.cookie?.split('; ').map((one) => one.split('=')[0]);
  expect(names).toHaveLength(32);
  expect(names).not.toContain('c1');
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
