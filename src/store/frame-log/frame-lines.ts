// Formats frame log lines: one per request, response or message of our own, one for a run of notifications. Everything that a peer wrote
// passes through the redactor.
import type { Secrets } from '../../redaction/redact.ts';
import { redactJsonText } from '../../redaction/redact-json.ts';
import { type Frame, textOf } from '../../wire/frame.ts';
import { memberAt } from '../../wire/json-path.ts';
import { patchedText } from '../../wire/observer.ts';
import { type Interned, InternedMap, tokenOf } from '../../wire/scanner/interned.ts';
import { briefOf, sessionTokenOf } from '../../wire/scanner/large-frame.ts';
import type { Patch } from '../../wire/writer.ts';
import type { FrameRecord } from './frame-filter.ts';
import { createChunkJoiner } from './join-chunks.ts';

export type Side = 'editor' | 'agent';

type PendingRequest = { readonly method: string; readonly atMs: number };

export type LoggedConnection = {
  readonly name: string;
  /** The constant part of a line after the time: connection, direction, and the kind up to its name. */
  readonly received: string;
  readonly sent: string;
  /** Pending requests: sent by the peer, and sent to it. */
  readonly theirs: Map<string, PendingRequest>;
  readonly ours: Map<string, PendingRequest>;
};

/** A frame or message that is not formatted yet. `line` is a message of our own, or input that is no frame. */
export type Passed<Connection extends LoggedConnection = LoggedConnection> = {
  readonly connection: Connection;
  readonly isReceived: boolean;
  readonly frame: Frame | undefined;
  readonly idText: string | undefined;
  readonly line: string | undefined;
  /** Where the sent frame differs from the received one: ids, session ids, added servers. */
  readonly patches?: readonly Patch[];
  readonly t: number;
  readonly atMs: number;
};

/**
 * Consecutive notifications of one method on one connection, which are nearly all traffic: the session and size of each. Frames are not
 * kept, because they would keep their chunk alive. Used only without payloads.
 */
export type Run<Connection extends LoggedConnection = LoggedConnection> = {
  readonly connection: Connection;
  readonly t: number;
  readonly method: string;
  readonly hasSession: boolean;
  /** Whether all belong to the first one's session. Then `sessions` may name it only once. */
  isOfOne: boolean;
  readonly sessions: string[];
  readonly sizes: number[];
};

export type FrameLines = {
  connection(name: string, side: Side): LoggedConnection;
  of(passed: Passed): string;
  ofRun(run: Run): string;
  /** The session id as written to the log. */
  sessionOf(frame: Frame): string;
  sessionOfInterned(id: Interned): string;
  /** Lines of chunks that are still being joined. */
  endAll(): readonly string[];
};

const MAX_PENDING = 10_000;
const MOST_SESSIONS = 10_000;
const MOST_METHODS = 100;
/** Redaction takes time; a larger payload is left out. */
const MAX_PAYLOAD_BYTES = 256 * 1024;

export function createFrameLines(hasPayloads: boolean, secrets: Secrets): FrameLines {
  const sessions = new Map<string, string>();
  const named = new InternedMap<string>();
  const methods = new Map<string, string>();
  const joiner = hasPayloads ? createChunkJoiner(secrets) : undefined;

  /** One line with a list of sizes, and a list of sessions unless there is only one. The reader expands it to one record per size. */
  function ofRun(one: Run): string {
    const { connection, t: at, method, sessions: whose, sizes } = one;
    const size = sizes.length === 1 ? sizes[0] : `[${sizes.join(',')}]`;
    return `{"t":${at}${connection.received}notification"${called(method)}${one.hasSession ? `,"session":${one.isOfOne ? whose[0] : `[${whose.join(',')}]`}` : ''},"bytes":${size}}\n`;
  }
  /** Usually one line; none while chunks are joined, two when the join ends. */
  function of(passed: Passed): string {
    try {
      return lineOf(passed);
    } catch {
      return `${JSON.stringify({ t: passed.t, leg: passed.connection.name, event: 'unreadable', bytes: sizeOf(passed) })}\n`;
    }
  }

  function lineOf(passed: Passed): string {
    const { frame } = passed;
    if (frame === undefined) return lineOfText(passed);
    if (joiner) return payloadLine(passed, frame);
    return `${head(passed, frame.kind, frame.method, passed.idText, frame.outcome === 'error' ? errorCode(frame) : undefined)}${about(frame, passed.patches)}}\n`;
  }
  function about(frame: Frame, patches: readonly Patch[] = []): string {
    let bytes = frame.end - frame.start;
    for (const { span, text } of patches) bytes += Buffer.byteLength(text) - (span.end - span.start);
    return `${frame.sessionId === undefined ? '' : `,"session":${whoseIs(frame)}`},"bytes":${bytes}`;
  }
  /** Caches only sessions with much traffic: many sessions are opened and never used. */
  function whoseIs(frame: Frame): string {
    if (frame.session) return sessionOf(frame);
    const token = sessionTokenOf(frame) ?? '';
    return sessions.get(token) ?? secrets.redact(token);
  }
  function sessionOf(frame: Frame): string {
    return frame.session ? sessionOfInterned(frame.session) : session(sessionTokenOf(frame) ?? '');
  }
  function sessionOfInterned(id: Interned): string {
    const known = named.get(id);
    if (known !== undefined) return known;
    const clean = session(tokenOf(id));
    named.set(id, clean);
    return clean;
  }
  /** Agents choose session ids, so they may contain anything. */
  function session(token: string): string {
    const known = sessions.get(token);
    if (known !== undefined) return known;
    const clean = secrets.redact(token);
    if (sessions.size >= MOST_SESSIONS) sessions.clear();
    sessions.set(token, clean);
    return clean;
  }
  /** Caches by method, because few methods make up most traffic. */
  function called(method: string): string {
    const known = methods.get(method);
    if (known !== undefined) return known;
    const clean = `,"method":${quoted(method)}`;
    if (methods.size >= MOST_METHODS) methods.clear();
    methods.set(method, clean);
    return clean;
  }
  function quoted(text: string): string {
    return JSON.stringify(secrets.redact(text));
  }
  /** Everything but session and size of a request or response; looks up the matching request. */
  function head(passed: Passed, kind: string, method: string | undefined, idText: string | undefined, error: number | undefined): string {
    const { connection, isReceived, t: at, atMs } = passed;
    let request: PendingRequest | undefined;
    if (idText !== undefined && kind === 'request') {
      const open = isReceived ? connection.theirs : connection.ours;
      if (open.size < MAX_PENDING) open.set(idText, { method: method ?? '', atMs });
    } else if (idText !== undefined) {
      const open = isReceived ? connection.ours : connection.theirs;
      request = open.get(idText);
      open.delete(idText);
    }
    const name = method ?? request?.method;
    return (
      `{"t":${at}${isReceived ? connection.received : connection.sent}${kind}"` +
      `${name === undefined ? '' : called(name)}${idText === undefined ? '' : `,"id":${secrets.redact(idText)}`}` +
      `${request === undefined ? '' : `,"ms":${Math.round((atMs - request.atMs) * 10) / 10}`}${error === undefined ? '' : `,"error":${error}`}`
    );
  }
  /** Formats a message of our own, or input that is no frame. */
  function lineOfText(passed: Passed): string {
    const line = passed.line ?? '';
    const bytes = `,"bytes":${Buffer.byteLength(line)}`;
    if (passed.isReceived)
      return `${head(passed, 'refused', undefined, undefined, undefined)}${bytes}${hasPayloads ? `,"line":${quoted(line.slice(0, 2000))}` : ''}}\n`;
    const { id, method, params, error } = JSON.parse(line);
    const kind = method === undefined ? 'response' : id === undefined ? 'notification' : 'request';
    const idText = id === undefined ? undefined : JSON.stringify(id);
    const sessionId = typeof params?.sessionId === 'string' ? `,"session":${session(JSON.stringify(params.sessionId))}` : '';
    const payload = hasPayloads && line.length <= MAX_PAYLOAD_BYTES ? `,"msg":${redactJsonText(line, secrets.redact)}` : '';
    return `${head(passed, kind, method, idText, error?.code)}${sessionId}${bytes},"ours":true${payload}}\n`;
  }
  function payloadLine(passed: Passed, frame: Frame): string {
    const { start, end, kind, method } = frame;
    const error = frame.outcome === 'error' ? errorCode(frame) : undefined;
    const before = `${head(passed, kind, method, passed.idText, error)}${about(frame, passed.patches)}`;
    if (end - start > MAX_PAYLOAD_BYTES) return `${before},"omitted":true}\n`;
    return joiner?.next(passed.connection.name, before, patchedText(frame, passed.patches ?? []), frame) ?? '';
  }

  function connection(name: string, side: Side): LoggedConnection {
    const clean = secrets.redact(name);
    const before = (way: string) => `,"leg":${JSON.stringify(clean)},"dir":"${way}","kind":"`;
    return {
      name: clean,
      received: before(side === 'editor' ? 'fromEditor' : 'fromAgent'),
      sent: before(side === 'editor' ? 'toEditor' : 'toAgent'),
      theirs: new Map(),
      ours: new Map(),
    };
  }

  return { connection, of, ofRun, sessionOf, sessionOfInterned, endAll: () => joiner?.endAll() ?? [] };
}

export const sizeOf = ({ frame, line }: Passed): number => (frame ? frame.end - frame.start : (line?.length ?? 0));

/** 0 if the error has no code. */
function errorCode(frame: Frame): number {
  const { bytes, body } = briefOf(frame);
  const span = memberAt(bytes, body, 'code');
  const code = span === undefined ? 0 : Number(textOf(bytes, span));
  return Number.isFinite(code) ? code : 0;
}

/**
 * One line of the frame log. Notifications that arrived together share a line, with a list of sizes, and a list of sessions if they differ.
 */
export type FrameLine = Omit<FrameRecord, 'bytes' | 'session'> & {
  readonly bytes?: number | readonly number[];
  readonly session?: string | readonly string[];
};

export function recordsOf(line: FrameLine): FrameRecord[] {
  const { bytes, session } = line;
  if (!Array.isArray(bytes)) return [line as FrameRecord];
  return bytes.map((size, k) => ({
    ...line,
    ...(session !== undefined && { session: Array.isArray(session) ? session[k] : session }),
    bytes: size,
  }));
}
