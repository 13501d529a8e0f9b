// Our own ACP client: what `run`, the bridges and the console stand on. It talks to whatever carries the bytes, and shows every frame to who asks.

import type { Sink, Source } from '../wire/byte-stream.ts';
import { createConnection } from '../wire/connection.ts';
import type { Frame } from '../wire/frame.ts';
import { Scanner } from '../wire/scanner/scanner.ts';

/** What the other side answered instead of a result. */
export class ClientError extends Error {
  override readonly name = 'ClientError';
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** There was no answer, and there will be none. */
export class ConnectionEnded extends ClientError {
  constructor() {
    super(-32603, 'the connection has ended');
  }
}

export type ClientEvents = {
  /** A request of the other side; what is returned or thrown (a ClientError) is the answer. `signal` when it takes the request back, `id` as JSON. */
  request(method: string, params: unknown, signal: AbortSignal, id: string): unknown;
  notification(method: string, params: unknown): void;
  /** Every line, as it is on the wire, without its line feed. */
  line?(direction: 'sent' | 'received', line: string): void;
};

export type Client = {
  request(method: string, params: unknown): Promise<unknown>;
  notify(method: string, params: unknown): void;
  /** The other side has gone, or we have; every open request has failed by then. */
  readonly closed: Promise<void>;
  close(): void;
};

const MAX_FRAME_BYTES = 64 * 1024 * 1024;

export function createClient(input: Source, output: Sink, on: ClientEvents): Client {
  const open = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
  const answering = new Map<string, AbortController>();
  let nextId = 0;
  let isOver = false;
  let over = () => {};
  const closed = new Promise<void>((resolve) => {
    over = resolve;
  });
  const leg = createConnection(
    input,
    output,
    { scanner: new Scanner(), maxFrameBytes: MAX_FRAME_BYTES },
    {
      frame: received,
      refused: () => {},
      oversized: () => {},
      end,
      error: end,
    },
  );

  function end(): void {
    if (isOver) return;
    isOver = true;
    for (const { reject } of open.values()) reject(new ConnectionEnded());
    open.clear();
    for (const controller of answering.values()) controller.abort();
    over();
  }
  function send(message: object): void {
    if (isOver) return;
    const line = JSON.stringify({ jsonrpc: '2.0', ...message });
    on.line?.('sent', line);
    leg.writer.line(`${line}\n`);
  }
  function received(frame: Frame): void {
    const line = frame.bytes.toString('utf8', frame.start, frame.end);
    on.line?.('received', line);
    const { id, method, params, result, error } = JSON.parse(line);
    if (frame.kind === 'response') settle(id, result, error);
    else if (frame.kind === 'request') void answer(id, method, params);
    else if (method === '$/cancel_request') answering.get(JSON.stringify(params?.requestId))?.abort();
    else on.notification(method, params);
  }
  function settle(id: unknown, result: unknown, error: { code?: number; message?: string; data?: unknown } | undefined): void {
    const waiting = typeof id === 'number' ? open.get(id) : undefined;
    if (!waiting) return;
    open.delete(id as number);
    if (error) waiting.reject(new ClientError(error.code ?? -32603, error.message ?? 'no reason given', error.data));
    else waiting.resolve(result);
  }
  async function answer(id: unknown, method: string, params: unknown): Promise<void> {
    const key = JSON.stringify(id);
    const controller = new AbortController();
    answering.set(key, controller);
    try {
      send({ id, result: (await on.request(method, params, controller.signal, key)) ?? null });
    } catch (error) {
      const { code, message, data } = error instanceof ClientError ? error : new ClientError(-32603, String((error as Error).message));
      send({ id, error: { code, message, ...(data !== undefined && { data }) } });
    } finally {
      answering.delete(key);
    }
  }

  return {
    closed,
    request(method, params) {
      if (isOver) return Promise.reject(new ConnectionEnded());
      const id = nextId++;
      return new Promise((resolve, reject) => {
        open.set(id, { resolve, reject });
        send({ id, method, params });
      });
    },
    notify: (method, params) => send({ method, params }),
    close() {
      leg.writer.end();
      end();
    },
  };
}
