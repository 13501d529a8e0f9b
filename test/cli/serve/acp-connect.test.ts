// The bridge between an editor and a daemon that does not read.
import { EventEmitter, once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect, test, vi } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { acpConnect } from '../../../src/cli/serve/acp-connect.ts';

test('a daemon that does not read pauses the editor, until it reads or is gone', async () => {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  const sockets: WebSocket[] = [];
  server.on('connection', (socket) => {
    sockets.push(socket);
    socket.pause();
  });
  vi.stubEnv('SWITCHBOARD_TOKEN', 'swb_x');
  const events = new EventEmitter();
  let isPaused = false;
  const input = {
    on: events.on.bind(events),
    pause() {
      isPaused = true;
    },
    resume() {
      isPaused = false;
    },
  };
  const output = { write: () => true, cork() {}, uncork() {}, end() {}, on() {}, writableLength: 0 };
  const connect = `ws://127.0.0.1:${(server.address() as AddressInfo).port}/acp`;
  const ended = acpConnect({ connect }, { input: input as never, output: output as never });
  const line = Buffer.from(`{"jsonrpc":"2.0","method":"x","params":{"text":"${'x'.repeat(1 << 20)}"}}\n`);
  /** The buffers of the system take some megabytes before the editor has to wait. */
  const fill = async () => {
    for (let n = 0; n < 64 && !isPaused; n++) {
      events.emit('data', line);
      await vi.waitUntil(() => sockets.length > 0); // what comes before is kept
      for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
    }
    expect(isPaused).toBe(true);
  };
  const resumed = () => vi.waitUntil(() => !isPaused, { timeout: 10_000 });
  await fill();
  sockets[0]?.resume();
  await resumed();
  sockets[0]?.pause();
  await fill();
  sockets[0]?.terminate();
  await resumed();
  events.emit('end');
  expect(await ended).toBe(0);
  vi.unstubAllEnvs();
  server.close();
});
