// Collects what one read chunk leads to and writes it at once: a write per frame would double the cost of a frame.
// The microtask runs as soon as the chunk has been worked through, so nothing waits for a timer and nobody has to say "flush".
import type { Sink } from './byte-stream.ts';
import type { Frame, Span } from './frame.ts';
import type { Observer } from './observer.ts';
import { isLarge } from './scanner/large-frame.ts';

// Once what runs now is done, before anything else gets a turn. `queueMicrotask` does the same and makes an async resource for each call,
// which takes as long as a small frame.
const over = Promise.resolve();

/** `act` must not throw. */
export function soon(act: () => void): void {
  void over.then(act);
}

/** Up to here the parts are copied into one buffer; above it they go out as they are, in one vectored write. */
const COPY_BYTES = 128 * 1024;

const NO_PATCHES: readonly Patch[] = [];

/** Lists longer than this are not kept. */
const KEPT_PARTS = 1024;

/** A replacement inside a frame; patches are given in the order of their places. */
export type Patch = { readonly span: Span; readonly text: string };

export type Writer = {
  /** Queues a frame with its line feed, byte for byte except for the patches. */
  frame(frame: Frame, patches?: readonly Patch[]): void;
  /** Queues a whole line of ours; `line` ends with a line feed. */
  line(line: string): void;
  /** Bytes that the other side has not taken yet. */
  queuedBytes(): number;
  /** Bytes that it has taken since the beginning. */
  takenBytes(): number;
  /** Flushes and ends the stream; nothing can be written after it. */
  end(): void;
};

export type WriterEvents = { readonly full?: () => void; readonly drain?: () => void; readonly error?: (error: Error) => void };

export function createWriter(output: Sink, on: WriterEvents = {}, observer?: Observer): Writer {
  // The first `count` of each are queued. The lists are kept: to empty them would mean to grow them again with the next frame.
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
    // Untouched neighbours in one chunk leave as they came, in one piece.
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
    if (count === 0) soon(flush);
    parts[count] = part;
    starts[count] = start;
    ends[count] = end;
    count++;
  }
  function flush(): void {
    if (count === 0) return;
    if (isOver) return forget();
    // From here on the other side may answer, and what it leads to is queued anew.
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
  /** Nothing is queued any more, and no chunk is kept for it. */
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

  /** Up to the last of the patches, and where that ends. */
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

/** Patches as a writer wants them. */
export function inOrder(patches: readonly Patch[]): readonly Patch[] {
  return patches.length < 2 ? patches : [...patches].sort((a, b) => a.span.start - b.span.start);
}
