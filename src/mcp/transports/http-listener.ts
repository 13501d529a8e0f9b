// The way in for agents that take HTTP servers: loopback only, a port of the system's choosing, opened when the first session needs it.
// Every local user and every web page can knock here, so all of it is checked before anything is routed.
import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Arguments of a tool may hold a whole file. */
const MAX_BODY_BYTES = 4 * 1024 * 1024;
const MAX_IN_FLIGHT = 64;
const MAX_FAILURES_PER_MINUTE = 20;
const PATH = '/mcp';

export type HttpListener = { readonly url: string; close(): void };
export type HttpHandler = ((request: Request, body: unknown) => Promise<Response>) & {
  /** A shorter way to a message that is the whole answer; undefined for requests that need the long one. `gone` is the request's own. */
  quick?(headers: IncomingHttpHeaders, body: unknown, gone: AbortController): Promise<object> | undefined;
};
/** Whoever a token belongs to; what it has under way ends when it is revoked. */
export type Guest = {
  /** Returns what forgets it again. */
  onRevoke(act: () => void): () => void;
};
export type HttpListenerEvents<G extends Guest> = {
  admit(token: string): G | undefined;
  serve(guest: G): Promise<HttpHandler>;
};

export function openHttpListener<G extends Guest>(
  on: HttpListenerEvents<G>,
  done: (listener: HttpListener | Error) => void,
  port = 0,
): void {
  let inFlight = 0;
  /** Ours, once we listen. */
  let ownPort = 0;
  let failures: number[] = [];
  /** What each guest has under way, to be ended when it is one no more. */
  const underWay = new WeakMap<G, Set<AbortController>>();
  // Loaded now: most processes never get here, and nobody should wait for it at the start.
  const { createServer } = process.getBuiltinModule('node:http');
  const server: Server = createServer({ headersTimeout: 10_000, requestTimeout: 60_000 }, (request, response) => {
    // A connection keeps one GET open for what it is told unasked; those are as many as there are connections.
    if (request.method === 'GET') return void answer(request, response);
    if (inFlight >= MAX_IN_FLIGHT) return refuse(response, 429, 'too many requests at once');
    inFlight++;
    response.on('close', () => inFlight--);
    void answer(request, response);
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const foreign = foreignness(request, ownPort);
    if (foreign) return refuse(response, 403, foreign);
    if (request.url !== PATH) return refuse(response, 404, 'there is nothing here');
    const guest = on.admit(bearer(request));
    if (!guest) return unauthorized(response);
    if (request.method === 'POST' && !/^application\/json\s*(;|$)/i.test(request.headers['content-type'] ?? ''))
      return refuse(response, 415, 'content-type must be application/json');
    const gone = begun(guest);
    response.on('close', () => {
      if (!response.writableFinished) gone.abort(); // nobody waits for the answer any more
      underWay.get(guest)?.delete(gone);
    });
    try {
      const body = request.method === 'POST' ? await readBody(request) : undefined;
      if (body === TOO_LONG) return refuse(response, 413, `a request may have ${MAX_BODY_BYTES} bytes`);
      if (body === NOT_JSON) return refuse(response, 400, 'the body is not JSON');
      const handle = await on.serve(guest);
      const quick = request.method === 'POST' ? handle.quick?.(request.headers, body, gone) : undefined;
      if (quick) return sendJson(await quick, response);
      await send(await handle(webRequest(request, ownPort, gone.signal), body), response);
    } catch {
      if (!gone.signal.aborted) refuse(response, 500, 'switchboard failed on this request');
      else response.destroy();
    }
  }
  function begun(guest: G): AbortController {
    const gone = new AbortController();
    const all = underWay.get(guest);
    if (all) all.add(gone);
    else {
      const first = new Set([gone]);
      underWay.set(guest, first);
      guest.onRevoke(() => {
        for (const one of first) one.abort();
      });
    }
    return gone;
  }
  /** A guesser is not kept company. */
  function unauthorized(response: ServerResponse): void {
    const now = Date.now();
    failures = [...failures.filter((at) => now - at < 60_000), now].slice(-MAX_FAILURES_PER_MINUTE - 1);
    if (failures.length > MAX_FAILURES_PER_MINUTE) return void response.destroy();
    response.setHeader('www-authenticate', 'Bearer');
    refuse(response, 401, 'this token is not valid, or no longer');
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

/** What gives away a web page, or a name that was made to point here; undefined for a program of this machine. */
function foreignness(request: IncomingMessage, port: number): string | undefined {
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

/** Without the body, which has been read and goes beside it. */
function webRequest(request: IncomingMessage, port: number, signal: AbortSignal): Request {
  const headers = new Headers();
  for (const [name, values] of Object.entries(request.headersDistinct)) for (const value of values ?? []) headers.append(name, value);
  return new Request(`http://127.0.0.1:${port}${PATH}`, { method: request.method ?? 'GET', headers, signal });
}

async function send(answer: Response, response: ServerResponse): Promise<void> {
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  if (answer.body) for await (const chunk of answer.body) if (!response.write(chunk)) await drained(response);
  response.end();
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const go = () => {
      response.off('drain', go);
      response.off('close', go);
      resolve();
    };
    response.on('drain', go);
    response.on('close', go);
  });
}

function refuse(response: ServerResponse, status: number, why: string): void {
  if (response.headersSent) return void response.destroy();
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close' });
  response.end(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32000, message: why } }));
}
