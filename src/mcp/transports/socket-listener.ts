// The private socket for the stdio shim. The first line is a token, everything after it is MCP.

import { randomBytes } from 'node:crypto';
import { lstatSync, mkdtempSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { here } from '../../platform/platform.ts';
import { isAlive } from '../../processes/process-table.ts';
import type { TokenHolder } from './http-listener.ts';

// The longest socket path, on the platform with the lowest limit. The socket is in a directory that only the user can reach (on Windows it
// is a named pipe).
const MAX_PATH = 100;
const PREFIX = 'switchboard-mcp-';

export type PrivatePlace = { readonly address: string; remove(): void };

export function makePrivatePlace(): PrivatePlace {
  if (here.hasNamedPipes) return { address: `\\\\.\\pipe\\${PREFIX}${process.pid}-${randomBytes(16).toString('hex')}`, remove: () => {} };
  const roomy = path.join(os.tmpdir(), `${PREFIX}${process.pid}-XXXXXX`, 'mcp.sock').length <= MAX_PATH;
  const parent = roomy ? os.tmpdir() : '/tmp';
  removeLeftovers(parent);
  const dir = mkdtempSync(path.join(parent, `${PREFIX}${process.pid}-`)); // created with mode 0700
  const address = path.join(dir, 'mcp.sock');
  const remove = () => {
    process.off('exit', remove);
    try {
      // The directory has no other files, and listing it would need a descriptor, of which none may be free.
      rmSync(address, { force: true });
      rmdirSync(dir);
    } catch {
      // Already removed, or left to the next process.
    }
  };
  process.on('exit', remove);
  return { address, remove };
}

/** Removes directories of killed proxies. If the pid was reused by another program, the directory stays for the next process. */
function removeLeftovers(parent: string): void {
  try {
    for (const name of readdirSync(parent)) {
      const pid = Number(new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1]);
      const place = path.join(parent, name);
      if (pid > 0 && !isAlive(pid) && isOurs(place)) rmSync(place, { recursive: true, force: true });
    }
  } catch {
    // Already removed.
  }
}

/** Any user may create a directory with such a name, and change its content while it is removed. */
function isOurs(place: string): boolean {
  const stat = lstatSync(place);
  return stat.isDirectory() && stat.uid === process.getuid?.() && (stat.mode & 0o077) === 0;
}

/** A token and its framing. */
const MAX_HELLO_BYTES = 1024;
const HELLO_MS = 10_000;
const LF = 0x0a;

export type SocketListener = { readonly address: string; close(): void };

export type SocketListenerEvents<G extends TokenHolder> = {
  /** The holder of a token; undefined (and reported) if it is unknown. */
  admit(token: string): G | undefined;
  serve(holder: G, socket: Socket): void;
};

/** Listens at once: the agent starts the shim much later. */
export function openSocketListener<G extends TokenHolder>(on: SocketListenerEvents<G>, onProblem: (error: Error) => void): SocketListener {
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

/** The same on a loopback port, for an agent whose sandbox refuses unix sockets. Every local user can connect; the token decides. */
export function openTcpListener<G extends TokenHolder>(on: SocketListenerEvents<G>): Promise<SocketListener> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    hear(socket, on);
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host: '127.0.0.1', port: 0 }, () => {
      server.off('error', reject);
      server.on('error', () => {});
      resolve({
        address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
        close() {
          server.close();
          for (const socket of sockets) socket.destroy();
        },
      });
    });
  });
}

function hear<G extends TokenHolder>(socket: Socket, on: SocketListenerEvents<G>): void {
  let hello = Buffer.alloc(0);
  const timer = setTimeout(() => socket.destroy(), HELLO_MS);
  socket.on('close', () => clearTimeout(timer));
  const onData = (chunk: Buffer) => {
    hello = Buffer.concat([hello, chunk]);
    const end = hello.indexOf(LF);
    if (end === -1 && hello.length <= MAX_HELLO_BYTES) return;
    clearTimeout(timer);
    socket.off('data', onData);
    const holder = end === -1 ? undefined : on.admit(hello.toString('utf8', 0, end));
    if (!holder) return void socket.end('invalid or expired token\n');
    socket.write('ok\n');
    socket.pause();
    if (end + 1 < hello.length) socket.unshift(hello.subarray(end + 1));
    socket.on(
      'close',
      holder.onRevoke(() => socket.destroy()),
    );
    on.serve(holder, socket);
  };
  socket.on('data', onData);
}
