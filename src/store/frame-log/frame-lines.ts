// The lines of the frame log: one for a request, an answer or a line of ours, one for many notifications in a row. All that is not a word of
// ours goes through the redactor.
import type { Secrets } from '../../redaction/redact.ts';
import { redactJsonText } from '../../redaction/redact-json.ts';
import { type Frame, textOf } from '../../wire/frame.ts';
import { memberAt } from '../../wire/json-path.ts';
import { patchedText } from '../../wire/observer.ts';
import { InternedMap } from '../../wire/scanner/interned.ts';
import { briefOf, sessionTokenOf } from '../../wire/scanner/large-frame.ts';
import type { Patch } from '../../wire/writer.ts';
import type { FrameRecord } from './frame-filter.ts';
import { createChunkJoiner } from './join-chunks.ts';

export type Side = 'editor' | 'agent';

type Asked = { readonly method: string; readonly atMs: number };

export type LoggedConnection = {
  readonly name: string;
  /** What stands behind the time in every line: the leg, the way, and all of the kind but its name. */
  readonly received: string;
  readonly sent: string;
  /** Requests without an answer: the peer's own, and those put to it. */
  readonly theirs: Map<string, Asked>;
  readonly ours: Map<string, Asked>;
};

/** What has passed and is not a line yet. `line` is one of ours, or one that is no frame. */
export type Passed<Connection extends LoggedConnection = LoggedConnection> = {
  readonly leg: Connection;
  readonly isReceived: boolean;
  readonly frame: Frame | undefined;
  readonly idText: string | undefined;
  readonly line: string | undefined;
  /** Where what was sent is not what had come: ids, the names of sessions, servers that were added. */
  readonly patches?: readonly Patch[];
  readonly t: number;
  readonly atMs: number;
};

/** Notifications of one method that came in a row on one leg, which is nearly all that passes: the session and the size of each. Frames are
 * not kept for it, since they would outlive their chunk. Only where there are no payloads. */
export type Run<Connection extends LoggedConnection = LoggedConnection> = {
  readonly leg: Connection;
  readonly t: number;
  readonly method: string;
  readonly hasSession: boolean;
  /** Whether they are all of the first one's session. Then `sessions` may name it only once. */
  isOfOne: boolean;
  readonly sessions: string[];
  readonly sizes: number[];
};

export type FrameLines = {
  leg(name: string, side: Side): LoggedConnection;
  of(passed: Passed): string;
  ofRun(run: Run): string;
  /** What is written for the session that a frame names. */
  sessionOf(frame: Frame): string;
  /** Chunks that are still being joined. */
  endAll(): readonly string[];
};

const MOST_ASKED = 10_000;
const MOST_SESSIONS = 10_000;
const MOST_METHODS = 100;
/** Redacting takes time; above this a payload is left out. */
const MAX_PAYLOAD_BYTES = 256 * 1024;

export function createFrameLines(hasPayloads: boolean, secrets: Secrets): FrameLines {
  const sessions = new Map<string, string>();
  const named = new InternedMap<string>();
  const methods = new Map<string, string>();
  const joiner = hasPayloads ? createChunkJoiner(secrets) : undefined;

  /** One line, with a list of sizes; and a list of sessions, unless it is one. Whoever reads it makes one record of each size. */
  function ofRun(one: Run): string {
    const { leg, t: at, method, sessions: whose, sizes } = one;
    const size = sizes.length === 1 ? sizes[0] : `[${sizes.join(',')}]`;
    return `{"t":${at}${leg.received}notification"${called(method)}${one.hasSession ? `,"session":${one.isOfOne ? whose[0] : `[${whose.join(',')}]`}` : ''},"bytes":${size}}\n`;
  }
  /** Usually one; none while chunks are joined, and two when that ends. */
  function of(passed: Passed): string {
    try {
      return lineOf(passed);
    } catch {
      return `${JSON.stringify({ t: passed.t, leg: passed.leg.name, event: 'unreadable', bytes: sizeOf(passed) })}\n`;
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
  /** Kept for sessions of which much is heard: many are opened and never used. */
  function whoseIs(frame: Frame): string {
    if (frame.session) return sessionOf(frame);
    const token = sessionTokenOf(frame) ?? '';
    return sessions.get(token) ?? secrets.redact(token);
  }
  function sessionOf(frame: Frame): string {
    const known = frame.session && named.get(frame.session);
    if (known !== undefined) return known;
    const clean = session(sessionTokenOf(frame) ?? '');
    if (frame.session) named.set(frame.session, clean);
    return clean;
  }
  /** Session ids are the agents' own, and so may hold anything. */
  function session(token: string): string {
    const known = sessions.get(token);
    if (known !== undefined) return known;
    const clean = secrets.redact(token);
    if (sessions.size >= MOST_SESSIONS) sessions.clear();
    sessions.set(token, clean);
    return clean;
  }
  /** The same few methods come again and again. */
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
  /** Everything but the session and the size of a request or an answer, whose other half is looked up. */
  function head(passed: Passed, kind: string, method: string | undefined, idText: string | undefined, error: number | undefined): string {
    const { leg, isReceived, t: at, atMs } = passed;
    let asked: Asked | undefined;
    if (idText !== undefined && kind === 'request') {
      const open = isReceived ? leg.theirs : leg.ours;
      if (open.size < MOST_ASKED) open.set(idText, { method: method ?? '', atMs });
    } else if (idText !== undefined) {
      const open = isReceived ? leg.ours : leg.theirs;
      asked = open.get(idText);
      open.delete(idText);
    }
    const name = method ?? asked?.method;
    return (
      `{"t":${at}${isReceived ? leg.received : leg.sent}${kind}"` +
      `${name === undefined ? '' : called(name)}${idText === undefined ? '' : `,"id":${secrets.redact(idText)}`}` +
      `${asked === undefined ? '' : `,"ms":${Math.round((atMs - asked.atMs) * 10) / 10}`}${error === undefined ? '' : `,"error":${error}`}`
    );
  }
  /** A line of our own, or one that is no frame. */
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
    return joiner?.next(passed.leg.name, before, patchedText(frame, passed.patches ?? []), frame) ?? '';
  }

  function leg(name: string, side: Side): LoggedConnection {
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

  return { leg, of, ofRun, sessionOf, endAll: () => joiner?.endAll() ?? [] };
}

export const sizeOf = ({ frame, line }: Passed): number => (frame ? frame.end - frame.start : (line?.length ?? 0));

/** 0 when the peer gave none. */
function errorCode(frame: Frame): number {
  const { bytes, body } = briefOf(frame);
  const span = memberAt(bytes, body, 'code');
  const code = span === undefined ? 0 : Number(textOf(bytes, span));
  return Number.isFinite(code) ? code : 0;
}

// What one line of the frame log stands for.
/** Notifications that came together are one line, with a list of their sizes, and one of their sessions if those differ. */
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
