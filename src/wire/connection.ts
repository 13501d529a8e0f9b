// One connection to a peer: reads bytes as frames, writes frames as bytes. It knows JSON-RPC, but neither ACP nor the transport.
import { isUtf8 } from 'node:buffer';
import type { Sink, Source } from './byte-stream.ts';
import { type Frame, LF } from './frame.ts';
import { createLineSplitter } from './framing/ndjson.ts';
import { type Observer, observeReceived } from './observer.ts';
import { endOf, type FrameBatch, framesOf } from './scanner/frame-batch.ts';
import { type Envelope, envelopeOfOversized, largeFrame } from './scanner/large-frame.ts';
import type { Scanner } from './scanner/scanner.ts';
import { type Refusal, strictParse } from './scanner/strict-parse.ts';
import { createWriter, type Writer } from './writer.ts';

/** A line that exceeds the frame limit; `idText`, `kind` and `method` if its first and last bytes contain them. */
export type OversizedFrame = Envelope & { readonly bytes: number };

export type ConnectionEvents = {
  frame(frame: Frame): void;
  /** Frames that differ in one text and their session only. False if they are to be reported one by one; undefined where they always are. */
  batch?(batch: FrameBatch): boolean;
  refused(refusal: Refusal, line: Buffer): void;
  oversized(frame: OversizedFrame): void;
  /** The stream has ended. A last line without a line feed may still follow, then `end`. */
  ending?(): void;
  /** The peer will send no more. */
  end(): void;
  /** The peer does not read what we write; `drain` follows. */
  full?(): void;
  drain?(): void;
  error?(error: Error): void;
  /** Other peers wait for their turn: the next lines are handled after them, and nothing more is read until then. */
  mustYield?(): boolean;
};

export type ConnectionSettings = {
  readonly scanner: Scanner;
  readonly maxFrameBytes: number;
  readonly observer?: Observer | undefined;
};

export type Connection = {
  readonly writer: Writer;
  /** Stop and continue reading from the peer. */
  pause(): void;
  resume(): void;
};

type Lines = { readonly bytes: Buffer; readonly at: number; readonly end: number; readonly isText: boolean };

/** A larger buffer is released before the next one arrives. */
const LARGE_BYTES = 1 << 20;

export function createConnection(
  input: Source,
  output: Sink,
  { scanner, maxFrameBytes, observer }: ConnectionSettings,
  on: ConnectionEvents,
): Connection {
  const writer = createWriter(
    output,
    {
      full: () => on.full?.(),
      drain: () => on.drain?.(),
      error: (error) => on.error?.(error),
    },
    observer,
  );
  const splitter = createLineSplitter({
    maxFrameBytes,
    onOversized: ({ head, tail, bytes }) => on.oversized({ ...envelopeOfOversized(head, tail), bytes }),
    elider: scanner.createElider(),
    onLarge(pieces, byteLength, { line, cuts }) {
      handleLater();
      const brief = isUtf8(line) ? scanner.scan(line, 0) : undefined;
      const frame = brief && largeFrame(brief, cuts, pieces, byteLength);
      if (!frame) return false;
      handOver(frame);
      scanner.afterLargeFrame?.(byteLength);
      return true;
    },
    onLines(bytes, start, end) {
      // One check for all lines of the chunk. Only if it fails, each line is checked.
      const isText = isUtf8(start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end));
      if (later.length > 0) later.push({ bytes, at: start, end, isText });
      else handleLines({ bytes, at: start, end, isText });
      if (bytes.length > LARGE_BYTES) scanner.releaseChunk();
    },
  });

  // Lines that wait for their turn. Nothing is read meanwhile, so they are at most a chunk or two.
  const later: Lines[] = [];
  let isPaused = false;
  let isWaiting = false;
  function handleLines({ bytes, at: start, end, isText }: Lines): void {
    for (let at = start; at < end; ) {
      at = nextLines(bytes, at, end, isText);
      if (at === end || !on.mustYield?.()) continue;
      later.unshift({ bytes, at, end, isText });
      input.pause();
      if (!isWaiting) setImmediate(nextTurn);
      isWaiting = true;
      return;
    }
  }
  function nextTurn(): void {
    isWaiting = false;
    const lines = later.shift();
    if (lines !== undefined) handleLines(lines);
    if (isWaiting) return;
    if (later.length === 0) {
      if (!isPaused) input.resume();
      return;
    }
    isWaiting = true;
    setImmediate(nextTurn);
  }
  /** What comes next must not overtake them. */
  function handleLater(): void {
    for (let lines = later.shift(); lines !== undefined; lines = later.shift())
      for (let { at } = lines; at < lines.end; ) at = nextLines(lines.bytes, at, lines.end, lines.isText);
  }

  /** Reports the line at `start`, with those that can be reported with it, and returns where the next one begins. */
  function nextLines(bytes: Buffer, start: number, behind: number, isText: boolean): number {
    const frame = isText ? scanner.scan(bytes, start) : undefined;
    if (frame !== undefined) {
      if (frame.end - start > maxFrameBytes) tooLong(bytes, start, frame.end);
      else {
        const batch = on.batch && frame.end + 1 < behind ? scanner.batchFrom(frame, behind, maxFrameBytes) : undefined;
        if (batch) return handOverBatch(batch);
        handOver(frame);
      }
      return frame.end + 1;
    }
    const end = bytes.indexOf(LF, start);
    if (end - start > maxFrameBytes) tooLong(bytes, start, end);
    else if (!isBlank(bytes, start, end)) {
      const decided = strictParse(bytes, start, end);
      if ('why' in decided) {
        const line = bytes.subarray(start, end);
        on.refused(decided, line);
        observer?.refused(line);
      } else handOver(decided);
    }
    return end + 1;
  }
  function handOver(frame: Frame): void {
    observer?.received(frame);
    on.frame(frame);
  }
  function handOverBatch(batch: FrameBatch): number {
    if (observer) observeReceived(observer, batch);
    if (!on.batch?.(batch)) for (const frame of framesOf(batch)) on.frame(frame);
    return endOf(batch);
  }
  function tooLong(bytes: Buffer, start: number, end: number): void {
    on.oversized({
      ...envelopeOfOversized(bytes.subarray(start, Math.min(end, start + 4096)), bytes.subarray(Math.max(start, end - 512), end)),
      bytes: end - start,
    });
  }

  input.on('data', (chunk: Buffer) => splitter.push(chunk));
  let isOver = false;
  function end(): void {
    if (isOver) return;
    isOver = true;
    handleLater();
    on.ending?.();
    splitter.end();
    on.end();
  }
  input.on('end', end);
  input.on('close', end);
  input.on('error', (error: Error) => {
    on.error?.(error);
    end();
  });
  return {
    writer,
    pause() {
      isPaused = true;
      input.pause();
    },
    resume() {
      isPaused = false;
      if (later.length === 0) input.resume();
    },
  };
}

function isBlank(bytes: Buffer, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if ((bytes[i] as number) > 0x20) return false;
  return true;
}
