// The HTTP proxy for contained agents. It decides by host name, and connects to the addresses that it has checked.
import { lookup as systemLookup } from 'node:dns/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse, request as startRequest } from 'node:http';
import { connect, isIP, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { isForbiddenAddress, plainHost } from './addresses.ts';

/** Undefined: allowed. Otherwise the reason, for the agent. */
export type DecideHost = (host: string, port: number, signal: AbortSignal) => Promise<string | undefined>;

export type ForwardProxy = { serve(connection: Duplex): void; close(): void };
type Lookup = (host: string) => Promise<readonly { readonly address: string }[]>;

const CONNECT_MS = 30_000;

/** `allowsAddress` is for tests, which have only this machine. */
export function createForwardProxy(
  decide: DecideHost,
  lookup: Lookup = (host) => systemLookup(host, { all: true }),
  allowsAddress: (address: string) => boolean = (address) => !isForbiddenAddress(address),
): ForwardProxy {
  const open = new Set<Duplex>();
  const server: Server = createServer({ keepAlive: false }, (request, response) => void pass(request, response));
  server.on('connect', (request: IncomingMessage, socket: Duplex, head: Buffer) => void tunnel(request, socket, head));
  server.on('clientError', (_, socket) => socket.destroy());

  /** The addresses of an allowed host, or the reason why there are none. */
  async function resolve(host: string | undefined, port: number, signal: AbortSignal): Promise<readonly string[] | string> {
    if (host === undefined || !Number.isInteger(port) || port < 1 || port > 65_535) return 'the request names no host and port';
    const refused = await decide(host, port, signal);
    if (refused !== undefined) return refused;
    try {
      const found = isIP(host) === 0 ? (await lookup(host)).map(({ address }) => address) : [host];
      const usable = found.filter(allowsAddress);
      return usable.length > 0 ? usable : `${host} is an address of this machine or its link, which no name may lead to`;
    } catch (error) {
      return `${host} cannot be found (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`;
    }
  }

  async function tunnel({ url = '' }: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const gone = new AbortController();
    socket.on('error', () => socket.destroy());
    socket.once('close', () => gone.abort());
    const [, name = '', port = ''] = /^(.*):(\d+)$/.exec(url) ?? [];
    const found = await resolve(plainHost(name), Number(port), gone.signal);
    if (gone.signal.aborted) return;
    if (typeof found === 'string') return refuse(socket, found);
    const upstream = await firstOf(found, Number(port));
    if (!upstream) return refuse(socket, `${name} does not answer`, '502 Bad Gateway');
    if (gone.signal.aborted) return void upstream.destroy();
    track(upstream);
    upstream.on('error', () => socket.destroy());
    socket.once('close', () => upstream.destroy());
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
    if (head.length > 0) upstream.write(head);
    upstream.pipe(socket);
    socket.pipe(upstream);
  }

  async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    let target: URL | undefined;
    try {
      target = new URL(request.url ?? '');
    } catch {
      target = undefined;
    }
    if (target?.protocol !== 'http:') return answer(response, 400, 'this is a proxy: the request needs an absolute http URL');
    const port = Number(target.port || 80);
    const found = await resolve(plainHost(target.hostname), port, gone.signal);
    if (gone.signal.aborted) return;
    if (typeof found === 'string') return answer(response, 403, found);
    const { 'proxy-connection': _, 'proxy-authorization': __, ...headers } = request.headers;
    const upstream = startRequest(
      {
        host: found[0],
        port,
        method: request.method,
        path: target.pathname + target.search,
        headers: { ...headers, host: target.host },
        setHost: false,
      },
      (from) => {
        response.writeHead(from.statusCode ?? 502, from.rawHeaders);
        from.pipe(response);
      },
    );
    upstream.on('error', () => (response.headersSent ? response.destroy() : answer(response, 502, `${target.hostname} does not answer`)));
    response.once('close', () => upstream.destroy());
    request.pipe(upstream);
  }

  function track(stream: Duplex): void {
    open.add(stream);
    stream.once('close', () => open.delete(stream));
  }
  return {
    serve(connection) {
      track(connection);
      server.emit('connection', connection);
    },
    close() {
      for (const stream of open) stream.destroy();
      server.close();
    },
  };
}

async function firstOf(addresses: readonly string[], port: number): Promise<Socket | undefined> {
  for (const host of addresses) {
    const socket = await new Promise<Socket | undefined>((resolve) => {
      const attempt = connect({ host, port, timeout: CONNECT_MS });
      const failed = () => {
        attempt.destroy();
        resolve(undefined);
      };
      attempt.once('error', failed);
      attempt.once('timeout', failed);
      attempt.once('connect', () => {
        attempt.off('error', failed);
        attempt.setTimeout(0);
        resolve(attempt);
      });
    });
    if (socket) return socket;
  }
  return undefined;
}

/** `why` may contain a host that the agent chose, in plain characters only. */
function refuse(socket: Duplex, why: string, status = '403 Forbidden'): void {
  const body = `${why}\n`;
  socket.end(
    `HTTP/1.1 ${status}\r\ncontent-type: text/plain\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}

function answer(response: ServerResponse, status: number, why: string): void {
  response.writeHead(status, { 'content-type': 'text/plain', connection: 'close' });
  response.end(`${why}\n`);
}
