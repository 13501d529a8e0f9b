// One client over streamable HTTP: its POSTs are the source of a connection, and what the proxy writes goes to the event streams, one for the
// connection and one for each session.
import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Sink, Source } from '../wire/byte-stream.ts';
import type { Frame } from '../wire/frame.ts';
import { eachLine } from '../wire/framing/each-line.ts';
import { idTextOf, sessionIdOf } from '../wire/scanner/large-frame.ts';
import { strictParse } from '../wire/scanner/strict-parse.ts';
import type { Refusal } from './access.ts';

/** More than this without a reader pauses the agents. */
const MAX_BUFFERED_BYTES = 1 << 20;
/** More than this without a reader: the client must read before it posts again. */
export const MAX_UNREAD_BYTES = 16 << 20;
/** As many as a connection has sessions, and its own. */
const MAX_STREAMS = 1025;
const KEEPALIVE_MS = 15_000;
const PREFIX = Buffer.from('data: ');
const SUFFIX = Buffer.from('\n\n');
const COMMENT = ':\n\n';

/** Their answers come on the connection's stream: the session's may not exist yet. */
const ANSWERED_ON_CONNECTION: ReadonlySet<string> = new Set(['session/new', 'session/load', 'session/list']);
const OPENING: ReadonlySet<string> = new Set(['session/load', 'session/resume']);

type Stream = {
  response: ServerResponse | undefined;
  readonly waiting: Buffer[];
  waitingBytes: number;
  /** The answer to session/load waits for the replay in its session's stream. */
  afterDrain: (() => void)[];
};

type OpenRequest = { readonly method: string; readonly session: string | undefined; readonly target: string | undefined };

export type HttpConnection = {
  readonly source: Source;
  readonly sink: Sink;
  /** Sends initialize; calls back with its answer. */
  initialize(line: Buffer, idText: string, answered: (body: Buffer) => void): void;
  /** A refusal if the frame does not fit its headers. */
  post(line: Buffer, sessionHeader: string | undefined): Refusal | undefined;
  /** Opens an event stream; takes over the response unless it refuses. */
  read(sessionHeader: string | undefined, response: ServerResponse): Refusal | undefined;
  /** Milliseconds since the client last had a reader or posted. */
  idleMs(): number;
  end(): void;
};

/** `knows`: whether the client may read a session that this connection has not opened. */
export function createHttpConnection(now: () => number, knows: (sessionId: string) => boolean): HttpConnection {
  const events = new EventEmitter();
  const streams = new Map<string | undefined, Stream>();
  /** The stream in which the answer to each open request of the client goes, and its session. */
  const open = new Map<string, OpenRequest>();
  /** The session of each open request of the agent. */
  const askedIn = new Map<string, string>();
  /** What the client may read. */
  const sessions = new Set<string>();
  let waitForInitialize: { readonly idText: string; readonly answered: (body: Buffer) => void } | undefined;
  let bufferedBytes = 0;
  let isOver = false;
  let lastSeenMs = now();
  const routeLines = eachLine(route);
  const timer = setInterval(() => {
    for (const { response } of streams.values()) response?.write(COMMENT);
  }, KEEPALIVE_MS);
  timer.unref();

  function streamOf(session: string | undefined): Stream {
    const existing = streams.get(session);
    if (existing) return existing;
    const stream: Stream = { response: undefined, waiting: [], waitingBytes: 0, afterDrain: [] };
    streams.set(session, stream);
    return stream;
  }
  function send(session: string | undefined, body: Buffer): void {
    const stream = streamOf(session);
    if (stream.response) {
      stream.response.cork();
      stream.response.write(PREFIX);
      stream.response.write(body);
      stream.response.write(SUFFIX);
      stream.response.uncork();
      return;
    }
    stream.waiting.push(body);
    stream.waitingBytes += body.length;
    bufferedBytes += body.length;
  }
  function unreadBytes(): number {
    let bytes = bufferedBytes;
    for (const { response } of streams.values()) bytes += response?.writableLength ?? 0;
    return bytes;
  }
  const isKnown = (session: string) => sessions.has(session) || knows(session);
  const isOpening = (session: string) => [...open.values()].some((one) => one.session === session && OPENING.has(one.method));
  const readers = () => [...streams.values()].filter(({ response }) => response !== undefined).length;
  const isFull = () => bufferedBytes > MAX_BUFFERED_BYTES || [...streams.values()].some(({ response }) => response?.writableNeedDrain);

  /** A frame from the proxy goes to the stream that the client expects it in. */
  function route(line: Buffer): void {
    const frame = strictParse(line, 0, line.length - 1);
    const body = line.subarray(0, -1);
    if ('why' in frame) return;
    if (frame.kind !== 'response') {
      const session = sessionIdOf(frame);
      if (session !== undefined) sessions.add(session);
      if (frame.kind === 'request' && session !== undefined) askedIn.set(idTextOf(frame), session);
      return send(session, body);
    }
    answer(frame, body);
  }
  function answer(frame: Frame, body: Buffer): void {
    const idText = idTextOf(frame);
    if (waitForInitialize?.idText === idText) {
      const { answered } = waitForInitialize;
      waitForInitialize = undefined;
      return answered(body);
    }
    const isResult = frame.outcome === 'result';
    const created = isResult ? sessionIdOf(frame) : undefined;
    if (created !== undefined) sessions.add(created);
    const { method = '', session, target } = open.get(idText) ?? {};
    open.delete(idText);
    if (isResult && session !== undefined && OPENING.has(method)) sessions.add(session);
    // Nobody could read the error of a session that does not exist in a stream of its own.
    if (!isResult && target !== undefined && !isKnown(target) && !streams.get(target)?.response) return send(undefined, body);
    const replay = method === 'session/load' && session !== undefined ? streams.get(session) : undefined;
    if (!replay || (replay.waiting.length === 0 && !replay.response?.writableNeedDrain)) return send(target, body);
    replay.afterDrain.push(() => send(target, body));
  }
  function drained(stream: Stream): void {
    const due = stream.afterDrain;
    stream.afterDrain = [];
    for (const act of due) act();
    if (!isFull()) events.emit('drain');
  }

  return {
    source: {
      on: (event: string, listener: (...args: never[]) => void) => events.on(event, listener as () => void),
      pause() {},
      resume() {},
    },
    sink: {
      write(chunk) {
        routeLines(chunk);
        return !isFull();
      },
      cork() {},
      uncork() {},
      end() {},
      get writableLength() {
        return unreadBytes();
      },
      on: (event: 'drain' | 'error', listener: (error: Error) => void) => events.on(event, listener as () => void),
    },
    initialize(line, idText, answered) {
      waitForInitialize = { idText, answered };
      events.emit('data', line);
    },
    post(line, header) {
      if (unreadBytes() > MAX_UNREAD_BYTES) return { status: 429, why: 'read the event streams of this connection first' };
      lastSeenMs = now();
      const frame = strictParse(line, 0, line.length - 1);
      if ('why' in frame) return { status: 400, why: `not a JSON-RPC message: ${frame.reason}` };
      const isAnswer = frame.kind === 'response';
      const session = isAnswer ? askedIn.get(idTextOf(frame)) : sessionIdOf(frame);
      if (session !== undefined && header === undefined) return { status: 400, why: 'the Acp-Session-Id header is missing' };
      if (session !== undefined && header !== session) return { status: 400, why: 'the Acp-Session-Id header names another session' };
      if (isAnswer) askedIn.delete(idTextOf(frame));
      if (frame.kind === 'request') {
        const { method = '' } = frame;
        const idText = idTextOf(frame);
        open.set(idText, { method, session, target: ANSWERED_ON_CONNECTION.has(method) ? undefined : session });
      }
      events.emit('data', line);
      return undefined;
    },
    read(header, response) {
      lastSeenMs = now();
      if (header !== undefined && !isKnown(header) && !isOpening(header)) return { status: 404, why: 'unknown session' };
      if (streams.get(header)?.response) return { status: 409, why: 'this stream has a reader already' };
      if (readers() >= MAX_STREAMS) return { status: 429, why: 'too many event streams' };
      const stream = streamOf(header);
      stream.response = response;
      response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store', 'x-accel-buffering': 'no' });
      response.flushHeaders();
      for (const body of stream.waiting.splice(0)) send(header, body);
      bufferedBytes -= stream.waitingBytes;
      stream.waitingBytes = 0;
      response.on('drain', () => drained(stream));
      response.on('error', () => {});
      response.once('close', () => {
        lastSeenMs = now();
        if (stream.response !== response) return;
        stream.response = undefined;
        if (stream.waiting.length === 0 && stream.afterDrain.length === 0) streams.delete(header);
      });
      if (!response.writableNeedDrain) drained(stream);
      return undefined;
    },
    idleMs: () => (readers() > 0 ? 0 : now() - lastSeenMs),
    end() {
      if (isOver) return;
      isOver = true;
      clearInterval(timer);
      for (const { response } of streams.values()) response?.end();
      events.emit('end');
      events.emit('close');
    },
  };
}
