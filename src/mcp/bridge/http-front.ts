// The agent's end of a bridge over HTTP: a connection for each handshake, kept by its session id. The 2026 era has no handshake, and a server behind a
// bridge may not know it; whoever opens with it is told so, and those that know both go on with the handshake.
import { randomUUID } from 'node:crypto';
import { isLegacyRequest, type Transport, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import type { HttpHandler } from '../http-door.ts';

/** Connections of one agent to one server; agents have one, and one more while they reconnect. */
const MAX_CONNECTIONS = 16;
const UNSUPPORTED_VERSION = -32022;
const SUPPORTED = ['2025-11-25', '2025-06-18', '2025-03-26'];

export type HttpFront = { readonly handle: HttpHandler; close(): void };

export function httpFront(open: (front: Transport) => void): HttpFront {
  const connections = new Map<string, WebStandardStreamableHTTPServerTransport>();

  function connect(): WebStandardStreamableHTTPServerTransport {
    const front = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void connections.set(id, front),
      onsessionclosed: (id) => void connections.delete(id),
    });
    open(front);
    const { onclose } = front;
    front.onclose = () => {
      if (front.sessionId !== undefined) connections.delete(front.sessionId);
      onclose?.();
    };
    return front;
  }

  return {
    async handle(request, parsedBody) {
      const body = parsedBody === undefined ? {} : { parsedBody };
      const id = request.headers.get('mcp-session-id');
      const known = id === null ? undefined : connections.get(id);
      if (known) return known.handleRequest(request, body);
      if (id !== null) return refusal(404, -32001, 'This session has ended; open another with initialize', parsedBody);
      if (request.method === 'POST' && !(await isLegacyRequest(request, parsedBody)))
        return refusal(400, UNSUPPORTED_VERSION, 'This server is bridged, and speaks the handshake eras of MCP', parsedBody, {
          supported: SUPPORTED,
          requested: '2026-07-28',
        });
      if (connections.size >= MAX_CONNECTIONS) return refusal(429, -32000, `There are already ${MAX_CONNECTIONS} connections`, parsedBody);
      return connect().handleRequest(request, body);
    },
    close() {
      for (const front of [...connections.values()]) void front.close();
    },
  };
}

function refusal(status: number, code: number, message: string, body: unknown, data?: object): Response {
  const id = (body as { id?: unknown } | null | undefined)?.id ?? null;
  return Response.json({ jsonrpc: '2.0', id, error: { code, message, ...(data && { data }) } }, { status });
}
