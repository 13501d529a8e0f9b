// The client's end of ACP over streamable HTTP: each frame to the agent is a POST, frames from it come as server-sent events, on one stream for
// the connection and one for each session. The streams have no common order, so the answer to session/load waits for the replay before it.

import { EventEmitter } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { SecureContextOptions } from 'node:tls';
import { LF } from '../wire/frame.ts';
import { eachLine } from '../wire/framing/each-line.ts';
import { idTextOf, sessionIdOf } from '../wire/scanner/large-frame.ts';
import { strictParse } from '../wire/scanner/strict-parse.ts';
import type { ConnectLimits, Connector, ConnectorEvents } from './connect-remote.ts';
import { createHttpCalls, type HttpCalls } from './http-calls.ts';
import { type Remote, whyRefused, whyUnreachable } from './remote.ts';
import { createSseReader } from './sse-reader.ts';

const CONNECTION_ID = 'acp-connection-id';
const SESSION_ID = 'acp-session-id';
/** Statuses that mean that the whole connection is unusable. */
const FATAL: ReadonlySet<number> = new Set([401, 403, 404, 410]);
/** Frames that must not wait behind a prompt. */
const OVERTAKES: ReadonlySet<string> = new Set(['session/cancel', '$/cancel_request']);
/** Frames that open a session's stream on the other side: it may not exist before they have arrived. */
const OPENS: ReadonlySet<string> = new Set(['session/load', 'session/resume']);
/** After them, nothing comes in a session's stream. */
const CLOSES: ReadonlySet<string> = new Set(['session/close', 'session/delete']);
/** Some peers send one comment when a stream opens and none later; only those that follow show that the peer is alive. */
const MIN_COMMENTS = 2;
/** How soon the stream of a session that the peer does not know yet is tried again; then after twice as long. */
const FIRST_RETRY_MS = 50;
const MAX_RETRY_MS = 1000;
/** A replay is over when its stream has been silent for this long. */
const REPLAY_QUIET_MS = 50;
const MAX_QUEUED_BYTES = 1 << 20;

type Outgoing = {
  readonly body: Buffer;
  readonly method: string | undefined;
  readonly idText: string | undefined;
  readonly session: string | undefined;
};
type Stream = {
  readonly ready: Promise<void>;
  response: IncomingMessage | undefined;
  lastDataMs: number;
  lastHeardMs: number;
  comments: number;
  hasOpened: boolean;
};

export function openHttp(remote: Remote, tls: SecureContextOptions, { maxFrameBytes }: ConnectLimits, on: ConnectorEvents): Connector {
  const calls = createHttpCalls(remote, tls);
  const events = new EventEmitter();
  const streams = new Map<string | undefined, Stream>();
  const queues = new Map<string | undefined, Promise<void>>();
  /** The session of each request of the agent, by its id: the answer goes back by the same stream. */
  const askedIn = new Map<string, string>();
  /** Open requests to the agent, with the session in whose stream the answer comes. */
  const pendingIn = new Map<string, string>();
  /** Open requests that open a session, by id. */
  const opening = new Map<string, { readonly session: string; readonly hasReplay: boolean }>();
  /** Open requests that close a session, by id. */
  const closing = new Map<string, string>();
  let connectionId: string | undefined;
  let isPaused = false;
  let isOver = false;
  let queuedBytes = 0;
  const sendLines = eachLine(send);
  const isAwaited = (session: string | undefined) => session === undefined || [...pendingIn.values()].includes(session);

  const watchdog = setInterval(findSilent, Math.max(remote.keepaliveMs, 1000));
  watchdog.unref();
  /** Each stream has a socket of its own, which may be half-open while the others are not. */
  function findSilent(): void {
    const silentMs = 2 * remote.keepaliveMs;
    if (silentMs === 0 || isPaused) return;
    for (const [session, { response, comments, lastHeardMs }] of streams) {
      if (comments < MIN_COMMENTS || Date.now() - lastHeardMs <= silentMs) continue;
      if (isAwaited(session)) return lost(`it was silent for ${silentMs} ms`);
      response?.destroy(); // it is opened again when it is needed
    }
  }

  let left: Promise<void> | undefined;
  /** Ends the connection on the other side: without its client, the agent would work on unseen, and refuse the next prompt. */
  function leave(): Promise<void> {
    left ??= connectionId === undefined ? Promise.resolve() : endPolitely(calls, headersFor(undefined));
    return left;
  }
  function lost(why: string): void {
    if (isOver) return;
    finish();
    void leave();
    on.over(connectionId === undefined ? { kind: 'unreachable', why } : { kind: 'disconnected', why });
  }
  function finish(): void {
    isOver = true;
    clearInterval(watchdog);
    calls.abort();
    events.emit('close');
  }
  const emit = (line: Buffer) => void (isOver || events.emit('data', line));

  // To the agent.

  function send(line: Buffer): void {
    const frame = strictParse(line, 0, line.length - 1);
    if ('why' in frame) return; // the proxy writes frames only
    const idText = frame.kind === 'notification' ? undefined : idTextOf(frame);
    const isAnswer = frame.kind === 'response';
    const session = isAnswer ? askedIn.get(idText as string) : sessionIdOf(frame);
    if (isAnswer) askedIn.delete(idText as string);
    const outgoing = { body: line.subarray(0, -1), method: frame.method, idText: isAnswer ? undefined : idText, session };
    if (frame.kind === 'request' && session !== undefined && idText !== undefined) pendingIn.set(idText, session);
    if (OPENS.has(frame.method ?? '') && session !== undefined && idText !== undefined)
      opening.set(idText, { session, hasReplay: frame.method === 'session/load' });
    if (CLOSES.has(frame.method ?? '') && session !== undefined && idText !== undefined) closing.set(idText, session);
    queuedBytes += line.length;
    const sent = () => {
      const wasFull = queuedBytes > MAX_QUEUED_BYTES;
      queuedBytes -= line.length;
      if (wasFull && queuedBytes <= MAX_QUEUED_BYTES) events.emit('drain');
    };
    if (connectionId !== undefined && (isAnswer || OVERTAKES.has(frame.method ?? ''))) return void post(outgoing).then(sent);
    // Before the answer to initialize everything waits for it; then each session has its own order.
    const key = connectionId === undefined ? undefined : session;
    const before = queues.get(key) ?? queues.get(undefined) ?? Promise.resolve();
    const turn = before.then(() => post(outgoing)).then(sent);
    queues.set(key, turn);
    void turn.then(() => queues.get(key) === turn && key !== undefined && queues.delete(key));
  }

  async function post(outgoing: Outgoing): Promise<void> {
    if (isOver) return;
    if (connectionId === undefined) return initialize(outgoing);
    const { body, method, session } = outgoing;
    try {
      if (session !== undefined) await stream(session).ready;
      const { status, text } = await calls.post(body, headersFor(session));
      if (status >= 200 && status < 300) {
        if (outgoing.idText !== undefined && session !== undefined) void listenFor(outgoing.idText, session, OPENS.has(method ?? ''));
        return;
      }
      if (FATAL.has(status)) return lost(whyRefused(status, remote).why);
      refuse(outgoing, `HTTP ${status}${text === '' ? '' : `: ${text}`}`);
    } catch (error) {
      if (error instanceof StreamRefused) return refuse(outgoing, error.message);
      // Whether the agent got the frame is not known, and a prompt is never sent twice.
      lost(whyUnreachable(error as Error, remote).why);
    }
  }
  async function initialize(outgoing: Outgoing): Promise<void> {
    try {
      const { status, headers, bytes } = await calls.initialize(outgoing.body, maxFrameBytes);
      if (isOver) return;
      if (status !== 200) {
        finish();
        return on.over({ kind: 'unreachable', ...whyRefused(status, remote) });
      }
      const id = headers[CONNECTION_ID];
      if (typeof id !== 'string') return lost('its answer to initialize has no Acp-Connection-Id');
      connectionId = id;
      await stream(undefined).ready;
      emit(Buffer.concat([inOneLine(bytes), Buffer.from('\n')]));
    } catch (error) {
      if (isOver) return;
      finish();
      on.over({ kind: 'unreachable', ...whyUnreachable(error as Error, remote) });
    }
  }
  /** The answer comes in the session's stream, which may not exist yet. A session that is being opened may take its time. */
  async function listenFor(idText: string, session: string, isOpening: boolean): Promise<void> {
    const until = isOpening ? Number.POSITIVE_INFINITY : Date.now() + remote.connectMs;
    const isMissing = () => !isOver && pendingIn.get(idText) === session && !streams.has(session);
    for (let retryMs = FIRST_RETRY_MS; isMissing(); retryMs = Math.min(2 * retryMs, MAX_RETRY_MS)) {
      try {
        await stream(session).ready;
      } catch (error) {
        return lost((error as Error).message);
      }
      if (Date.now() > until && isMissing()) return lost('it opens no event stream for the session');
      if (isMissing()) await delay(retryMs, undefined, { ref: false });
    }
  }
  /** Answers a request that did not arrive. A notification is lost, as on any broken connection. */
  function refuse({ idText, method }: Outgoing, why: string): void {
    if (idText === undefined) return;
    opening.delete(idText);
    closing.delete(idText);
    pendingIn.delete(idText);
    const error = { code: -32603, message: `${method} did not reach the agent: ${why}` };
    emit(Buffer.from(`{"jsonrpc":"2.0","id":${idText},"error":${JSON.stringify(error)}}\n`));
  }

  // From the agent.

  const headersFor = (session: string | undefined): Record<string, string> => ({
    [CONNECTION_ID]: connectionId as string,
    ...(session !== undefined && { [SESSION_ID]: session }),
  });

  /** The stream of a session, or of the connection; opened if it is not there. */
  function stream(session: string | undefined): Stream {
    const existing = streams.get(session);
    if (existing) return existing;
    const opened: Stream = { ready: open(), response: undefined, lastDataMs: 0, lastHeardMs: Date.now(), comments: 0, hasOpened: false };
    opened.ready.catch(() => {});
    streams.set(session, opened);
    return opened;

    async function open(): Promise<void> {
      const response = await calls.events(headersFor(session));
      const { statusCode = 0 } = response;
      if (statusCode === 200) return read(response);
      response.resume();
      streams.delete(session);
      if (session === undefined) throw new Error(whyRefused(statusCode, remote).why);
      if (statusCode === 401) throw new Error(whyRefused(statusCode, remote).why);
      if (statusCode === 409) throw new StreamRefused(`another client reads session "${session}" (HTTP 409)`);
      // 403 and 404: the session is not known there yet.
      if (statusCode !== 403 && statusCode !== 404) throw new StreamRefused(`its event stream was refused with HTTP ${statusCode}`);
    }
    function read(response: IncomingMessage): void {
      opened.response = response;
      opened.hasOpened = true;
      if (isPaused) response.pause();
      const reader = createSseReader(maxFrameBytes, {
        line(line) {
          opened.lastDataMs = Date.now();
          received(line, session);
        },
        comment() {
          opened.comments++;
        },
        tooLong: () => lost('an event exceeded limits.max_frame_bytes'),
      });
      response.on('data', (chunk: Buffer) => {
        opened.lastHeardMs = Date.now();
        reader.push(chunk);
      });
      response.on('error', () => {});
      response.once('close', () => {
        streams.delete(session);
        if (session === undefined) return lost('the peer closed the event stream');
        // Answers can no longer arrive, so the proxy recovers the session, as after a crash. An idle stream is opened again when it is needed.
        if (isAwaited(session)) lost('the peer closed the event stream of a session');
      });
    }
  }

  function received(line: Buffer, session: string | undefined): void {
    const frame = strictParse(line, 0, line.length - 1);
    if ('why' in frame) return emit(line); // the proxy reports it
    if (frame.kind === 'request' && session !== undefined) askedIn.set(idTextOf(frame), session);
    if (frame.kind !== 'response') return emit(line);
    const idText = idTextOf(frame);
    pendingIn.delete(idText);
    const created = frame.outcome === 'result' ? sessionIdOf(frame) : undefined;
    if (created !== undefined) void stream(created).ready.catch((error: Error) => error instanceof StreamRefused || lost(error.message));
    const closed = closing.get(idText);
    closing.delete(idText);
    if (closed !== undefined && frame.outcome === 'result') streams.get(closed)?.response?.destroy();
    const reopened = opening.get(idText);
    opening.delete(idText);
    if (reopened === undefined || session !== undefined || frame.outcome !== 'result') return emit(line);
    if (reopened.hasReplay) void loaded(reopened.session, () => emit(line));
    else {
      void stream(reopened.session);
      emit(line);
    }
  }
  /** The answer to session/load. If the server knows the session only now, its stream opens now, and brings the replay. */
  async function loaded(session: string, done: () => void): Promise<void> {
    for (let attempt = 0; attempt < 2 && !isOver; attempt++) {
      const one = stream(session);
      if (one.hasOpened) break;
      await one.ready.catch(() => {});
      if (one.hasOpened) one.lastDataMs = Date.now();
    }
    afterReplay(session, done);
  }
  function afterReplay(session: string, done: () => void): void {
    const quietMs = Date.now() - (streams.get(session)?.lastDataMs ?? 0);
    if (isOver || (quietMs >= REPLAY_QUIET_MS && !isPaused)) return done();
    setTimeout(afterReplay, REPLAY_QUIET_MS, session, done);
  }

  on.opened({
    source: {
      on: (event: string, listener: (...args: never[]) => void) => events.on(event, listener as () => void),
      pause() {
        isPaused = true;
        for (const { response } of streams.values()) response?.pause();
      },
      resume() {
        isPaused = false;
        for (const one of streams.values()) {
          one.lastHeardMs = Date.now();
          one.response?.resume();
        }
      },
    },
    sink: {
      write(chunk) {
        sendLines(chunk);
        return queuedBytes <= MAX_QUEUED_BYTES;
      },
      cork() {},
      uncork() {},
      end() {},
      get writableLength() {
        return queuedBytes;
      },
      on: (event: 'drain' | 'error', listener: (error: Error) => void) => events.on(event, listener as () => void),
    },
  });
  return {
    async stop() {
      await leave();
      if (!isOver) lost('it was closed here');
    },
    kill: () => lost('it was closed here'),
  };
}

async function endPolitely(calls: HttpCalls, headers: Record<string, string>): Promise<void> {
  try {
    await calls.remove(headers);
  } catch {
    // The peer is gone already.
  }
}

/** The stream of a session cannot be read. Nothing was sent, and the other sessions work. */
class StreamRefused extends Error {}

function inOneLine(bytes: Buffer): Buffer {
  return Buffer.from(bytes.map((byte) => (byte === LF || byte === 0x0d ? 0x20 : byte)));
}
