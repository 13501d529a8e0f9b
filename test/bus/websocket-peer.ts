// A broker behind a WebSocket server on loopback. It takes any token: the daemon's gate checks it before.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';
import { createBroker } from '../../src/bus/broker.ts';
import { serveBus } from '../../src/bus/websocket/serve-bus.ts';
import { connectWebSocketBus } from '../../src/bus/websocket/websocket-bus.ts';
import type { BusPeer } from './contract.ts';

export async function busOverWebSocket(): Promise<BusPeer & { readonly url: string; restart(): Promise<void> }> {
  let broker = createBroker(Date.now);
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  server.on('connection', (socket) => serveBus(socket, broker));
  const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}/bus`;
  return {
    url,
    connect: () => connectWebSocketBus({ url, token: 'any' }),
    async cut() {
      for (const socket of server.clients) socket.terminate();
    },
    /** What was on the bus is gone. */
    async restart() {
      broker = createBroker(Date.now);
      for (const socket of server.clients) socket.terminate();
    },
    async stop() {
      for (const socket of server.clients) socket.terminate();
      server.close();
      await once(server, 'close');
    },
  };
}
