// Frames in a row of one chunk that differ in one text only, as the chunks of a message do: routed, written and recorded as one.
// Gain: see docs/performance.md, goals G1 and G15. The work per frame is one loop here and one in each record, so V8 has few functions to compile.
import type { Frame, Span } from '../frame.ts';

/** They match one template and name one session. `first` stands for all of them, except for the text. */
export type FrameBatch = {
  readonly first: Frame;
  /** Where each frame ends, `first` included; the next one begins behind its line feed. At least two. */
  readonly ends: readonly number[];
};

/** A batch is handled without a pause; a chunk of an in-process transport may be long. */
const MAX_BATCH_BYTES = 256 * 1024;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LETTER_U = 0x75;
const FIRST_PLAIN = 0x20;

/** 1 for what may follow a backslash, besides `u`; 2 for a hexadecimal digit. */
const CLASSES = new Uint8Array(256);
for (const c of '0123456789abcdefABCDEF') CLASSES[c.charCodeAt(0)] = 2;
for (const c of '"\\/bfnrt') CLASSES[c.charCodeAt(0)] = (CLASSES[c.charCodeAt(0)] as number) | 1;

/**
 * The frames from `first` on that repeat its bytes around the text; undefined if there is only one. `bytes[first.start..limit)` is whole lines
 * of valid UTF-8, and `view` is a view of `bytes`. One function: V8 compiles it once, and would compile its parts into each of their callers.
 */
export function batchFrom(first: Frame, view: DataView, limit: number, maxFrameBytes: number): FrameBatch | undefined {
  const { bytes, start, text } = first;
  if (text === undefined) return undefined;
  const headLength = text.start + 1 - start;
  // From the closing quote to the line feed.
  const tail = text.end - 1;
  const tailLength = first.end + 1 - tail;
  const end = Math.min(limit, start + MAX_BATCH_BYTES);
  const ends: number[] = [first.end];
  for (let at = first.end + 1; at + headLength + tailLength <= end; ) {
    let k = 0;
    while (k + 4 <= headLength && view.getInt32(at + k, true) === view.getInt32(start + k, true)) k += 4;
    while (k < headLength && bytes[at + k] === bytes[start + k]) k++;
    if (k < headLength) break;
    // The line feed at the end of the line stops these loops.
    let i = at + headLength;
    for (;;) {
      while (i + 4 <= end) {
        const x = view.getInt32(i, true);
        // The high bit of a byte is set if it is below 0x20, a quote or a backslash. Bytes behind the first one may be wrong.
        if ((((x - 0x20202020) | ((x ^ 0x22222222) - 0x01010101) | ((x ^ 0x5c5c5c5c) - 0x01010101)) & ~x & 0x80808080) !== 0) break;
        i += 4;
      }
      let c = bytes[i] as number;
      while (c >= FIRST_PLAIN && c !== QUOTE && c !== BACKSLASH) c = bytes[++i] as number;
      if (c !== BACKSLASH) break;
      const escaped = bytes[i + 1] as number;
      if (((CLASSES[escaped] as number) & 1) !== 0) i += 2;
      else if (escaped === LETTER_U && isHex(bytes, i + 2) && isHex(bytes, i + 3) && isHex(bytes, i + 4) && isHex(bytes, i + 5)) i += 6;
      else break;
    }
    if (i + tailLength > end) break;
    for (k = 0; k < tailLength && bytes[i + k] === bytes[tail + k]; k++);
    const lineFeed = i + tailLength - 1;
    if (k < tailLength || lineFeed - at > maxFrameBytes) break;
    ends.push(lineFeed);
    at = lineFeed + 1;
  }
  return ends.length > 1 ? { first, ends } : undefined;
}

function isHex(bytes: Buffer, at: number): boolean {
  return ((CLASSES[bytes[at] as number] as number) & 2) !== 0;
}

/** The frames one by one. */
export function framesOf({ first, ends }: FrameBatch): readonly Frame[] {
  const moved = (span: Span | undefined, by: number, longer: number) => span && { start: span.start + by, end: span.end + by + longer };
  return ends.map((end, k) => {
    if (k === 0) return first;
    const start = (ends[k - 1] as number) + 1;
    const by = start - first.start;
    const longer = end - by - first.end;
    const { sessionId, body, text } = first;
    return {
      ...first,
      start,
      end,
      sessionId: moved(sessionId, by, 0),
      body: moved(body, by, longer),
      text: moved(text, by, longer),
    };
  });
}

/** Behind the last line feed. */
export function endOf({ ends }: FrameBatch): number {
  return (ends[ends.length - 1] as number) + 1;
}
