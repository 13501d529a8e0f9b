// Collects the frames that one chunk leads to and writes them at once: one write per frame would double the cost of a frame.
// The write happens in a microtask, right after the chunk was processed: no timer, and no explicit flush.
import type { Sink } from './byte-stream.ts';
import type { Frame, Span } from './frame.ts';
import { type Observer, observeSent } from './observer.ts';
import { endOf, type FrameBatch } from './scanner/frame-batch.ts';
import { isLarge } from './scanner/large-frame.ts';

const RESOLVED = Promise.resolve();

/** Runs `act`, which must not throw. Gain over `queueMicrotask`, which creates an async resource: a tenth of a single write (goal G2). */
export function inMicrotask(act: () => void): void {
  void RESOLVED.then(act);
}

/** Fewer bytes are copied into one buffer; more are sent as they are, in one vectored write. */
const COPY_BYTES = 128 * 1024;

const NO_PATCHES: readonly Patch[] = [];

/** Longer lists are emptied after the write. */
const KEPT_PARTS = 1024;

/** A replacement inside a frame. Patches are sorted by offset. */
export type Patch = { readonly span: Span; readonly text: string };

export type Writer = {
  /** Queues a frame with its line feed, byte for byte except for the patches. */
  frame(frame: Frame, patches?: readonly Patch[]): void;
  /** Queues frames byte for byte. */
  batch(batch: FrameBatch): void;
  /** Queues a line; `line` ends with a line feed. */
  line(line: string): void;
  /** Bytes that the peer has not read yet. */
  queuedBytes(): number;
  /** Bytes that the peer has read since the beginning. */
  takenBytes(): number;
  /** Flushes and ends the stream; nothing can be written after it. */
  end(): void;
};

export type WriterEvents = { readonly full?: () => void; readonly drain?: () => void; readonly error?: (error: Error) => void };

export function createWriter(output: Sink, on: WriterEvents = {}, observer?: Observer): Writer {
  // The first `count` items of each list are queued. The lists keep their length: growing them again would cost time with every frame.
  const parts: (Buffer | string)[] = [];
  const starts: number[] = [];
  const ends: number[] = [];
  let count = 0;
  let bytesWaiting = 0;
  let bytesHandedOver = 0;
  let isOver = false;
  // Without a handler an EPIPE would end the whole process.
  output.on('error', (error: Error) => {
    isOver = true;
    on.error?.(error);
  });
  output.on('drain', () => on.drain?.());

  function range(bytes: Buffer, start: number, end: number): void {
    if (end <= start) return;
    const last = count - 1;
    bytesWaiting += end - start;
    // Neighbours in one chunk leave in one piece.
    if (count > 0 && parts[last] === bytes && ends[last] === start) {
      ends[last] = end;
      return;
    }
    add(bytes, start, end);
  }
  function part(frame: Frame, start: number, end: number): void {
    if (isLarge(frame)) frame.eachPiece(start, end, range);
    else range(frame.bytes, start, end);
  }
  function text(value: string): void {
    const length = Buffer.byteLength(value);
    bytesWaiting += length;
    add(value, 0, length);
  }
  function add(part: Buffer | string, start: number, end: number): void {
    if (count === 0) inMicrotask(flush);
    parts[count] = part;
    starts[count] = start;
    ends[count] = end;
    count++;
  }
  function flush(): void {
    if (count === 0) return;
    if (isOver) return forget();
    // During the write the peer may answer; the frames that follow from it are queued again.
    let isFree = true;
    if (count === 1 || bytesWaiting <= COPY_BYTES) {
      const whole = count === 1 ? slice(0) : joined();
      forget();
      isFree = output.write(whole);
    } else {
      const buffers: Buffer[] = [];
      for (let k = 0; k < count; k++) buffers.push(slice(k));
      forget();
      output.cork();
      for (const buffer of buffers) isFree = output.write(buffer);
      output.uncork();
    }
    if (!isFree) on.full?.();
  }
  /** Empties the queue and releases its chunks. */
  function forget(): void {
    if (count > KEPT_PARTS) {
      parts.length = 0;
      starts.length = 0;
      ends.length = 0;
    } else for (let k = 0; k < count; k++) parts[k] = '';
    count = 0;
    bytesHandedOver += bytesWaiting;
    bytesWaiting = 0;
  }
  function joined(): Buffer {
    const whole = Buffer.allocUnsafe(bytesWaiting);
    for (let k = 0, at = 0; k < count; k++) {
      const part = parts[k] as Buffer | string;
      at += typeof part === 'string' ? whole.write(part, at) : part.copy(whole, at, starts[k], ends[k]);
    }
    return whole;
  }
  function slice(k: number): Buffer {
    const part = parts[k] as Buffer | string;
    return typeof part === 'string' ? Buffer.from(part) : part.subarray(starts[k], ends[k]);
  }

  /** Queues the frame up to the last patch, and returns where that ends. */
  function patched(frame: Frame, patches: readonly Patch[]): number {
    let at = frame.start;
    for (const { span, text: replacement } of patches) {
      part(frame, at, span.start);
      text(replacement);
      at = span.end;
    }
    return at;
  }

  return {
    frame(frame, patches = NO_PATCHES) {
      part(frame, patches.length === 0 ? frame.start : patched(frame, patches), frame.end + 1);
      observer?.sent(frame, patches);
    },
    batch(batch) {
      range(batch.first.bytes, batch.first.start, endOf(batch));
      if (observer) observeSent(observer, batch);
    },
    line(line) {
      text(line);
      observer?.sentLine(line);
    },
    queuedBytes: () => bytesWaiting + output.writableLength,
    takenBytes: () => bytesHandedOver - output.writableLength,
    end() {
      flush();
      isOver = true;
      output.end();
    },
  };
}

/** Sorts patches as the writer expects them. */
export function inOrder(patches: readonly Patch[]): readonly Patch[] {
  return patches.length < 2 ? patches : [...patches].sort((a, b) => a.span.start - b.span.start);
}
