// Splits a byte stream into lines at 0x0A only: CR and U+2028 are legal inside JSON, and other splitters break on them.

import { LF } from '../frame.ts';
import type { Elided, Elider } from '../scanner/elide.ts';
import { LARGE_FRAME_BYTES } from '../scanner/large-frame.ts';

/** The parts of an oversized line that are kept to find out who waits for an answer. */
const HEAD_BYTES = 4096;
const TAIL_BYTES = 512;

export type Oversized = { readonly head: Buffer; readonly tail: Buffer; readonly bytes: number };

export type LineSplitter = {
  push(chunk: Buffer): void;
  /** The stream has ended; a last line without a line feed still counts. */
  end(): void;
};

export function createLineSplitter(options: {
  readonly maxFrameBytes: number;
  /** One or more whole lines: the last byte of `bytes[start..end)` is a line feed. */
  readonly onLines: (bytes: Buffer, start: number, end: number) => void;
  readonly onOversized: (line: Oversized) => void;
  /** Large lines stay in pieces if both are given. `onLarge` returns false to get the line in one piece, through `onLines`. */
  readonly elider?: Elider;
  readonly onLarge?: (pieces: readonly Buffer[], byteLength: number, elided: Elided) => boolean;
}): LineSplitter {
  const { maxFrameBytes, onLines, onOversized, onLarge, elider } = options;
  // Pieces of the incomplete line. They are joined once: appending to one buffer would be quadratic.
  let pieces: Buffer[] = [];
  let pieceBytes = 0;
  /** How many of the pieces the elider has seen. */
  let elided = 0;
  let skipping: { head: Buffer; tail: Buffer; bytes: number } | undefined;

  /** `feed` is 1 when the piece ends with the line feed, which does not count towards the limit. */
  function keep(piece: Buffer, feed: 0 | 1): void {
    if (skipping) skip(piece);
    else if (pieceBytes + piece.length - feed > maxFrameBytes) {
      skipping = { head: Buffer.alloc(0), tail: Buffer.alloc(0), bytes: 0 };
      for (const earlier of pieces) skip(earlier);
      skip(piece);
      takePieces();
      elider?.end();
    } else {
      pieces.push(piece);
      pieceBytes += piece.length;
      // While the piece is in the CPU cache, and not all pieces at once when the last one has arrived.
      if (elider && pieceBytes > LARGE_FRAME_BYTES) while (elided < pieces.length) elider.push(pieces[elided++] as Buffer);
    }
  }
  function skip(piece: Buffer): void {
    if (!skipping) return;
    if (skipping.head.length < HEAD_BYTES) skipping.head = Buffer.concat([skipping.head, piece]).subarray(0, HEAD_BYTES);
    // A copy: a slice would keep the whole piece in memory.
    skipping.tail = Buffer.from(Buffer.concat([skipping.tail, piece.subarray(-TAIL_BYTES)]).subarray(-TAIL_BYTES));
    skipping.bytes += piece.length;
  }
  /** `piece` ends the line, with its line feed. */
  function finish(piece: Buffer): void {
    keep(piece, 1);
    if (skipping) {
      onOversized({ ...skipping, head: Buffer.from(skipping.head), bytes: skipping.bytes - 1 });
      skipping = undefined;
      return;
    }
    const byteLength = pieceBytes;
    const brief = elided > 0 ? elider?.end() : undefined;
    const taken = takePieces();
    if (brief && onLarge?.(taken, byteLength, brief)) return;
    const line = taken.length === 1 ? piece : Buffer.concat(taken, byteLength);
    onLines(line, 0, line.length);
  }
  function takePieces(): readonly Buffer[] {
    const taken = pieces;
    pieces = [];
    pieceBytes = 0;
    elided = 0;
    return taken;
  }

  return {
    push(chunk) {
      let from = 0;
      if (pieceBytes > 0 || skipping) {
        const lf = chunk.indexOf(LF);
        if (lf === -1) return keep(chunk, 0);
        finish(chunk.subarray(0, lf + 1));
        from = lf + 1;
      }
      const behind = chunk.lastIndexOf(LF) + 1;
      if (behind > from) onLines(chunk, from, behind);
      if (Math.max(behind, from) < chunk.length) keep(chunk.subarray(Math.max(behind, from)), 0);
    },
    end() {
      if (pieceBytes > 0 || skipping) finish(Buffer.from([LF]));
    },
  };
}
