// A fixture agent behind a network transport: each connection starts the program, and its lines become messages.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import readline from 'node:readline';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Server } from './harness.ts';

export type RemoteAgent = {
  readonly url: string;
  /** The headers of each connection. */
  readonly headers: readonly IncomingHttpHeaders[];
  readonly sockets: readonly WebSocket[];
  /** Breaks every connection without a goodbye. */
  cut(): void;
  stop(): Promise<void>;
};

/** A certificate for 127.0.0.1, signed by itself: its file and its key's. */
export function selfSigned(dir: string): { readonly cert: string; readonly key: string } {
  const [cert, key] = [path.join(dir, 'cert.pem'), path.join(dir, 'key.pem')];
  const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '2'];
  execFileSync(
    'openssl',
    ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', key, '-out', cert, ...subject],
    {
      stdio: 'ignore',
    },
  );
  return { cert, key };
}

export async function overWebSocket(
  { command, args = [] }: Server,
  cwd: string,
  tls?: { readonly cert: string; readonly key: string },
): Promise<RemoteAgent> {
  const http = tls ? createTlsServer({ cert: readFileSync(tls.cert), key: readFileSync(tls.key) }) : createServer();
  const server = new WebSocketServer({ server: http, perMessageDeflate: false });
  const headers: IncomingHttpHeaders[] = [];
  const sockets: WebSocket[] = [];
  const children = new Set<ChildProcess>();
  server.on('connection', (socket, request) => {
    headers.push(request.headers);
    sockets.push(socket);
    const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'], cwd });
    children.add(child);
    child.once('exit', () => socket.close(1011, 'the agent exited'));
    child.stdin.on('error', () => {});
    readline.createInterface({ input: child.stdout }).on('line', (line) => socket.send(line));
    socket.on('message', (data) => void child.stdin.write(`${String(data)}\n`));
    socket.on('close', () => child.stdin.end());
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  return {
    url: `${tls ? 'wss' : 'ws'}://127.0.0.1:${(http.address() as AddressInfo).port}/acp`,
    headers,
    sockets,
    cut() {
      for (const socket of sockets) socket.terminate();
    },
    async stop() {
      for (const socket of sockets) socket.terminate();
      for (const child of children) child.kill('SIGKILL');
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}
