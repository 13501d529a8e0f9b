// The way in for the stdio shim: a private socket. The first line is a token, everything after it is MCP.

import { randomBytes } from 'node:crypto';
import { lstatSync, mkdtempSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { isAlive } from '../../processes/process-table.ts';
import type { Guest } from './http-listener.ts';

// Where the shim finds us: a socket nobody but the user can reach, in a directory of its own (a named pipe on Windows).
/** What a socket's path may have at most, on the platform that takes the least. */
const MAX_PATH = 100;
const PREFIX = 'switchboard-mcp-';

export type PrivatePlace = { readonly address: string; remove(): void };

export function makePrivatePlace(): PrivatePlace {
  if (process.platform === 'win32')
    return { address: `\\\\.\\pipe\\${PREFIX}${process.pid}-${randomBytes(16).toString('hex')}`, remove: () => {} };
  const roomy = path.join(os.tmpdir(), `${PREFIX}${process.pid}-XXXXXX`, 'mcp.sock').length <= MAX_PATH;
  const parent = roomy ? os.tmpdir() : '/tmp';
  removeLeftovers(parent);
  const dir = mkdtempSync(path.join(parent, `${PREFIX}${process.pid}-`)); // made with mode 0700
  const address = path.join(dir, 'mcp.sock');
  const remove = () => {
    process.off('exit', remove);
    try {
      // Nothing else is in there, and to look for more would take a descriptor, of which none may be free.
      rmSync(address, { force: true });
      rmdirSync(dir);
    } catch {
      // Gone already, or for the next process to remove.
    }
  };
  process.on('exit', remove);
  return { address, remove };
}

/** Of a proxy that was killed. Whoever has its pid now may be another program: then it stays, and the next one sees to it. */
function removeLeftovers(parent: string): void {
  try {
    for (const name of readdirSync(parent)) {
      const pid = Number(new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1]);
      const place = path.join(parent, name);
      if (pid > 0 && !isAlive(pid) && isOurs(place)) rmSync(place, { recursive: true, force: true });
    }
  } catch {
    // Gone already.
  }
}

/** Anybody may make a directory of such a name, and change what is in it while it is being removed. */
function isOurs(place: string): boolean {
  const stat = lstatSync(place);
  return stat.isDirectory() && stat.uid === process.getuid?.() && (stat.mode & 0o077) === 0;
}

/** A token and its wrapping. */
const MAX_HELLO_BYTES = 1024;
const HELLO_MS = 10_000;
const LF = 0x0a;

export type SocketListener = { readonly address: string; close(): void };

export type SocketListenerEvents<G extends Guest> = {
  /** Whom a token belongs to; undefined (and noted) when it is nobody. */
  admit(token: string): G | undefined;
  serve(guest: G, socket: Socket): void;
};

/** Listens at once: the shim is started by the agent, long after. */
export function openSocketListener<G extends Guest>(on: SocketListenerEvents<G>, onProblem: (error: Error) => void): SocketListener {
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

function hear<G extends Guest>(socket: Socket, on: SocketListenerEvents<G>): void {
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
