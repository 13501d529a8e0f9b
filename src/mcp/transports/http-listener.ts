// MCP over HTTP for agents that support it: loopback only, on a port the system chooses, opened when the first session needs it. Every
// local user and every web page can connect, so everything is checked before routing.
import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sendResponse, webRequest } from './web-http.ts';

/** A tool's arguments may contain a whole file. */
const MAX_BODY_BYTES = 4 * 1024 * 1024;
const MAX_IN_FLIGHT = 64;
const MAX_FAILURES_PER_MINUTE = 20;
const PATH = '/mcp';

export type HttpListener = { readonly url: string; close(): void };
export type HttpHandler = ((request: Request, body: unknown) => Promise<Response>) & {
  /** A faster path for a single response message; undefined for requests that need the SDK. `abort` belongs to the request. */
  answerDirectly?(headers: IncomingHttpHeaders, body: unknown, abort: AbortController): Promise<object> | undefined;
};
/** The owner of a token; its requests end when the token is revoked. */
export type TokenHolder = {
  /** Returns a function that unsubscribes. */
  onRevoke(handler: () => void): () => void;
};
export type HttpListenerEvents<G extends TokenHolder> = {
  admit(token: string): G | undefined;
  serve(holder: G): Promise<HttpHandler>;
};

export function openHttpListener<G extends TokenHolder>(
  on: HttpListenerEvents<G>,
  done: (listener: HttpListener | Error) => void,
  port = 0,
): void {
  let inFlight = 0;
  /** Our port, once we listen. */
  let ownPort = 0;
  let failures: number[] = [];
  /** The requests of each token holder, aborted when its token is revoked. */
  const requestsOf = new WeakMap<G, Set<AbortController>>();
  // Loaded lazily: most processes never need it, and start-up must not wait for it.
  const { createServer } = process.getBuiltinModule('node:http');
  const server: Server = createServer({ headersTimeout: 10_000, requestTimeout: 60_000 }, (request, response) => {
    // A connection keeps one GET open for notifications; their number equals the number of connections.
    if (request.method === 'GET') return void answer(request, response);
    if (inFlight >= MAX_IN_FLIGHT) return refuse(response, 429, 'too many requests at once');
    inFlight++;
    response.on('close', () => inFlight--);
    void answer(request, response);
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const foreign = rejection(request, ownPort);
    if (foreign) return refuse(response, 403, foreign);
    if (request.url !== PATH) return refuse(response, 404, 'not found');
    const holder = on.admit(bearer(request));
    if (!holder) return unauthorized(response);
    if (request.method === 'POST' && !/^application\/json\s*(;|$)/i.test(request.headers['content-type'] ?? ''))
      return refuse(response, 415, 'content-type must be application/json');
    const abort = begun(holder);
    response.on('close', () => {
      if (!response.writableFinished) abort.abort(); // nobody waits for the answer any more
      requestsOf.get(holder)?.delete(abort);
    });
    try {
      const body = request.method === 'POST' ? await readBody(request) : undefined;
      if (body === TOO_LONG) return refuse(response, 413, `a request may have ${MAX_BODY_BYTES} bytes`);
      if (body === NOT_JSON) return refuse(response, 400, 'the body is not JSON');
      const handle = await on.serve(holder);
      const direct = request.method === 'POST' ? handle.answerDirectly?.(request.headers, body, abort) : undefined;
      if (direct) return sendJson(await direct, response);
      await sendResponse(await handle(webRequest(request, `http://127.0.0.1:${ownPort}${PATH}`, abort.signal), body), response);
    } catch {
      if (!abort.signal.aborted) refuse(response, 500, 'switchboard failed on this request');
      else response.destroy();
    }
  }
  function begun(holder: G): AbortController {
    const abort = new AbortController();
    const all = requestsOf.get(holder);
    if (all) all.add(abort);
    else {
      const first = new Set([abort]);
      requestsOf.set(holder, first);
      holder.onRevoke(() => {
        for (const one of first) one.abort();
      });
    }
    return abort;
  }
  /** After too many wrong tokens the connection is dropped without an answer. */
  function unauthorized(response: ServerResponse): void {
    const now = Date.now();
    failures = [...failures.filter((at) => now - at < 60_000), now].slice(-MAX_FAILURES_PER_MINUTE - 1);
    if (failures.length > MAX_FAILURES_PER_MINUTE) return void response.destroy();
    response.setHeader('www-authenticate', 'Bearer');
    refuse(response, 401, 'invalid or expired token');
  }

  server.once('error', done);
  server.listen({ host: '127.0.0.1', port }, () => {
    server.off('error', done);
    server.on('error', () => {});
    ownPort = (server.address() as AddressInfo | null)?.port ?? 0;
    done({
      url: `http://127.0.0.1:${ownPort}${PATH}`,
      close() {
        server.close();
        server.closeAllConnections();
      },
    });
  });
}

/** Signs of a web page, or of a host name that was made to resolve here; undefined for a local program. */
function rejection(request: IncomingMessage, port: number): string | undefined {
  const { host, origin, 'sec-fetch-site': site } = request.headers;
  if (request.headersDistinct.host?.length !== 1 || ![`127.0.0.1:${port}`, `localhost:${port}`].includes(host ?? ''))
    return 'the Host header is not this address';
  if (origin !== undefined && origin !== `http://127.0.0.1:${port}` && origin !== `http://localhost:${port}`)
    return 'the Origin header is not this address';
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return 'the request comes from another site';
  return undefined;
}

function bearer(request: IncomingMessage): string {
  const given = request.headersDistinct.authorization ?? [];
  return (given.length === 1 && /^Bearer ([\w-]+)$/.exec(given[0] ?? '')?.[1]) || '';
}

const TOO_LONG = Symbol('too long');
const NOT_JSON = Symbol('not JSON');

function readBody(request: IncomingMessage): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= MAX_BODY_BYTES) return void chunks.push(chunk);
      request.pause();
      resolve(TOO_LONG);
    });
    request.on('end', () => {
      try {
        resolve(JSON.parse(Buffer.concat(chunks).toString('utf8')));
      } catch {
        resolve(NOT_JSON);
      }
    });
    request.on('error', reject);
    request.on('close', () => reject(new Error('it was cut off')));
  });
}

function sendJson(message: object, response: ServerResponse): void {
  const text = JSON.stringify(message);
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  response.end(text);
}

function refuse(response: ServerResponse, status: number, why: string): void {
  if (response.headersSent) return void response.destroy();
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close' });
  response.end(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32000, message: why } }));
}
