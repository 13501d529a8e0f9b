// Our ACP client, behind `run`, `mcp`, `agents login` and the console: a vscode-jsonrpc connection over any of our transports.
import {
  type CancellationToken,
  CancellationTokenSource,
  createMessageConnection,
  ErrorCodes,
  type RequestMessage,
  ResponseError,
} from 'vscode-jsonrpc/node';
import type { Sink, Source } from '../wire/byte-stream.ts';
import type { ClientNotifications, ClientRequests, NotificationParamsOf, ParamsOf, ResultOf, Sendable } from './acp-methods.ts';
import { ClientError, ConnectionEnded } from './client-error.ts';
import { createMessageTransport } from './message-transport.ts';

/** A request that the peer waits for. */
export type IncomingRequest = {
  /** Aborted when the peer cancels the request, and when the connection ends. */
  readonly signal: AbortSignal;
  /** The request's id, as JSON. */
  readonly id: string;
};

type Handled<Result> = Sendable<Result> | Promise<Sendable<Result>>;

/** What a client does with messages of the peer. A handler's result is the answer; what it throws (a `ClientError`) is the error. */
export type ClientHandlers = {
  readonly requests?: {
    readonly [Method in keyof ClientRequests]?: (
      params: ClientRequests[Method]['params'],
      request: IncomingRequest,
    ) => Handled<ClientRequests[Method]['result']>;
  };
  readonly notifications?: { readonly [Method in keyof ClientNotifications]?: (params: ClientNotifications[Method]) => void };
  /** Every other request. Without it, the answer is "method not found". */
  request?(method: string, params: unknown, signal: AbortSignal, id: string): unknown;
  /** Every other notification. */
  notification?(method: string, params: unknown): void;
  /** Every message as it is on the wire, without its line feed. */
  line?(direction: 'sent' | 'received', line: string): void;
};

export type Client = {
  /** Rejects with a `ClientError`. Parameters and result are typed for the methods of ACP, and `unknown` for others. */
  request<Method extends string>(method: Method, params: ParamsOf<Method>): Promise<ResultOf<Method>>;
  notify<Method extends string>(method: Method, params: NotificationParamsOf<Method>): void;
  /** The connection has ended, from either side. By then every open request has failed. */
  readonly closed: Promise<void>;
  close(): void;
};

const CANCEL_REQUEST = '$/cancel_request';

/** Speaks ACP over newline-delimited JSON, as the client. */
export function createClient(input: Source, output: Sink, handlers: ClientHandlers): Client {
  /** The requests of the peer that are being answered, by their token in the connection and by their id. */
  const running = new Map<CancellationToken, IncomingRequest>();
  const controllers = new Map<string, AbortController>();
  const transport = createMessageTransport(input, output, handlers.line);
  const connection = createMessageConnection(transport.reader, transport.writer, undefined, {
    messageStrategy: transport.strategy,
    cancellationStrategy: {
      receiver: { kind: 'request', createCancellationTokenSource: begin },
      sender: { sendCancellation: async () => {}, cleanup() {} }, // a prompt is cancelled by `session/cancel`
    },
  });
  let isOver = false;
  const closed = new Promise<void>((resolve) => {
    connection.onClose(() => {
      isOver = true;
      for (const controller of controllers.values()) controller.abort();
      connection.dispose(); // rejects the open requests
      resolve();
    });
  });

  function begin(message: RequestMessage): CancellationTokenSource {
    const id = JSON.stringify(message.id);
    const controller = new AbortController();
    const source = new CancellationTokenSource();
    controllers.set(id, controller);
    running.set(source.token, { signal: controller.signal, id });
    return source;
  }
  async function answer(method: string, params: unknown, token: CancellationToken): Promise<unknown> {
    const request = running.get(token) as IncomingRequest;
    try {
      const handler = handlers.requests?.[method as keyof ClientRequests] as
        | ((params: unknown, request: IncomingRequest) => unknown)
        | undefined;
      if (handler) return await handler(params, request);
      if (!handlers.request) throw new ClientError(ErrorCodes.MethodNotFound, `Method not found: ${method}`);
      return await handlers.request(method, params, request.signal, request.id);
    } catch (error) {
      if (error instanceof ClientError) throw new ResponseError(error.code, error.message, error.data);
      throw new ResponseError(ErrorCodes.InternalError, String((error as Error).message));
    } finally {
      running.delete(token);
      controllers.delete(request.id);
    }
  }
  function notified(method: string, params: unknown): void {
    if (method === CANCEL_REQUEST) {
      controllers.get(JSON.stringify((params as { requestId?: unknown } | undefined)?.requestId))?.abort();
      return;
    }
    const handler = handlers.notifications?.[method as keyof ClientNotifications] as ((params: unknown) => void) | undefined;
    if (handler) handler(params);
    else handlers.notification?.(method, params);
  }

  connection.onRequest(answer);
  connection.onNotification(notified);
  connection.listen();
  return {
    closed,
    async request<Method extends string>(method: Method, params: ParamsOf<Method>): Promise<ResultOf<Method>> {
      if (isOver) throw new ConnectionEnded();
      try {
        return await (params === undefined
          ? connection.sendRequest<ResultOf<Method>>(method)
          : connection.sendRequest<ResultOf<Method>>(method, params));
      } catch (error) {
        throw asClientError(error as Error);
      }
    },
    notify(method, params) {
      if (isOver) return;
      void connection.sendNotification(method, ...(params === undefined ? [] : [params])).catch(() => {}); // `closed` reports the failure
    },
    close() {
      transport.writer.end();
      transport.reader.close();
    },
  };
}

function asClientError(error: Error): ClientError {
  if (!(error instanceof ResponseError) || error.code === ErrorCodes.PendingResponseRejected) return new ConnectionEnded();
  return new ClientError(error.code, error.message, error.data);
}
