// `/acp` on a real listener, with clients that do not keep to the rules: they never read, never close, or go on after they were told to stop.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import net from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { createAcpEndpoint } from '../../src/listener/acp-endpoint.ts';
import { createGate } from '../../src/listener/gate.ts';
import { type Listener, listen } from '../../src/listener/listener.ts';
import { createBodyBudget } from '../../src/listener/respond.ts';
import type { Token } from '../../src/store/tokens.ts';
import type { Sink } from '../../src/wire/byte-stream.ts';

const ANN: Token = { name: 'ann', role: 'client', createdAt: '2026-01-01', expiresAt: undefined };
const INITIALIZE = '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}';

type Served = { readonly lines: string[]; readonly sink: Sink; isClosed: boolean };
const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

/** Answers every line with `answer`, and notes what it was sent. */
async function start(answer: Buffer) {
  const served: Served[] = [];
  const state = { isValid: true };
  const gate = createGate({
    tokens: { verify: (presented) => (presented === 'ann' ? ANN : undefined), isValid: () => state.isValid },
    addresses: () => ({ hosts: new Set([`127.0.0.1:${listener.port}`]), origins: new Set() }),
  });
  cleanups.push(gate.close);
  const endpoint = createAcpEndpoint({
    gate,
    connect({ input, output }) {
      const one: Served = { lines: [], sink: output, isClosed: false };
      served.push(one);
      input.on('data', (chunk) => {
        for (const line of String(chunk).split('\n').filter(Boolean)) {
          one.lines.push(line);
          output.write(line === INITIALIZE ? Buffer.from('{"jsonrpc":"2.0","id":1,"result":{}}\n') : answer);
        }
      });
      const close = async () => {
        one.isClosed = true;
      };
      return { closed: new Promise(() => {}), close };
    },
    knows: () => true,
    maxFrameBytes: 1 << 20,
    bodyLimits: createBodyBudget(1 << 20),
    now: Date.now,
  });
  const listener: Listener = await listen({ host: '127.0.0.1', port: 0, endpoints: new Map([['/acp', gate.guard(endpoint)]]) });
  cleanups.push(listener.close);
  return { port: listener.port, served, state };
}

test('the bodies that one principal sends at once are bounded', async () => {
  const { port } = await start(Buffer.from('\n'));
  const head = `POST /acp HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ann\r\nContent-Type: application/json\r\n`;
  const part = Buffer.alloc(1_000_000, 0x20);
  const send = () => {
    const socket = dial(port);
    socket.write(`${head}Content-Length: 1048576\r\n\r\n`);
    socket.write(part);
    return new Promise<string>((resolve) => socket.once('data', (chunk) => resolve(String(chunk))));
  };
  // Each is one frame, and the fifth is too much.
  expect(await Promise.race(Array.from({ length: 5 }, send))).toContain('429');
});

function dial(port: number): net.Socket {
  const socket = net.connect({ host: '127.0.0.1', port, allowHalfOpen: true });
  socket.on('error', () => {});
  cleanups.push(() => void socket.destroy());
  return socket;
}

/** A WebSocket on a bare socket, which answers nothing by itself. */
async function upgrade(port: number, token: string): Promise<net.Socket> {
  const socket = dial(port);
  const key = randomBytes(16).toString('base64');
  const head = `GET /acp HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\n`;
  socket.write(`${head}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n\r\n`);
  await new Promise((resolve) => socket.once('data', resolve));
  return socket;
}

/** A short text message, masked with zeros. */
const message = (text: string): Buffer => Buffer.concat([Buffer.from([0x81, 0x80 | text.length, 0, 0, 0, 0]), Buffer.from(text)]);

/** The other side has closed its socket, not only its direction. */
async function isReset(socket: net.Socket): Promise<void> {
  const probe = () => {
    if (!socket.destroyed) socket.write('x');
    return socket.destroyed;
  };
  await expect.poll(probe, { timeout: 5000 }).toBe(true);
}

test('a refused WebSocket is closed, also if the peer keeps its side open', async () => {
  const { port } = await start(Buffer.from('{}\n'));
  await isReset(await upgrade(port, 'wrong'));
});

test('a request with several Authorization headers is refused, whichever of them is valid', async () => {
  const { port } = await start(Buffer.from('{}\n'));
  for (const both of ['ann\r\nAuthorization: Bearer wrong', 'wrong\r\nAuthorization: Bearer ann']) await isReset(await upgrade(port, both));
});

test('of many sockets that send nothing the oldest are closed, and a client with a token stays', async () => {
  const { port, served } = await start(Buffer.from('{}\n'));
  const first = dial(port);
  const ended = new Promise((resolve) => first.once('close', resolve).once('end', resolve));
  first.resume();
  await new Promise((resolve) => first.once('connect', resolve));
  const client = await upgrade(port, 'ann');
  for (let k = 0; k < 1100; k++) dial(port);
  await ended;
  client.write(message('still here'));
  await expect.poll(() => served[0]?.lines).toEqual(['still here']);
}, 20_000);

test('a revoked client that does not answer the close is no longer heard, and is disconnected', async () => {
  const { port, served, state } = await start(Buffer.from('{}\n'));
  const socket = await upgrade(port, 'ann');
  socket.write(message('before'));
  await expect.poll(() => served[0]?.lines).toEqual(['before']);
  state.isValid = false;
  await new Promise<void>((resolve) => socket.on('data', (chunk) => void (chunk.includes(0x88) && resolve())));
  expect(served[0]?.isClosed).toBe(true);
  socket.write(message('after'));
  await isReset(socket);
  expect(served[0]?.lines).toEqual(['before']);
});

const LARGE = Buffer.from(`{"jsonrpc":"2.0","method":"x","params":{"text":"${'x'.repeat(100_000)}"}}\n`);
const MOST = 24 << 20;

test('a WebSocket client that never reads is not read either, so its answers do not pile up', async () => {
  const { port, served } = await start(Buffer.from(`"${'x'.repeat(2000)}"\n`));
  const socket = await upgrade(port, 'ann');
  socket.pause();
  const count = 30_000;
  socket.write(Buffer.concat(Array.from({ length: count }, () => message(`"${'y'.repeat(100)}"`))));
  const heard = () => served[0]?.lines.length ?? 0;
  await expect.poll(heard).toBeGreaterThan(0);
  // The server has had many turns since it last read.
  for (let before = -1; before !== heard(); ) {
    before = heard();
    for (let k = 0; k < 20; k++) await (await fetch(`http://127.0.0.1:${port}/other`)).text();
  }
  expect(served[0]?.sink.writableLength).toBeLessThan(MOST);
  socket.resume();
  await expect.poll(heard, { timeout: 20_000 }).toBe(count); // none is lost
}, 30_000);

test('the unfinished messages of one principal are bounded, and finished ones take no room', async () => {
  const { port, served } = await start(Buffer.from('{}\n'));
  const half = Buffer.alloc(700_000, 0x20);
  /** A text message of 1 MiB, masked with zeros. */
  const head = Buffer.from([0x81, 0xff, 0, 0, 0, 0, 0, 0x10, 0, 0, 0, 0, 0, 0]);
  const begin = async () => {
    const socket = await upgrade(port, 'ann');
    socket.write(head);
    socket.write(half);
    return socket;
  };
  const whole = await upgrade(port, 'ann');
  for (let n = 0; n < 12; n++) whole.write(Buffer.concat([head, Buffer.alloc(1 << 20, 0x20)]));
  whole.write(message('all of them'));
  await expect.poll(() => served[0]?.lines.at(-1), { timeout: 10_000 }).toBe('all of them');
  // Each of the others holds two thirds of a frame; the room is for four.
  const sockets = await Promise.all(Array.from({ length: 7 }, begin));
  await Promise.race(sockets.map((socket) => new Promise((resolve) => socket.once('close', resolve).once('end', resolve).resume())));
  whole.write(message('still here'));
  await expect.poll(() => served[0]?.lines.at(-1)).toBe('still here');
}, 20_000);

test('an HTTP client that never reads may not post more', async () => {
  const { port, served } = await start(LARGE);
  const post = (headers: Record<string, string>, body: string) =>
    fetch(`http://127.0.0.1:${port}/acp`, {
      method: 'POST',
      headers: { authorization: 'Bearer ann', 'content-type': 'application/json', ...headers },
      body,
    });
  const id = (await post({}, INITIALIZE)).headers.get('acp-connection-id') ?? '';
  let last = 202;
  for (let k = 0; k < 400 && last === 202; k++) last = (await post({ 'acp-connection-id': id }, '{"jsonrpc":"2.0","method":"y"}')).status;
  expect(last).toBe(429);
  expect(served[0]?.sink.writableLength).toBeLessThan(MOST);
});

test('answers to pings that a client does not read are dropped', async () => {
  const { port, served } = await start(Buffer.from('{}\n'));
  const socket = await upgrade(port, 'ann');
  socket.pause();
  const ping = Buffer.concat([Buffer.from([0x89, 0x80 | 125, 0, 0, 0, 0]), Buffer.alloc(125, 65)]);
  const many = Buffer.concat(Array.from({ length: 2000 }, () => ping));
  const rounds = 100;
  for (let n = 0; n < rounds; n++) if (!socket.write(many)) await once(socket, 'drain');
  socket.write(message('after the pings'));
  await expect.poll(() => served[0]?.lines, { timeout: 20_000 }).toEqual(['after the pings']);
  let bytes = 0;
  let text = '';
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    text = chunk.toString('latin1');
  });
  socket.resume();
  await expect.poll(() => text, { timeout: 20_000 }).toContain('{}'); // the answer to the message is behind the pongs
  expect(bytes).toBeLessThan((rounds * many.length) / 2);
}, 30_000);
