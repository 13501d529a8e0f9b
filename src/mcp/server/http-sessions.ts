// Connections over HTTP: each handshake of the 2025 era opens one, identified by the id of its later requests. Without connections a call
// could not be cancelled and the server could not send notifications. The 2026 era has no handshake: every request is complete in itself.
import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import {
  type EventStore,
  isInitializeRequest,
  type RequestId,
  type Transport,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { HttpHandler } from '../transports/http-listener.ts';
import { cancelledId, type Message, type PlainCall, plainCall } from './plain-calls.ts';

/** Per agent and server. Agents need one and silently abandon some. */
const MAX_CONNECTIONS = 16;
/** When a client that lost a stream should come back. */
const RETRY_MS = 1000;
const VERSIONS: ReadonlySet<unknown> = new Set([undefined, '2025-03-26', '2025-06-18', '2025-11-25']);

export type HttpSessions = { readonly handle: HttpHandler; close(): void };

/** Answers a tool call without the SDK; undefined for a call that needs it. */
export type AnswerCall = (call: PlainCall, abort: AbortController, front: Transport) => Promise<object> | undefined;

type Connection = {
  readonly front: WebStandardStreamableHTTPServerTransport;
  /** Calls answered without the SDK, by id. */
  readonly calls: Map<RequestId, AbortController>;
};

export type HttpSessionsOptions = {
  readonly answerCall?: AnswerCall;
  /**
   * Keeps the messages of a connection: a client that lost a stream reads on, so its requests continue. Without it, a request whose response
   * is gone is cancelled.
   */
  readonly eventStore?: () => EventStore;
  /** When there are more connections, the oldest is dropped. */
  readonly maxConnections?: number;
};

/** `otherwise` handles requests that neither belong to a connection nor open one. */
export function httpSessions(
  open: (front: Transport) => void,
  otherwise: HttpHandler,
  { answerCall, eventStore, maxConnections = MAX_CONNECTIONS }: HttpSessionsOptions = {},
): HttpSessions {
  const connections = new Map<string, Connection>();

  function connect(): WebStandardStreamableHTTPServerTransport {
    const calls = new Map<RequestId, AbortController>();
    const front = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      ...(eventStore && { eventStore: eventStore(), retryInterval: RETRY_MS }),
      onsessioninitialized(id) {
        connections.set(id, { front, calls });
        const [oldest] = connections.values();
        if (connections.size > maxConnections) void oldest?.front.close();
      },
    });
    open(front);
    const { onclose } = front;
    front.onclose = () => {
      if (front.sessionId !== undefined) connections.delete(front.sessionId);
      for (const abort of calls.values()) abort.abort();
      onclose?.();
    };
    return front;
  }
  async function handle(request: Request, parsedBody: unknown): Promise<Response> {
    const body = parsedBody === undefined ? {} : { parsedBody };
    const id = request.headers.get('mcp-session-id');
    const known = id === null ? undefined : connections.get(id);
    if (known) {
      const cancel = () => {
        for (const requestId of requestIds(parsedBody))
          known.front.onmessage?.({
            ...{ jsonrpc: '2.0', method: 'notifications/cancelled' },
            params: { requestId, reason: 'the connection was closed' },
          });
      };
      if (!eventStore) request.signal.addEventListener('abort', cancel, { once: true });
      return known.front.handleRequest(request, body);
    }
    if (id !== null) return refusal(404, -32001, 'This session has ended; open another with initialize', parsedBody);
    return isInitializeRequest(parsedBody) ? connect().handleRequest(request, body) : otherwise(request, parsedBody);
  }
  /** Handles most requests. A client that wants progress needs a stream for the answer. */
  function answerDirectly(headers: IncomingHttpHeaders, body: unknown, abort: AbortController): Promise<object> | undefined {
    const known = connections.get(String(headers['mcp-session-id']));
    if (!known || !answerCall || typeof body !== 'object' || body === null) return undefined;
    const cancelled = cancelledId(body as Message);
    if (cancelled !== undefined) known.calls.get(cancelled)?.abort();
    const call = plainCall(body as Message);
    if (!call || call.progressToken !== undefined || known.calls.has(call.id)) return undefined;
    if (!VERSIONS.has(headers['mcp-protocol-version']) || !headers.accept?.includes('application/json')) return undefined;
    const answer = answerCall(call, abort, known.front);
    if (answer) known.calls.set(call.id, abort);
    return answer?.finally(() => known.calls.delete(call.id));
  }

  return {
    handle: answerCall ? Object.assign(handle, { answerDirectly }) : handle,
    close() {
      for (const { front } of [...connections.values()]) void front.close();
    },
  };
}

function requestIds(body: unknown): RequestId[] {
  return [body].flat().flatMap((message) => {
    const { id, method } = (message ?? {}) as { id?: RequestId; method?: unknown };
    return id === undefined || method === undefined ? [] : [id];
  });
}

export function refusal(status: number, code: number, message: string, body: unknown): Response {
  const id = (body as { id?: unknown } | null | undefined)?.id ?? null;
  return Response.json({ jsonrpc: '2.0', id, error: { code, message } }, { status });
}
