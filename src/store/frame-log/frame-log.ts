// Every frame that passes, in one record each: when, on which leg, which way, what it is, whose, how long it is, how long its answer took.
// With payloads only on request, and then redacted. Lines are made after the frames have gone on, in batches.

import type { Secrets } from '../../redaction/redact.ts';
import type { Frame } from '../../wire/frame.ts';
import { type Observer, patchedId, type Watcher } from '../../wire/observer.ts';
import type { FrameBatch } from '../../wire/scanner/frame-batch.ts';
import { idTextOf } from '../../wire/scanner/large-frame.ts';
import { inMicrotask, type Patch } from '../../wire/writer.ts';
import { createFrameLines, type LoggedConnection, type Passed, type Run, recordsOf, type Side, sizeOf } from './frame-lines.ts';
import type { LineSink } from './line-sink.ts';

export type FrameLog = {
  watch(leg: string, side: Side): Watcher & { readonly observer: Observer };
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

/** A leg, its last lines, and how many records they are. */
type WatchedConnection = LoggedConnection & { readonly last: (string | Run)[]; lastRecords: number };

const LAST_FRAMES = 50;
/** What may wait to be made into lines, and how much of it is done before others get their turn. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;
const SLICE_BYTES = 256 * 1024;
const SLICE_LINES = 32;
/** And when more comes than that: an eighth of what waits, so that it does not become ever more. */
const PART_OF_BACKLOG_BITS = 3;
/** Without payloads little waits, and it may wait a moment: whoever answers at once is not held up by a line about the question. */
const DRAIN_MS = 5;
const DRAIN_RECORDS = 256;
/** A line by itself takes as long as so many notifications in a row. */
const LINE_RECORDS = 8;
/** A frame is held by its line until that is made; a large one counts as many. */
const RECORD_BYTES = 1024;

export function createFrameLog({ hasPayloads, sink, secrets, now, monotonicMs }: FrameLogOptions): FrameLog {
  let waiting: (Passed<WatchedConnection> | Run<WatchedConnection>)[] = [];
  /** Those among them whose turn it is, the last one first, so that they can be taken off one by one. */
  let due: (Passed<WatchedConnection> | Run<WatchedConnection>)[] = [];
  /** The last one that waits, as long as it goes on. */
  let run: Run<WatchedConnection> | undefined;
  let waitingBytes = 0;
  let waitingRecords = 0;
  let timer: NodeJS.Timeout | undefined;
  let immediate: NodeJS.Immediate | undefined;
  let t = 0;
  let isTimeKnown = false;
  const lines = createFrameLines(hasPayloads, secrets);

  function add(passed: Passed<WatchedConnection>, bytes: number): void {
    if (waitingBytes > MAX_WAITING_BYTES) return sink.drop(1);
    run = undefined;
    waiting.push(passed);
    waitingBytes += heldBy(passed);
    schedule(LINE_RECORDS + Math.floor(bytes / RECORD_BYTES));
  }
  /** What is in memory for a line alone. A frame that was sent is there for the line of its coming. */
  function heldBy(passed: Passed): number {
    return hasPayloads && (passed.isReceived || passed.frame === undefined) ? sizeOf(passed) : 0;
  }
  function addToRun(leg: WatchedConnection, frame: Frame): void {
    const whose = frame.sessionId === undefined ? '' : lines.sessionOf(frame);
    const { sizes, isOfOne, sessions } = runFor(leg, frame, whose);
    sizes.push(frame.end - frame.start);
    if (!isOfOne) sessions.push(whose);
    schedule(1);
  }
  function addBatch(leg: WatchedConnection, { first, ends }: FrameBatch): void {
    const whose = first.sessionId === undefined ? '' : lines.sessionOf(first);
    const { sizes, isOfOne, sessions } = runFor(leg, first, whose);
    addSizes(sizes, first.start, ends);
    if (!isOfOne) while (sessions.length < sizes.length) sessions.push(whose);
    schedule(ends.length);
  }
  /** The run that the frame goes on with, or a new one. */
  function runFor(leg: WatchedConnection, { method = '', sessionId }: Frame, whose: string): Run<WatchedConnection> {
    const at = time();
    const hasSession = sessionId !== undefined;
    if (run?.leg !== leg || run.t !== at || run.method !== method || run.hasSession !== hasSession) {
      run = { leg, t: at, method, hasSession, isOfOne: true, sessions: [whose], sizes: [] };
      waiting.push(run);
    } else if (run.isOfOne && whose !== run.sessions[0]) {
      run.isOfOne = false;
      while (run.sessions.length < run.sizes.length) run.sessions.push(run.sessions[0] as string);
    }
    return run;
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
      // Not by a new list: V8 takes an empty one for a list of numbers, and what it compiled for that is of no use.
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
        remember(passed.leg, passed, passed.sizes.length);
        continue;
      }
      waitingBytes -= heldBy(passed);
      if (hasPayloads) bytes += sizeOf(passed);
      const made = lines.of(passed);
      if (made === '') continue;
      for (const line of hasPayloads ? made.trimEnd().split('\n') : [made]) remember(passed.leg, line, 1);
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
  /** As many of the last ones as make up the records that are wanted; which those are is found out if anybody asks. */
  function remember(leg: WatchedConnection, line: string | Run, records: number): void {
    leg.last.push(line);
    leg.lastRecords += records;
    for (let oldest = recordsIn(leg.last[0]); leg.lastRecords - oldest >= LAST_FRAMES; oldest = recordsIn(leg.last[0])) {
      leg.last.shift();
      leg.lastRecords -= oldest;
    }
  }

  function watch(name: string, side: Side): ReturnType<FrameLog['watch']> {
    const leg: WatchedConnection = { ...lines.leg(name, side), last: [], lastRecords: 0 };
    const observer: Observer = {
      skips: { sentNotes: true },
      received(frame) {
        if (frame.kind === 'notification' && !hasPayloads) return addToRun(leg, frame);
        const idText = frame.id && idTextOf(frame);
        add({ leg, isReceived: true, frame, idText, line: undefined, t: time(), atMs: monotonicMs() }, frame.end - frame.start);
      },
      ...(!hasPayloads && { receivedBatch: (batch: FrameBatch) => addBatch(leg, batch) }),
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
      observer,
      lastFrames() {
        settle();
        const records = leg.last.flatMap((line) => recordsOf(JSON.parse(typeof line === 'string' ? line : lines.ofRun(line))));
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

/** By itself: V8 optimizes a function with a loop as a whole, with all that it calls (goal G15). */
function addSizes(sizes: number[], first: number, ends: readonly number[]): void {
  let start = first;
  for (let k = 0; k < ends.length; k++) {
    const end = ends[k] as number;
    sizes.push(end - start);
    start = end + 1;
  }
}

const recordsIn = (line: string | Run | undefined): number => (typeof line === 'object' ? line.sizes.length : 1);
