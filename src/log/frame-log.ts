// Every frame that passes, in one record each: when, on which leg, which way, what it is, whose, how long it is, how long its answer took.
// With payloads only on request, and then redacted. Lines are made after the frames have gone on, in batches.
import { Beside } from '../wire/beside.ts';
import { type Frame, textOf } from '../wire/frame.ts';
import { memberAt } from '../wire/locate.ts';
import { briefOf, idTextOf, sessionTokenOf } from '../wire/long-frame.ts';
import { soon } from '../wire/soon.ts';
import { patchedId, patchedText, type Tap, type Watcher } from '../wire/tap.ts';
import type { Patch } from '../wire/writer.ts';
import { recordsOf } from './frame-records.ts';
import { createChunkJoiner } from './join-chunks.ts';
import type { LineSink } from './line-sink.ts';
import type { Secrets } from './redact.ts';
import { redactJsonText } from './redact-json.ts';

export type Side = 'editor' | 'agent';

export type FrameLog = {
  watch(leg: string, side: Side): Watcher & { readonly tap: Tap };
  /** Makes lines of what has come so far. */
  settle(): void;
  close(): Promise<void>;
};

export type FrameLogOptions = {
  readonly hasPayloads: boolean;
  readonly sink: LineSink;
  readonly secrets: Secrets;
  readonly now: () => number;
  readonly monotonicMs: () => number;
};

type Asked = { readonly method: string; readonly atMs: number };

type LegState = {
  readonly name: string;
  /** What stands behind the time in every line: the leg, the way, and all of the kind but its name. */
  readonly received: string;
  readonly sent: string;
  /** Requests without an answer: the peer's own, and those put to it. */
  readonly theirs: Map<string, Asked>;
  readonly ours: Map<string, Asked>;
  /** The last lines, and how many records they are. */
  readonly last: (string | Run)[];
  lastRecords: number;
};

/** What has passed and is not a line yet. `line` is one of ours, or one that is no frame. */
type Passed = {
  readonly leg: LegState;
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
type Run = {
  readonly leg: LegState;
  readonly t: number;
  readonly method: string;
  readonly hasSession: boolean;
  /** Whether they are all of the first one's session. */
  isOfOne: boolean;
  readonly sessions: string[];
  readonly sizes: number[];
};

const LAST_FRAMES = 50;
const MOST_ASKED = 10_000;
const MOST_SESSIONS = 10_000;
const MOST_METHODS = 100;
/** Redacting takes time; above this a payload is left out. */
const MAX_PAYLOAD_BYTES = 256 * 1024;
/** What may wait to be made into lines, and how much of it is done before others get their turn. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;
const SLICE_BYTES = 256 * 1024;
/** Without payloads little waits, and it may wait a moment: whoever answers at once is not held up by a line about the question. */
const DRAIN_MS = 5;
const DRAIN_RECORDS = 256;
/** A frame is held by its line until that is made; a large one counts as many. */
const RECORD_BYTES = 1024;

export function createFrameLog({ hasPayloads, sink, secrets, now, monotonicMs }: FrameLogOptions): FrameLog {
  let waiting: (Passed | Run)[] = [];
  /** The last one that waits, as long as it goes on. */
  let run: Run | undefined;
  let waitingBytes = 0;
  let waitingRecords = 0;
  let timer: NodeJS.Timeout | undefined;
  let immediate: NodeJS.Immediate | undefined;
  let t = 0;
  let isTimeKnown = false;
  const sessions = new Map<string, string>();
  const named = new Beside<string>();
  const methods = new Map<string, string>();
  const joiner = hasPayloads ? createChunkJoiner(secrets) : undefined;

  function add(passed: Passed, bytes: number): void {
    if (waitingBytes > MAX_WAITING_BYTES) return sink.drop(1);
    run = undefined;
    waiting.push(passed);
    waitingBytes += hasPayloads ? bytes : 0;
    schedule(1 + Math.floor(bytes / RECORD_BYTES));
  }
  function addToRun(leg: LegState, frame: Frame): void {
    const at = time();
    const { method = '' } = frame;
    const hasSession = frame.sessionId !== undefined;
    if (run?.leg !== leg || run.t !== at || run.method !== method || run.hasSession !== hasSession) {
      run = { leg, t: at, method, hasSession, isOfOne: true, sessions: [], sizes: [] };
      waiting.push(run);
    }
    if (hasSession) {
      const whose = sessionOf(frame);
      if (run.isOfOne && run.sessions.length > 0) run.isOfOne = whose === run.sessions[0];
      run.sessions.push(whose);
    }
    run.sizes.push(frame.end - frame.start);
    schedule(1);
  }
  function schedule(records: number): void {
    waitingRecords += records;
    if (waitingRecords >= DRAIN_RECORDS || hasPayloads) immediate ??= setImmediate(drain);
    else timer ??= setTimeout(drain, DRAIN_MS).unref();
  }
  /** Frames of one chunk come at one time, as far as a log is concerned. */
  function time(): number {
    if (isTimeKnown) return t;
    isTimeKnown = true;
    soon(forgetTime);
    t = now();
    return t;
  }
  function forgetTime(): void {
    isTimeKnown = false;
  }

  function drain(): void {
    clearTimeout(timer);
    timer = undefined;
    clearImmediate(immediate);
    immediate = undefined;
    waitingRecords = 0;
    run = undefined;
    let text = '';
    let count = 0;
    let done = 0;
    for (let bytes = 0; done < waiting.length && bytes < SLICE_BYTES; done++) {
      const passed = waiting[done] as Passed | Run;
      if ('sizes' in passed) {
        text += lineOfRun(passed);
        count += passed.sizes.length;
        remember(passed.leg, passed, passed.sizes.length);
        continue;
      }
      if (hasPayloads) bytes += sizeOf(passed);
      const lines = linesOf(passed);
      if (lines === '') continue;
      for (const line of hasPayloads ? lines.trimEnd().split('\n') : [lines]) remember(passed.leg, line, 1);
      text += lines;
      count++;
    }
    waiting = done === waiting.length ? [] : waiting.slice(done);
    if (waiting.length === 0) waitingBytes = 0;
    if (count > 0) sink.write(text, count);
    if (waiting.length > 0) schedule(0);
  }
  function settle(): void {
    while (waiting.length > 0) drain();
    if (joiner) for (const line of joiner.endAll()) sink.write(line, 1);
  }
  /** As many of the last ones as make up the records that are wanted; which those are is found out if anybody asks. */
  function remember(leg: LegState, line: string | Run, records: number): void {
    leg.last.push(line);
    leg.lastRecords += records;
    for (let oldest = recordsIn(leg.last[0]); leg.lastRecords - oldest >= LAST_FRAMES; oldest = recordsIn(leg.last[0])) {
      leg.last.shift();
      leg.lastRecords -= oldest;
    }
  }
  /** One line, with a list of sizes; and a list of sessions, unless it is one. Whoever reads it makes one record of each size. */
  function lineOfRun(one: Run): string {
    const { leg, t: at, method, sessions: whose, sizes } = one;
    const size = sizes.length === 1 ? sizes[0] : `[${sizes.join(',')}]`;
    return `{"t":${at}${leg.received}notification"${called(method)}${one.hasSession ? `,"session":${one.isOfOne ? whose[0] : `[${whose.join(',')}]`}` : ''},"bytes":${size}}\n`;
  }
  /** Usually one; none while chunks are joined, and two when that ends. */
  function linesOf(passed: Passed): string {
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
    const token = sessionTokenOf(frame);
    let bytes = frame.end - frame.start;
    for (const { span, text } of patches) bytes += Buffer.byteLength(text) - (span.end - span.start);
    // Kept for sessions of which much is heard.
    return `${token === undefined ? '' : `,"session":${sessions.get(token) ?? secrets.redact(token)}`},"bytes":${bytes}`;
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

  function watch(name: string, side: Side): ReturnType<FrameLog['watch']> {
    const clean = secrets.redact(name);
    const before = (way: string) => `,"leg":${JSON.stringify(clean)},"dir":"${way}","kind":"`;
    const leg: LegState = {
      name: clean,
      received: before(side === 'editor' ? 'fromEditor' : 'fromAgent'),
      sent: before(side === 'editor' ? 'toEditor' : 'toAgent'),
      theirs: new Map(),
      ours: new Map(),
      ...{ last: [], lastRecords: 0 },
    };
    const tap: Tap = {
      skips: { sentNotes: true },
      received(frame) {
        if (frame.kind === 'notification' && !hasPayloads) return addToRun(leg, frame);
        const idText = frame.id && idTextOf(frame);
        add({ leg, isReceived: true, frame, idText, line: undefined, t: time(), atMs: monotonicMs() }, frame.end - frame.start);
      },
      refused: (line) =>
        add(
          { leg, isReceived: true, frame: undefined, idText: undefined, line: line.toString('utf8', 0, 4096), t: time(), atMs: 0 },
          line.length,
        ),
      sent(frame, patches: readonly Patch[]) {
        // It was in the log when it came; a request or an answer has another id here.
        if (frame.kind === 'notification') return;
        add(
          { leg, isReceived: false, frame, idText: patchedId(frame, patches), line: undefined, patches, t: time(), atMs: monotonicMs() },
          hasPayloads ? 0 : frame.end - frame.start,
        );
      },
      sentLine: (line) =>
        add({ leg, isReceived: false, frame: undefined, idText: undefined, line, t: time(), atMs: monotonicMs() }, line.length),
    };
    return {
      tap,
      lastFrames() {
        settle();
        const records = leg.last.flatMap((line) => recordsOf(JSON.parse(typeof line === 'string' ? line : lineOfRun(line))));
        return records.slice(-LAST_FRAMES);
      },
      down(reason) {
        settle();
        sink.write(`${JSON.stringify({ t: now(), leg: leg.name, event: 'down', reason })}\n`, 1);
      },
    };
  }

  return {
    watch,
    settle,
    async close() {
      settle();
      await sink.close();
    },
  };
}

const recordsIn = (line: string | Run | undefined): number => (typeof line === 'object' ? line.sizes.length : 1);

const sizeOf = ({ frame, line }: Passed): number => (frame ? frame.end - frame.start : (line?.length ?? 0));

/** 0 when the peer gave none. */
function errorCode(frame: Frame): number {
  const { bytes, body } = briefOf(frame);
  const span = memberAt(bytes, body, 'code');
  const code = span === undefined ? 0 : Number(textOf(bytes, span));
  return Number.isFinite(code) ? code : 0;
}
