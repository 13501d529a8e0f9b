// HTTP/2 for clients that offer it under TLS; the same server speaks HTTP/1.1 with all others. Its requests look to the endpoints like those of HTTP/1.1.
import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from 'node:http';
import { constants, createSecureServer, type Http2ServerRequest, type Http2ServerResponse, type ServerHttp2Session } from 'node:http2';

/** A client has one stream for each session that it reads, and one for each POST. */
const MAX_STREAMS = 512;

export type TlsFiles = { readonly cert: Buffer; readonly key: Buffer };
export type HttpServer = {
  readonly server: Server;
  /** Ends all connections but WebSockets. */
  closeConnections(): void;
};

export function createHttpServer(limits: ServerOptions & { readonly maxHeaderSize: number }, tls: TlsFiles | undefined): HttpServer {
  if (!tls) {
    const server = createServer(limits);
    return { server, closeConnections: () => server.closeAllConnections() };
  }
  const settings = { maxConcurrentStreams: MAX_STREAMS, maxHeaderListSize: limits.maxHeaderSize };
  const http2 = createSecureServer({ ...limits, ...tls, allowHTTP1: true, settings });
  // It has no options for these, and applies them to HTTP/1.1 as any server does.
  const server = Object.assign(http2 as unknown as Server, {
    headersTimeout: limits.headersTimeout,
    requestTimeout: limits.requestTimeout,
  });
  const sessions = new Set<ServerHttp2Session>();
  http2.on('session', (session) => {
    sessions.add(session);
    session.once('close', () => sessions.delete(session));
    session.on('error', () => {}); // it closes
  });
  return {
    server,
    closeConnections() {
      for (const session of sessions) session.destroy();
      HTTP1.closeAllConnections.call(server);
    },
  };
}

const HTTP1: Pick<Server, 'closeAllConnections'> = Object.getPrototypeOf(createServer());

/** Adds what HTTP/2 calls otherwise. */
export function asHttp1(request: IncomingMessage, response: ServerResponse): void {
  if (request.httpVersionMajor !== 2) return;
  const { stream, rawHeaders } = request as unknown as Http2ServerRequest;
  // The socket that all streams of a client share, and not one for each stream.
  const socket = stream.session?.socket;
  if (socket) Object.defineProperty(request, 'socket', { value: socket });
  const distinct: Record<string, string[]> = {};
  for (let k = 0; k < rawHeaders.length; k += 2) {
    const name = rawHeaders[k] === ':authority' ? 'host' : String(rawHeaders[k]).toLowerCase();
    distinct[name] = [...(Object.hasOwn(distinct, name) ? (distinct[name] ?? []) : []), String(rawHeaders[k + 1])];
  }
  Object.defineProperty(request, 'headersDistinct', { value: distinct });
  request.headers.host ??= distinct.host?.[0];
  Object.defineProperty(response, 'writableNeedDrain', { get: () => stream.writableNeedDrain });
  // Nobody will read the rest of a refused request.
  response.once('finish', () => void ((request as unknown as Http2ServerRequest).complete || stream.close(constants.NGHTTP2_NO_ERROR)));
  (response as unknown as Http2ServerResponse).stream.on('error', () => {}); // it closes
}
