// A bus that another switchboard serves over a WebSocket. After a lost connection it connects again, and listens and watches as before.
import { WebSocket } from 'ws';
import { escapeControls } from '../../control-characters.ts';
import { type Bus, BusFailure, type Change, type Directory, type DirectoryOptions, type Stream } from '../bus.ts';
import { type ClientHeader, decode, encode, type ServerHeader } from './messages.ts';
import { MAX_MESSAGE_BYTES } from './serve-bus.ts';

export type WebSocketBusOptions = {
  /** `ws:` or `wss:`. */
  readonly url: string;
  readonly token: string;
  readonly tls?: { readonly ca?: Buffer | undefined };
};

const CONNECT_MS = 10_000;
const RECONNECT_EVERY_MS = 500;
const REQUEST_MS = 10_000;
const PING_EVERY_MS = 5000;

type Waiting = { resolve(answer: Answer): void; reject(error: Error): void; readonly timer: NodeJS.Timeout };
type Answer = { readonly header: Extract<ServerHeader, { op: 'done' }>; readonly bytes: Buffer };
/** What is asked again on each new connection, and who hears what it brings. */
type Lasting = { readonly header: ClientHeader; heard(header: ServerHeader, bytes: Buffer): void };

export async function connectWebSocketBus({ url, token, tls }: WebSocketBusOptions): Promise<Bus> {
  const address = new URL(url);
  const shownUrl = `${address.protocol}//${address.host}${address.pathname}`;
  const waiting = new Map<number, Waiting>();
  const lasting = new Map<number, Lasting>();
  const listeners = new Set<(isConnected: boolean) => void>();
  let socket: WebSocket | undefined;
  let lastId = 0;
  let isClosed = false;

  function open(): Promise<void> {
    return new Promise((resolve, reject) => {
      const opening = new WebSocket(url, {
        headers: { authorization: `Bearer ${token}` },
        handshakeTimeout: CONNECT_MS,
        maxPayload: MAX_MESSAGE_BYTES,
        perMessageDeflate: false,
        followRedirects: false,
        ...tls,
      });
      let pings: NodeJS.Timeout | undefined;
      let isHeard = true;
      opening.once('open', () => {
        socket = opening;
        pings = setInterval(() => {
          if (!isHeard) return opening.terminate();
          isHeard = false;
          opening.ping();
        }, PING_EVERY_MS);
        for (const [id, { header }] of lasting) opening.send(encode({ ...header, id } as ClientHeader));
        for (const listener of listeners) listener(true);
        resolve();
      });
      opening.on('pong', () => {
        isHeard = true;
      });
      opening.on('message', (data) => {
        isHeard = true;
        receive(data as Buffer);
      });
      opening.once('unexpected-response', (request, { statusCode }) => {
        reject(refusedBy(shownUrl, statusCode ?? 0));
        request.destroy();
      });
      opening.on('error', (error) => reject(new BusFailure('disconnected', `cannot reach the bus at ${shownUrl}: ${reasonOf(error)}`)));
      opening.once('close', () => {
        clearInterval(pings);
        if (socket !== opening) return;
        socket = undefined;
        for (const [id, { reject: fail, timer }] of waiting) {
          clearTimeout(timer);
          waiting.delete(id);
          fail(new BusFailure('disconnected', 'the connection to the bus was lost'));
        }
        for (const listener of listeners) listener(false);
        if (!isClosed) reconnect();
      });
    });
  }
  function reconnect(): void {
    const timer = setTimeout(() => void (isClosed || open().catch(reconnect)), RECONNECT_EVERY_MS);
    timer.unref();
  }
  function receive(message: Buffer): void {
    const { header, bytes } = decode<ServerHeader>(message) ?? {};
    if (!header || !bytes) return;
    if (header.op !== 'done' && header.op !== 'failed') return lasting.get(header.id)?.heard(header, bytes);
    const one = waiting.get(header.id);
    if (!one) return;
    waiting.delete(header.id);
    clearTimeout(one.timer);
    if (header.op === 'done') one.resolve({ header, bytes });
    else one.reject(new BusFailure(header.reason, escapeControls(header.why)));
  }
  function request(header: ClientHeader, bytes?: Buffer, timeoutMs = REQUEST_MS, id = ++lastId): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (!socket) return reject(new BusFailure('disconnected', 'there is no connection to the bus'));
      const timer = setTimeout(() => {
        waiting.delete(id);
        reject(new BusFailure('timeout', `the bus did not answer within ${timeoutMs} ms`));
      }, timeoutMs);
      waiting.set(id, { resolve, reject, timer });
      socket.send(encode({ ...header, id } as ClientHeader, bytes));
    });
  }
  function tell(header: ClientHeader, bytes?: Buffer): void {
    if (socket?.readyState === WebSocket.OPEN) socket.send(encode(header, bytes), () => {});
  }
  /** Stays over reconnections until its end. */
  function keep(header: ClientHeader, heard: Lasting['heard']): { readonly id: number; end(): void } {
    lastId += 1;
    const id = lastId;
    lasting.set(id, { header, heard });
    const end = () => {
      lasting.delete(id);
      tell({ op: 'end', id });
    };
    return { id, end };
  }
  function listenOf(header: ClientHeader, heard: Lasting['heard']): () => void {
    const { id, end } = keep(header, heard);
    tell({ ...header, id } as ClientHeader);
    return end;
  }
  async function watchOf(header: ClientHeader, heard: Lasting['heard']): Promise<() => void> {
    const { id, end } = keep(header, heard);
    await request(header, undefined, REQUEST_MS, id);
    return end;
  }

  await open();
  return {
    shownUrl,
    get isConnected() {
      return socket !== undefined;
    },
    directory: async (name, options = {}) => directoryOf(name, options, request, watchOf),
    stream: async (name) => streamOf(name, request, watchOf),
    send: (subject, bytes) => tell({ op: 'send', subject }, bytes),
    listen: (pattern, listener) =>
      listenOf({ op: 'listen', id: 0, pattern }, (header, bytes) => void (header.op === 'heard' && listener(bytes, header.subject))),
    ask: async (subject, bytes, timeoutMs) =>
      (await request({ op: 'ask', id: 0, subject, timeoutMs }, bytes, timeoutMs + REQUEST_MS)).bytes,
    answer: (pattern, handler) =>
      listenOf({ op: 'answer', id: 0, pattern }, (header, question) => {
        if (header.op !== 'asked') return;
        const { asked } = header;
        handler(question, header.subject).then(
          (bytes) => tell({ op: 'answered', asked }, bytes),
          (error: Error) => tell({ op: 'answered', asked, why: error.message }),
        );
      }),
    onConnection(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    // Answers come in order, so this one comes after everything before it.
    flush: async () => void (await request({ op: 'end', id: 0 })),
    async close() {
      isClosed = true;
      lasting.clear();
      const closing = socket;
      if (!closing) return;
      const gone = new Promise<void>((resolve) => closing.once('close', () => resolve()));
      closing.close(1000);
      const late = setTimeout(() => closing.terminate(), 1000);
      await gone;
      clearTimeout(late);
    },
  };
}

type Request = (header: ClientHeader, bytes?: Buffer) => Promise<Answer>;
type Watch = (header: ClientHeader, heard: Lasting['heard']) => Promise<() => void>;

function directoryOf(directory: string, { ttlMs }: DirectoryOptions, request: Request, watchOf: Watch): Directory {
  const where = { id: 0, directory, ...(ttlMs !== undefined && { ttlMs }) };
  return {
    async get(key) {
      const { header, bytes } = await request({ op: 'get', ...where, key });
      return header.isSet ? { key, value: bytes, revision: header.revision ?? 0 } : undefined;
    },
    create: async (key, value) => (await request({ op: 'create', ...where, key }, value)).header.revision,
    update: async (key, value, revision) => (await request({ op: 'update', ...where, key, revision }, value)).header.revision,
    remove: async (key, revision) => (await request({ op: 'remove', ...where, key, revision })).header.isRemoved === true,
    watch: (listener) =>
      watchOf({ op: 'watch', ...where }, (header, bytes) => {
        if (header.op !== 'changed') return;
        const change: Change = { key: header.key, value: header.isRemoved ? undefined : bytes, revision: header.revision };
        listener(change);
      }),
  };
}

function streamOf(stream: string, request: Request, watchOf: Watch): Stream {
  return {
    append: async (subject, bytes, after) => (await request({ op: 'append', id: 0, stream, subject, after }, bytes)).header.revision,
    async last(subject) {
      const { header, bytes } = await request({ op: 'last', id: 0, stream, subject });
      return header.isSet ? { subject, sequence: header.revision ?? 0, bytes } : undefined;
    },
    end: async () => (await request({ op: 'newest', id: 0, stream })).header.revision ?? 0,
    trim: async (sequence) => void (await request({ op: 'trim', id: 0, stream, sequence })),
    read(sequence, listener) {
      // After a reconnection the stream is read from its start again; what was heard before is left out.
      let seen = sequence;
      return watchOf({ op: 'read', id: 0, stream, sequence }, (header, bytes) => {
        if (header.op !== 'record' || header.sequence <= seen) return;
        seen = header.sequence;
        listener({ subject: header.subject, sequence: header.sequence, bytes });
      });
    },
  };
}

function refusedBy(shownUrl: string, status: number): BusFailure {
  const why = status === 401 || status === 403 ? `it rejected the token (HTTP ${status})` : `it answered HTTP ${status}`;
  return new BusFailure('refused', `cannot use the bus at ${shownUrl}: ${why}`);
}

/** Messages of the library may contain the address. */
const reasonOf = (error: Error): string => (error as NodeJS.ErrnoException).code ?? error.message.replace(/\bwss?:\/\/\S+/g, 'its address');
