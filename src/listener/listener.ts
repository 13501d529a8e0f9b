// The one HTTP server of a process: finds the endpoint of a request by its path, and bounds what peers without a token can hold open.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { asHttp1, createHttpServer, type TlsFiles } from './http2.ts';
import { refuse, refuseUpgrade } from './respond.ts';

export type Endpoint = {
  /** Calls `proven` once the peer has shown a token: its request then stays open as long as it needs. */
  handle(request: IncomingMessage, response: ServerResponse, proven: () => void): void | Promise<void>;
  /** Undefined if it has no WebSocket. */
  upgrade?(request: IncomingMessage, socket: Duplex, head: Buffer): void;
};

export type ListenOptions = {
  readonly host: string;
  /** 0 selects any free port. */
  readonly port: number;
  readonly tls?: TlsFiles | undefined;
  /** By exact path. `*` gets every other path. */
  readonly endpoints: ReadonlyMap<string, Endpoint>;
};

export type Listener = {
  readonly host: string;
  readonly port: number;
  /** Stops accepting; open connections go on. */
  stopAccepting(): void;
  close(): void;
};

const SERVER = { headersTimeout: 10_000, requestTimeout: 30_000, maxHeaderSize: 16 * 1024 };
const MAX_SOCKETS = 8192;
/** Open requests whose token is not checked yet. When there are more, the oldest is dropped, so that slow peers cannot block others. */
const MAX_UNPROVEN = 64;
/** The same for sockets, most of which have not sent a whole request. */
const MAX_UNPROVEN_SOCKETS = 1024;

const peerOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;

/** Resolves when it listens; rejects when it cannot. */
export function listen({ host, port, tls, endpoints }: ListenOptions): Promise<Listener> {
  const unproven = new Set<ServerResponse>();
  const { server, closeConnections } = createHttpServer(SERVER, tls);
  server.maxConnections = MAX_SOCKETS;

  // By the peer's address, because a TLS socket is not the one that was accepted.
  const unprovenSockets = new Map<string, Socket>();
  server.on('connection', (socket: Socket) => {
    const peer = peerOf(socket);
    const [oldest] = unprovenSockets.values();
    if (oldest && unprovenSockets.size >= MAX_UNPROVEN_SOCKETS) {
      unprovenSockets.delete(unprovenSockets.keys().next().value as string);
      oldest.destroy();
    }
    unprovenSockets.set(peer, socket);
    socket.once('close', () => void (unprovenSockets.get(peer) === socket && unprovenSockets.delete(peer)));
  });

  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    asHttp1(request, response);
    const endpoint = endpointOf(request);
    if (!endpoint) return refuse(response, { status: 404, why: 'not found' });
    const [oldest] = unproven;
    if (oldest && unproven.size >= MAX_UNPROVEN) oldest.destroy();
    unproven.add(response);
    const proven = () => {
      unproven.delete(response);
      unprovenSockets.delete(peerOf(request.socket));
    };
    response.once('close', () => void unproven.delete(response));
    // A peer that disconnects in mid-request ends only that request.
    void (async () => endpoint.handle(request, response, proven))().catch(() => response.destroy());
  });
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => {}); // the peer may disconnect meanwhile
    unprovenSockets.delete(peerOf(request.socket)); // it is served, or closed at once
    const endpoint = endpointOf(request);
    if (endpoint?.upgrade) endpoint.upgrade(request, socket, head);
    else refuseUpgrade(socket, { status: 404, why: 'not found' });
  });
  server.on('clientError', (_, socket) => void socket.destroy());

  function endpointOf({ url = '' }: IncomingMessage): Endpoint | undefined {
    const [path = ''] = url.split('?');
    return endpoints.get(path) ?? endpoints.get('*');
  }
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, () => {
      server.off('error', reject);
      server.on('error', () => {});
      resolve({
        host,
        port: (server.address() as AddressInfo).port,
        stopAccepting: () => void server.close(),
        close() {
          server.close();
          closeConnections();
        },
      });
    });
  });
}

/** Whether it stands for all addresses of the machine. */
export const isAnyAddress = (host: string): boolean => host === '0.0.0.0' || host === '::';

/** Whether only programs on this machine can reach the address. */
export const isLoopback = (host: string): boolean => host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
