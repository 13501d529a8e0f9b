// `/acp`: clients over WebSocket and streamable HTTP. Each connection belongs to the principal of its token; for other principals it does not exist.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Token } from '../store/tokens.ts';
import { answerPings, testWhenSilent } from '../transports/websocket.ts';
import { webSocketStreams } from '../transports/websocket-streams.ts';
import type { Sink, Source } from '../wire/byte-stream.ts';
import { idTextOf } from '../wire/scanner/large-frame.ts';
import { strictParse } from '../wire/scanner/strict-parse.ts';
import type { Refusal } from './access.ts';
import type { Gate, GuardedEndpoint } from './gate.ts';
import { createHttpConnection, type HttpConnection, MAX_UNREAD_BYTES } from './http-connection.ts';
import { type BodyLimits, isJsonBody, readBody, refuse, refuseUpgrade } from './respond.ts';
import { boundUnfinished } from './unfinished-messages.ts';

/** A client that the proxy serves. */
export type ServedClient = {
  /** Resolves with a reason if the client is disconnected for one. */
  readonly closed: Promise<string | undefined>;
  close(): Promise<void>;
};

export type AcpEndpointDeps = {
  readonly gate: Pick<Gate, 'whileValid'>;
  readonly connect: (streams: { readonly input: Source; readonly output: Sink }, principal: Token) => ServedClient;
  /** Whether a principal may read this session. */
  readonly knows: (sessionId: string, principal: Token) => boolean;
  readonly maxFrameBytes: number;
  readonly bodyLimits: (principal: string) => BodyLimits;
  readonly now: () => number;
};

export type AcpEndpoint = Required<GuardedEndpoint> & {
  /** Open connections, for people. */
  connections(): readonly {
    readonly id: string;
    readonly principal: string;
    readonly transport: 'websocket' | 'http';
    readonly since: number;
  }[];
  /** Tells clients that it is going away, and waits until their agents have stopped. The gate is closed before. */
  close(): Promise<void>;
};

type Open = {
  readonly id: string;
  readonly principal: Token;
  readonly transport: 'websocket' | 'http';
  readonly since: number;
  readonly http: HttpConnection | undefined;
  readonly served: ServedClient;
  /** Ends the transport; `code` is a WebSocket close code. */
  end(code: number, reason: string): void;
};

const MAX_PER_PRINCIPAL = 256;
const MAX_CONNECTIONS = 4096;
const SILENT_MS = 30_000;
const IDLE_HTTP_MS = 60_000;
const LOOK_EVERY_MS = 1000;
const INITIALIZE_MS = 120_000;
/** How long a client may take to confirm the end of its WebSocket. */
const CLOSE_MS = 2000;
const ROLES = ['owner', 'client', 'observer'] as const;

export function createAcpEndpoint({ gate, connect, knows, maxFrameBytes, bodyLimits, now }: AcpEndpointDeps): AcpEndpoint {
  const open = new Map<string, Open>();
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: maxFrameBytes,
    perMessageDeflate: false,
    autoPong: false,
    clientTracking: false,
    // The token is never echoed.
    handleProtocols: (offered) => (offered.has('acp') ? 'acp' : false),
  });
  const timer = setInterval(look, LOOK_EVERY_MS);
  timer.unref();

  /** Ends HTTP connections that nobody uses. */
  function look(): void {
    for (const one of open.values()) if (one.http && one.http.idleMs() > IDLE_HTTP_MS) one.end(1001, 'idle');
  }
  /** Checked before anything that costs. */
  function tooMany({ name }: Token): Refusal | undefined {
    const own = [...open.values()].filter(({ principal }) => principal.name === name).length;
    if (own < MAX_PER_PRINCIPAL && open.size < MAX_CONNECTIONS) return undefined;
    return { status: 429, why: 'too many open connections' };
  }
  function add(one: Omit<Open, 'since'>): void {
    // Its id is unknown from the moment it ends, although its agents may still be stopping.
    const end: Open['end'] = (code, reason) => {
      open.delete(one.id);
      stopWatching();
      one.end(code, reason);
    };
    const stopWatching = gate.whileValid(one.principal, () => end(1008, 'the token was revoked or has expired'));
    open.set(one.id, { ...one, end, since: now() });
    void one.served.closed.then((reason) => end(reason === undefined ? 1011 : 1013, reason ?? 'the connection ended'));
  }

  function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, principal: Token): void {
    const many = tooMany(principal);
    if (many) return refuseUpgrade(socket, many);
    const id = randomUUID();
    const announce = (headers: string[], of: IncomingMessage) => void (of === request && headers.push(`Acp-Connection-Id: ${id}`));
    sockets.on('headers', announce);
    sockets.handleUpgrade(request, socket, head, (client) => serve(client, socket as Socket, id, principal));
    sockets.off('headers', announce);
  }
  function serve(client: WebSocket, carrier: Socket, id: string, principal: Token): void {
    client.on('error', () => {}); // `close` follows
    answerPings(client);
    boundUnfinished(client, carrier, bodyLimits(principal.name));
    const stopTests = testWhenSilent(client, carrier, SILENT_MS, () => client.terminate());
    client.once('close', stopTests);
    const { source, sink } = webSocketStreams(client, carrier);
    const served = connect({ input: source, output: readBeforeYouWrite(client, sink) }, principal);
    // From here on the client is not heard, and its agents stop, whether it confirms the end or not.
    const end: Open['end'] = (code, reason) => {
      client.close(code, reason);
      void served.close();
      const late = setTimeout(() => client.terminate(), CLOSE_MS);
      late.unref();
    };
    add({ id, principal, transport: 'websocket', http: undefined, served, end });
  }

  async function handle(request: IncomingMessage, response: ServerResponse, principal: Token): Promise<void> {
    const id = request.headers['acp-connection-id'];
    if (id === undefined && request.method === 'POST') return initialize(request, response, principal);
    if (id === undefined) return refuse(response, { status: 400, why: 'the Acp-Connection-Id header is missing' });
    const one = open.get(String(id));
    // To everybody else, the connection of a principal does not exist.
    if (!one?.http || one.principal.name !== principal.name || one.principal.createdAt !== principal.createdAt)
      return refuse(response, { status: 404, why: 'unknown connection' });
    const session = request.headers['acp-session-id'];
    const header = session === undefined ? undefined : String(session);
    if (request.method === 'POST') return post(request, response, one.http, header, principal);
    if (request.method === 'DELETE') {
      one.end(1000, 'deleted');
      return void response.writeHead(202).end();
    }
    if (request.method !== 'GET') return refuse(response, { status: 405, why: 'method not allowed' });
    if (!(request.headers.accept ?? '').includes('text/event-stream'))
      return refuse(response, { status: 406, why: 'the Accept header must allow text/event-stream' });
    const refused = one.http.read(header, response);
    if (refused) refuse(response, refused);
  }
  async function post(
    request: IncomingMessage,
    response: ServerResponse,
    http: HttpConnection,
    header: string | undefined,
    principal: Token,
  ): Promise<void> {
    const line = await lineOf(request, bodyLimits(principal.name));
    const refused = 'status' in line ? line : http.post(line.bytes, header);
    if (refused) return refuse(response, refused);
    response.writeHead(202).end();
  }
  async function initialize(request: IncomingMessage, response: ServerResponse, principal: Token): Promise<void> {
    const line = await lineOf(request, bodyLimits(principal.name));
    if ('status' in line) return refuse(response, line);
    const frame = strictParse(line.bytes, 0, line.bytes.length - 1);
    if ('why' in frame || frame.kind !== 'request' || frame.method !== 'initialize')
      return refuse(response, { status: 400, why: 'the Acp-Connection-Id header is missing; a connection begins with initialize' });
    const many = tooMany(principal);
    if (many) return refuse(response, many);
    const id = randomUUID();
    const http = createHttpConnection(now, (sessionId) => knows(sessionId, principal));
    const served = connect({ input: http.source, output: http.sink }, principal);
    add({ id, principal, transport: 'http', http, served, end: http.end });
    const late = setTimeout(() => http.end(), INITIALIZE_MS);
    late.unref();
    response.once('close', () => {
      clearTimeout(late);
      if (!response.writableFinished) http.end(); // the client did not wait for its connection
    });
    http.initialize(line.bytes, idTextOf(frame), (body) => {
      response.writeHead(200, { 'content-type': 'application/json', 'acp-connection-id': id, 'content-length': body.length });
      response.end(body);
    });
  }

  return {
    roles: ROLES,
    handle,
    upgrade,
    connections: () =>
      [...open.values()].map(({ id, principal, transport, since }) => ({ id, principal: principal.name, transport, since })),
    async close() {
      clearInterval(timer);
      const all = [...open.values()];
      await Promise.all(
        all.map(async ({ served, end }) => {
          const closing = served.close();
          end(1001, 'the server is shutting down');
          await closing;
        }),
      );
      sockets.close();
    },
  };
}

/** A client that does not read its answers is not read either, so that they do not pile up. */
function readBeforeYouWrite(client: WebSocket, sink: Sink): Sink {
  sink.on('drain', () => client.resume());
  return {
    write(chunk) {
      const isFree = sink.write(chunk);
      if (sink.writableLength > MAX_UNREAD_BYTES) client.pause();
      return isFree;
    },
    cork: () => sink.cork(),
    uncork: () => sink.uncork(),
    end: () => sink.end(),
    get writableLength() {
      return sink.writableLength;
    },
    on: (event: 'drain' | 'error', listener: (error: Error) => void) => sink.on(event as 'error', listener),
  };
}

/** The body of a POST as one line. */
async function lineOf(request: IncomingMessage, limits: BodyLimits): Promise<{ readonly bytes: Buffer } | Refusal> {
  if (!isJsonBody(request)) return { status: 415, why: 'the Content-Type must be application/json' };
  const body = await readBody(request, limits);
  if ('status' in body) return body;
  const bytes = Buffer.allocUnsafe(body.length + 1);
  for (let k = 0; k < body.length; k++) {
    const byte = body[k] as number;
    bytes[k] = byte === 0x0a || byte === 0x0d ? 0x20 : byte;
  }
  bytes[body.length] = 0x0a;
  const first = body.find((byte) => byte > 0x20);
  if (first === 0x5b) return { status: 400, why: BATCH };
  return { bytes };
}

const BATCH = '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid request: ACP has no batches"}}';
