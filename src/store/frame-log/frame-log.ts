// Records every frame: time, connection, direction, kind, session, size and latency. Payloads are recorded only on request, redacted. Lines
// are formatted in batches after the frames have been forwarded.

import type { Secrets } from '../../redaction/redact.ts';
import type { Frame } from '../../wire/frame.ts';
import { type ConnectionRecords, type Observer, patchedId } from '../../wire/observer.ts';
import type { FrameBatch } from '../../wire/scanner/frame-batch.ts';
import type { Interned } from '../../wire/scanner/interned.ts';
import { idTextOf } from '../../wire/scanner/large-frame.ts';
import { inMicrotask, type Patch } from '../../wire/writer.ts';
import { createFrameLines, type LoggedConnection, type Passed, type Run, type Side, sizeOf } from './frame-lines.ts';
import type { LineSink } from './line-sink.ts';

export type FrameLog = {
  watch(connection: string, side: Side): Pick<ConnectionRecords, 'down'> & { readonly observer: Observer };
  /** Formats everything queued so far. */
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

/** The limit of the queue, and how much of it is formatted before other events get a turn. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;
const SLICE_BYTES = 256 * 1024;
const SLICE_LINES = 32;
/** If more than that arrives: an eighth of the queue at once, so that the queue stops growing. */
const PART_OF_BACKLOG_BITS = 3;
/** Without payloads the queue is small, so it waits a moment: an immediate answer is not delayed by formatting its request. */
const DRAIN_MS = 5;
const DRAIN_RECORDS = 256;
/** Formatting a single line takes as long as this many notifications in a run. */
const LINE_RECORDS = 8;
/** A queued frame stays in memory; a large one counts as several records. */
const RECORD_BYTES = 1024;

export function createFrameLog({ hasPayloads, sink, secrets, now, monotonicMs }: FrameLogOptions): FrameLog {
  let waiting: (Passed<LoggedConnection> | Run<LoggedConnection>)[] = [];
  /** The frames to format now, in reverse order, so that `pop` removes them cheaply. */
  let due: (Passed<LoggedConnection> | Run<LoggedConnection>)[] = [];
  /** The run at the end of the queue, while it continues. */
  let run: Run<LoggedConnection> | undefined;
  let waitingBytes = 0;
  let waitingRecords = 0;
  let timer: NodeJS.Timeout | undefined;
  let immediate: NodeJS.Immediate | undefined;
  let t = 0;
  let isTimeKnown = false;
  const lines = createFrameLines(hasPayloads, secrets);

  function add(passed: Passed<LoggedConnection>, bytes: number): void {
    if (waitingBytes > MAX_WAITING_BYTES) return sink.drop(1);
    run = undefined;
    waiting.push(passed);
    waitingBytes += heldBy(passed);
    schedule(LINE_RECORDS + Math.floor(bytes / RECORD_BYTES));
  }
  /** The memory that only the queue holds. A sent frame is already counted as a received one. */
  function heldBy(passed: Passed): number {
    return hasPayloads && (passed.isReceived || passed.frame === undefined) ? sizeOf(passed) : 0;
  }
  function addToRun(connection: LoggedConnection, frame: Frame): void {
    const whose = frame.sessionId === undefined ? '' : lines.sessionOf(frame);
    const { sizes, isOfOne, sessions } = runFor(connection, frame, whose);
    sizes.push(frame.end - frame.start);
    if (!isOfOne) sessions.push(whose);
    schedule(1);
  }
  function addBatch(connection: LoggedConnection, { first, ends, sessions: ofEach }: FrameBatch): void {
    const whose = first.sessionId === undefined ? '' : lines.sessionOf(first);
    const open = runFor(connection, first, whose);
    const { sizes, sessions } = open;
    const before = sizes.length;
    addSizes(sizes, first.start, ends);
    if (ofEach) {
      fill(open, before);
      for (let k = 0; k < ofEach.length; k++) sessions.push(lines.sessionOfInterned(ofEach[k] as Interned));
    } else if (!open.isOfOne) while (sessions.length < sizes.length) sessions.push(whose);
    schedule(ends.length);
  }
  /** The run is of several sessions from now on: names the session of each of its first frames. */
  function fill(one: Run, frames: number): void {
    if (!one.isOfOne) return;
    const [first = ''] = one.sessions;
    one.isOfOne = false;
    one.sessions.length = Math.min(one.sessions.length, frames);
    while (one.sessions.length < frames) one.sessions.push(first);
  }
  /** The run that the frame goes on with, or a new one. */
  function runFor(connection: LoggedConnection, { method = '', sessionId }: Frame, whose: string): Run<LoggedConnection> {
    const at = time();
    const hasSession = sessionId !== undefined;
    if (run?.connection !== connection || run.t !== at || run.method !== method || run.hasSession !== hasSession) {
      run = { connection, t: at, method, hasSession, isOfOne: true, sessions: [whose], sizes: [] };
      waiting.push(run);
    } else if (whose !== run.sessions[0]) fill(run, run.sizes.length);
    return run;
  }
  function schedule(records: number): void {
    waitingRecords += records;
    if (waitingRecords >= DRAIN_RECORDS || hasPayloads) immediate ??= setImmediate(drain);
    else timer ??= setTimeout(drain, DRAIN_MS).unref();
  }
  /** Frames of one chunk share one timestamp. */
  function time(): number {
    if (isTimeKnown) return t;
    isTimeKnown = true;
    inMicrotask(forgetTime);
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
    if (due.length === 0) {
      // Reuses the arrays: V8 assumes that a new empty array holds numbers, and the code compiled for that must be discarded.
      [due, waiting] = [waiting.reverse(), due];
      run = undefined;
    }
    const most = Math.max(SLICE_LINES, (due.length + waiting.length) >> PART_OF_BACKLOG_BITS);
    let text = '';
    let count = 0;
    for (let bytes = 0, done = 0; done < most && bytes < SLICE_BYTES; done++) {
      const passed = due.pop();
      if (passed === undefined) break;
      if ('sizes' in passed) {
        text += lines.ofRun(passed);
        count += passed.sizes.length;
        continue;
      }
      waitingBytes -= heldBy(passed);
      if (hasPayloads) bytes += sizeOf(passed);
      const made = lines.of(passed);
      if (made === '') continue;
      text += made;
      count++;
    }
    if (count > 0) sink.write(text, count);
    if (due.length + waiting.length > 0) immediate = setImmediate(drain);
  }
  function settle(): void {
    while (due.length + waiting.length > 0) drain();
    for (const line of lines.endAll()) sink.write(line, 1);
  }

  function watch(name: string, side: Side): ReturnType<FrameLog['watch']> {
    const connection = lines.connection(name, side);
    const observer: Observer = {
      skips: { sentNotes: true },
      received(frame) {
        if (frame.kind === 'notification' && !hasPayloads) return addToRun(connection, frame);
        const idText = frame.id && idTextOf(frame);
        add({ connection, isReceived: true, frame, idText, line: undefined, t: time(), atMs: monotonicMs() }, frame.end - frame.start);
      },
      ...(!hasPayloads && { receivedBatch: (batch: FrameBatch) => addBatch(connection, batch) }),
      refused: (line) =>
        add(
          { connection, isReceived: true, frame: undefined, idText: undefined, line: line.toString('utf8', 0, 4096), t: time(), atMs: 0 },
          line.length,
        ),
      sent(frame, patches: readonly Patch[]) {
        // Logged when it was received. Requests and responses are logged again, because their id changes.
        if (frame.kind === 'notification') return;
        add(
          {
            connection,
            isReceived: false,
            frame,
            idText: patchedId(frame, patches),
            line: undefined,
            patches,
            t: time(),
            atMs: monotonicMs(),
          },
          hasPayloads ? 0 : frame.end - frame.start,
        );
      },
      sentLine: (line) =>
        add({ connection, isReceived: false, frame: undefined, idText: undefined, line, t: time(), atMs: monotonicMs() }, line.length),
    };
    return {
      observer,
      down(reason) {
        settle();
        sink.write(`${JSON.stringify({ t: now(), leg: connection.name, event: 'down', reason })}\n`, 1);
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

/** By itself: V8 optimizes a function with a loop as a whole, with all that it calls (goal G15). */
function addSizes(sizes: number[], first: number, ends: readonly number[]): void {
  let start = first;
  for (let k = 0; k < ends.length; k++) {
    const end = ends[k] as number;
    sizes.push(end - start);
    start = end + 1;
  }
}
