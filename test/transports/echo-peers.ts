// Peers that send every frame back, over each network transport. The HTTP one follows the wire of the ACP proposal, without our code.
import { randomUUID } from 'node:crypto';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';

export type EchoPeer = {
  readonly url: string;
  /** Breaks all connections without a goodbye. */
  cut(): void;
  stop(): Promise<void>;
};

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

const ended = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.closeAllConnections();
    server.close(() => resolve());
  });

export async function echoOverWebSocket({ answersPings = true } = {}): Promise<EchoPeer> {
  const http = createServer();
  const server = new WebSocketServer({ server: http, maxPayload: 64 << 20, autoPong: answersPings });
  server.on('connection', (socket) => {
    socket.on('message', (data) => socket.send(data, { binary: false }));
    socket.on('error', () => {});
  });
  const port = await listen(http);
  const cut = () => {
    for (const socket of server.clients) socket.terminate();
  };
  return {
    url: `ws://127.0.0.1:${port}/acp`,
    cut,
    stop: () => {
      cut();
      return ended(http);
    },
  };
}

/** `comments`: how many comments each stream sends before it falls silent. */
export async function echoOverHttp({ comments = 0 } = {}): Promise<EchoPeer> {
  const streams = new Map<string, ServerResponse>();
  const http = createServer((request, response) => {
    const connection = request.headers['acp-connection-id'];
    if (request.method === 'GET') {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(':\n\n'.repeat(comments));
      response.flushHeaders();
      streams.set(String(connection), response);
      return;
    }
    if (request.method === 'DELETE') return void response.writeHead(202).end();
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const body = Buffer.concat(parts);
      if (connection === undefined) {
        response.writeHead(200, { 'content-type': 'application/json', 'acp-connection-id': randomUUID() });
        return void response.end('{"jsonrpc":"2.0","id":0,"result":{}}');
      }
      response.writeHead(202).end();
      const stream = streams.get(String(connection));
      stream?.write('data: ');
      stream?.write(body);
      stream?.write('\n\n');
    });
  });
  const port = await listen(http);
  return { url: `http://127.0.0.1:${port}/acp`, cut: () => http.closeAllConnections(), stop: () => ended(http) };
}
