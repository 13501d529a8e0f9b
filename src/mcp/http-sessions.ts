// Connections over HTTP, of which HTTP knows nothing: each handshake of the 2025 era opens one, kept by the id that its later requests carry. Without
// it a call could not be taken back and nothing could be told unasked. The 2026 era has no handshake, and every request is complete in itself.
import { randomUUID } from 'node:crypto';
import {
  isInitializeRequest,
  type RequestId,
  type Transport,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { HttpHandler } from './http-door.ts';

/** Of one agent to one server. Agents have one, and leave some behind without a word; the oldest goes. */
const MAX_CONNECTIONS = 16;

export type HttpSessions = { readonly handle: HttpHandler; close(): void };

/** `otherwise` is for requests that belong to no connection and open none. */
export function httpSessions(open: (front: Transport) => void, otherwise: HttpHandler): HttpSessions {
  const connections = new Map<string, WebStandardStreamableHTTPServerTransport>();

  function connect(): WebStandardStreamableHTTPServerTransport {
    const front = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized(id) {
        connections.set(id, front);
        const [oldest] = connections.values();
        if (connections.size > MAX_CONNECTIONS) void oldest?.close();
      },
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
      if (known) {
        // What an answer is too late for is over: answers are not kept, so nobody can come back for this one.
        const takeBack = () => {
          for (const requestId of requestIds(parsedBody))
            known.onmessage?.({
              jsonrpc: '2.0',
              method: 'notifications/cancelled',
              params: { requestId, reason: 'the connection was closed' },
            });
        };
        request.signal.addEventListener('abort', takeBack, { once: true });
        return known.handleRequest(request, body);
      }
      if (id !== null) return refusal(404, -32001, 'This session has ended; open another with initialize', parsedBody);
      return isInitializeRequest(parsedBody) ? connect().handleRequest(request, body) : otherwise(request, parsedBody);
    },
    close() {
      for (const front of [...connections.values()]) void front.close();
    },
  };
}

function requestIds(body: unknown): RequestId[] {
  return [body].flat().flatMap((message) => {
    const { id, method } = (message ?? {}) as { id?: RequestId; method?: unknown };
    return id === undefined || method === undefined ? [] : [id];
  });
}

export function refusal(status: number, code: number, message: string, body: unknown, data?: object): Response {
  const id = (body as { id?: unknown } | null | undefined)?.id ?? null;
  return Response.json({ jsonrpc: '2.0', id, error: { code, message, ...(data && { data }) } }, { status });
}
