// The console's server on loopback: static files, the exchange of a link for a cookie, and one WebSocket. Any local user and any web page
// can connect, so every request is checked before it is routed.
import { readdirSync, readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import path from 'node:path';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { type Endpoint, type ListenOptions, listen } from '../../listener/listener.ts';
import { refuseUpgrade } from '../../listener/respond.ts';
import { createKeys, type Keys } from './access-keys.ts';

/** This address, as a browser writes it. */
type Here = { readonly scheme: 'http' | 'https'; readonly names: readonly string[]; readonly port: number };

// Detects requests from foreign web pages and DNS rebinding.
/** The reason to refuse, or undefined for our own page. `isUpgrade`: a WebSocket always carries an Origin. */
export function foreignReason(request: IncomingMessage, { scheme, names }: Here, isUpgrade: boolean): string | undefined {
  const { host, origin, 'sec-fetch-site': site } = request.headers;
  if (request.headersDistinct.host?.length !== 1 || !names.includes(host ?? '')) return 'the Host header is not this address';
  const isState = isUpgrade || request.method === 'POST';
  if (origin === undefined ? isState : origin !== `${scheme}://${host}`) return 'the Origin header is not this address';
  // Any site may link to the page: that changes nothing.
  const isFollowed = request.url === '/' && !isState && request.headers['sec-fetch-dest'] === 'document';
  if (site !== undefined && site !== 'same-origin' && site !== 'none' && !isFollowed) return 'the request comes from another site';
  return undefined;
}

export type ConsoleServer = {
  readonly port: number;
  /** A single-use link. */
  link(): string;
  /** Refuses new connections; open ones go on. */
  stopAccepting(): void;
  close(): void;
};

/** Where the server listens, and the host names that lead there; the first is in the link. */
export type ListenAt = { readonly host: string; readonly names: readonly string[]; readonly tls?: ListenOptions['tls'] };

const LOOPBACK: ListenAt = { host: '127.0.0.1', names: ['127.0.0.1', 'localhost'] };

export type ServerDeps = {
  readonly port: number;
  readonly at?: ListenAt | undefined;
  /** Other endpoints of the same listener, by path. */
  readonly endpoints?: readonly (readonly [string, Endpoint])[] | undefined;
  readonly files: ReadonlyMap<string, PageFile>;
  /** Called with an authenticated page. */
  readonly welcome: (socket: WebSocket, first: unknown) => void;
  readonly now: () => number;
  /** A link was used. */
  readonly entered?: (() => void) | undefined;
};

/** A prompt may contain images. */
const MAX_MESSAGE_BYTES = 24 * 1024 * 1024;
const MAX_BODY_BYTES = 4096;
const MAX_SOCKETS = 32;
const HELLO_WITHIN_MS = 10_000;

/** Resolves when it listens; rejects when it cannot. */
export async function openServer({
  port,
  at = LOOPBACK,
  endpoints = [],
  files,
  welcome,
  now,
  entered,
}: ServerDeps): Promise<ConsoleServer> {
  const keys = createKeys(now);
  const sockets = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE_BYTES, clientTracking: true });
  const listener = await listen({
    host: at.host,
    port,
    tls: at.tls,
    endpoints: new Map<string, Endpoint>([...endpoints, ['*', { handle: answer, upgrade }]]),
  });
  const here: Here = { scheme: at.tls ? 'https' : 'http', names: at.names.map((name) => `${name}:${listener.port}`), port: listener.port };

  async function answer(request: IncomingMessage, response: ServerResponse, proven: () => void): Promise<void> {
    for (const [name, value] of Object.entries(headersFor(here))) response.setHeader(name, value);
    const foreign = foreignReason(request, here, false);
    if (foreign) return refuse(response, 403, foreign);
    const cookie = cookieOf(request, here.port);
    if (cookie !== undefined && keys.hasCookie(cookie)) proven();
    const url = request.url ?? '';
    if (request.method === 'POST' && url === '/enter') return enter(request, response, proven);
    if (request.method !== 'GET' && request.method !== 'HEAD') return refuse(response, 405, 'method not allowed');
    const file = files.get(url);
    if (!file) return refuse(response, 404, 'not found');
    response.writeHead(200, { 'content-type': file.type, 'content-length': file.bytes.length });
    response.end(request.method === 'HEAD' ? undefined : file.bytes);
  }
  /** Exchanges a link's token for a cookie and a page key. */
  async function enter(request: IncomingMessage, response: ServerResponse, proven: () => void): Promise<void> {
    if (!/^application\/json\s*(;|$)/i.test(request.headers['content-type'] ?? ''))
      return refuse(response, 415, 'content-type must be application/json');
    const body = await readBody(request);
    if (body === undefined) return refuse(response, 413, 'the body is too large or not JSON');
    const { token } = body as { token?: unknown };
    const credentials = typeof token === 'string' ? keys.redeem(token) : undefined;
    if (!credentials) {
      if (keys.failed()) return void response.destroy();
      return refuse(response, 401, 'this link is invalid or was already used');
    }
    proven();
    const cookie = `${cookieName(here.port)}=${credentials.cookie}; HttpOnly; SameSite=Strict; Path=/${at.tls ? '; Secure' : ''}`;
    response.writeHead(200, { 'content-type': 'application/json', 'set-cookie': cookie });
    response.end(JSON.stringify({ pageKey: credentials.pageKey }));
    entered?.();
  }
  function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const foreign = foreignReason(request, here, true);
    if (foreign) return refuseUpgrade(socket, { status: 403, why: foreign });
    if (request.url !== '/socket') return refuseUpgrade(socket, { status: 404, why: 'not found' });
    const cookie = cookieOf(request, here.port);
    if (cookie === undefined || !keys.hasCookie(cookie)) {
      if (keys.failed()) return void socket.destroy();
      return refuseUpgrade(socket, { status: 401, why: 'the cookie of a page is required' });
    }
    if (sockets.clients.size >= MAX_SOCKETS) return refuseUpgrade(socket, { status: 429, why: 'too many open pages' });
    sockets.handleUpgrade(request, socket, head, (opened) => admit(opened, cookie, keys, welcome));
  }

  return {
    port: here.port,
    link: () => `${here.scheme}://${here.names[0]}/#${keys.issue()}`,
    stopAccepting: listener.stopAccepting,
    close() {
      for (const socket of sockets.clients) socket.terminate();
      sockets.close();
      listener.close();
    },
  };
}

/** The browser sent the cookie by itself; the page proves itself with its key in the first message. */
function admit(socket: WebSocket, cookie: string, keys: Keys, welcome: ServerDeps['welcome']): void {
  const timer = setTimeout(() => socket.terminate(), HELLO_WITHIN_MS);
  socket.on('error', () => socket.terminate());
  socket.once('close', () => clearTimeout(timer));
  socket.once('message', (data) => {
    clearTimeout(timer);
    const first = parse(String(data));
    const { hello } = (first ?? {}) as { hello?: unknown };
    if (typeof hello === 'string' && keys.admits(cookie, hello)) return welcome(socket, first);
    keys.failed();
    socket.close(4401, 'access denied');
  });
}

/** Browsers share cookies between the ports of a host. */
const cookieName = (port: number): string => `switchboard_${port}`;

function cookieOf(request: IncomingMessage, port: number): string | undefined {
  const wanted = `${cookieName(port)}=`;
  const found = (request.headers.cookie ?? '').split(/;\s*/).filter((one) => one.startsWith(wanted));
  return found.length === 1 ? found[0]?.slice(wanted.length) : undefined;
}

function headersFor({ scheme, names }: Here): Readonly<Record<string, string>> {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    'media-src data:',
    `connect-src 'self' ${names.map((name) => `${scheme === 'https' ? 'wss' : 'ws'}://${name}`).join(' ')}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'", // nothing here creates markup or code from text
  ];
  return {
    'content-security-policy': policy.join('; '),
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': 'camera=(), microphone=(), geolocation=()',
    'cache-control': 'no-store',
  };
}

async function readBody(request: IncomingMessage): Promise<object | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += (chunk as Buffer).length;
    if (bytes > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk as Buffer);
  }
  const value = parse(Buffer.concat(chunks).toString('utf8'));
  return typeof value === 'object' && value !== null ? value : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function refuse(response: ServerResponse, status: number, why: string): void {
  if (response.headersSent) return void response.destroy();
  response.shouldKeepAlive = false;
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' });
  response.end(`${why}\n`);
}

// The page's files: read once, served from memory, by exact name.
export type PageFile = { readonly type: string; readonly bytes: Buffer };

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** By request path. */
export function readPageFiles(dir: string): ReadonlyMap<string, PageFile> {
  const files = readdirSync(dir).flatMap((name): [string, PageFile][] => {
    const type = TYPES[path.extname(name)];
    if (type === undefined) return [];
    return [[name === 'index.html' ? '/' : `/${name}`, { type, bytes: readFileSync(path.join(dir, name)) }]];
  });
  return new Map(files);
}
