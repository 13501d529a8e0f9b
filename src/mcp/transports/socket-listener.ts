// The way in for the stdio shim: a private socket. The first line is a token, everything after it is MCP.
import { createServer, type Server, type Socket } from 'node:net';
import type { Guest } from './http-listener.ts';
import { makePrivatePlace } from './private-place.ts';

/** A token and its wrapping. */
const MAX_HELLO_BYTES = 1024;
const HELLO_MS = 10_000;
const LF = 0x0a;

export type SocketDoor = { readonly address: string; close(): void };

export type SocketDoorEvents<G extends Guest> = {
  /** Whom a token belongs to; undefined (and noted) when it is nobody. */
  admit(token: string): G | undefined;
  serve(guest: G, socket: Socket): void;
};

/** Listens at once: the shim is started by the agent, long after. */
export function openSocketDoor<G extends Guest>(on: SocketDoorEvents<G>, onProblem: (error: Error) => void): SocketDoor {
  const place = makePrivatePlace();
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    hear(socket, on);
  });
  server.on('error', onProblem);
  server.listen(place.address);
  return {
    address: place.address,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
      place.remove();
    },
  };
}

function hear<G extends Guest>(socket: Socket, on: SocketDoorEvents<G>): void {
  let hello = Buffer.alloc(0);
  const timer = setTimeout(() => socket.destroy(), HELLO_MS);
  socket.on('close', () => clearTimeout(timer));
  const onData = (chunk: Buffer) => {
    hello = Buffer.concat([hello, chunk]);
    const end = hello.indexOf(LF);
    if (end === -1 && hello.length <= MAX_HELLO_BYTES) return;
    clearTimeout(timer);
    socket.off('data', onData);
    const guest = end === -1 ? undefined : on.admit(hello.toString('utf8', 0, end));
    if (!guest) return void socket.end('this token is not valid, or no longer\n');
    socket.write('ok\n');
    socket.pause();
    if (end + 1 < hello.length) socket.unshift(hello.subarray(end + 1));
    socket.on(
      'close',
      guest.onRevoke(() => socket.destroy()),
    );
    on.serve(guest, socket);
  };
  socket.on('data', onData);
}
