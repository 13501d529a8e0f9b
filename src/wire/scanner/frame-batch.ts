// Frames in a row of one chunk that differ in one text only, as the chunks of a message do, or also in the session id, where sessions
// alternate: routed, written and recorded as one.
// Gain: the first 20,000 frames take 50 instead of 100 ms (goal G15): V8 optimizes a few small loops instead of 37 functions.
// A frame of 1,000 alternating sessions takes 0.72 instead of 0.91 µs in all (goal G7).
import type { Frame, Span } from '../frame.ts';
import type { Interned, InternTable } from './interned.ts';

/** They match one template. `first` stands for all of them, except for the text and the session. */
export type FrameBatch = {
  readonly first: Frame;
  /** Where each frame ends, `first` included; the next one begins after its line feed. At least two. */
  readonly ends: readonly number[];
  /** The session of each frame; undefined if all belong to that of `first`. The ids are equally long. */
  readonly sessions: readonly Interned[] | undefined;
};

/** A batch is handled without a pause; a chunk of an in-process transport may be long. */
const MAX_BATCH_BYTES = 256 * 1024;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LETTER_U = 0x75;
const WORD = 4;

/** 1 for what may follow a backslash, besides `u`; 2 for a hexadecimal digit. */
const CLASSES = new Uint8Array(256);
for (const c of '0123456789abcdefABCDEF') CLASSES[c.charCodeAt(0)] = 2;
for (const c of '"\\/bfnrt') CLASSES[c.charCodeAt(0)] = (CLASSES[c.charCodeAt(0)] as number) | 1;

/**
 * The frames from `first` on that repeat its bytes around the text; undefined if there is only one. `bytes[first.start..limit)` is whole lines
 * of valid UTF-8, and `view` is a view of `bytes`.
 */
export function batchFrom(
  first: Frame,
  view: DataView,
  interned: InternTable,
  limit: number,
  maxFrameBytes: number,
): FrameBatch | undefined {
  const { start, sessionId, text } = first;
  if (sessionId === undefined || text === undefined) return undefined;
  const headLength = text.start + 1 - start;
  // From the closing quote to the line feed. After the text at least two braces are closed, so both parts have a word.
  const tail = text.end - 1;
  const tailLength = first.end + 1 - tail;
  if (headLength < WORD || tailLength < WORD) return undefined;
  const end = Math.min(limit, start + MAX_BATCH_BYTES);
  const at = first.end + 1;
  if (at + headLength + tailLength > end) return undefined;
  // Where sessions alternate, the next frame usually differs in the last digits of the session id.
  const isOfSame = isSame(view, sessionId.end - WORD, sessionId.end - WORD + at - start, WORD);
  return isOfSame
    ? ofOneSession(first, view, text, end, maxFrameBytes)
    : ofSessions(first, view, interned, sessionId, text, end, maxFrameBytes);
}

function ofOneSession(first: Frame, view: DataView, text: Span, end: number, maxFrameBytes: number): FrameBatch | undefined {
  const { bytes, start } = first;
  const headLength = text.start + 1 - start;
  const tail = text.end - 1;
  const tailLength = first.end + 1 - tail;
  const ends: number[] = [first.end];
  let at = first.end + 1;
  while (at + headLength + tailLength <= end) {
    if (!isSame(view, start, at, headLength)) break;
    const textEnd = stringEnd(bytes, view, at + headLength, end - tailLength);
    if (textEnd === -1 || !isSame(view, tail, textEnd, tailLength)) break;
    const lineFeed = textEnd + tailLength - 1;
    if (lineFeed - at > maxFrameBytes) break;
    ends.push(lineFeed);
    at = lineFeed + 1;
  }
  return ends.length > 1 ? { first, ends, sessions: undefined } : undefined;
}

/** Ends before a session that is new to the intern table, or whose id is longer or shorter. */
function ofSessions(
  first: Frame,
  view: DataView,
  interned: InternTable,
  sessionId: Span,
  text: Span,
  end: number,
  maxFrameBytes: number,
): FrameBatch | undefined {
  const { bytes, start, session } = first;
  // From the start to the quote before the id, from the quote after it to the quote before the text, from the quote after that to the end.
  const idStart = sessionId.start + 1 - start;
  const idEnd = sessionId.end - 1 - start;
  const headLength = text.start + 1 - start;
  const tail = text.end - 1;
  const tailLength = first.end + 1 - tail;
  if (session === undefined || idStart < WORD || headLength - idEnd < WORD) return undefined;
  const ends: number[] = [first.end];
  const sessions: Interned[] = [session];
  let at = first.end + 1;
  while (at + headLength + tailLength <= end) {
    if (!isSame(view, start, at, idStart) || !isSame(view, start + idEnd, at + idEnd, headLength - idEnd)) break;
    const known = interned.find(bytes, at + idStart, at + idEnd);
    if (known === undefined) break;
    const textEnd = stringEnd(bytes, view, at + headLength, end - tailLength);
    if (textEnd === -1 || !isSame(view, tail, textEnd, tailLength)) break;
    const lineFeed = textEnd + tailLength - 1;
    if (lineFeed - at > maxFrameBytes) break;
    ends.push(lineFeed);
    sessions.push(known);
    at = lineFeed + 1;
  }
  return ends.length > 1 ? { first, ends, sessions } : undefined;
}

/** By words; the last one overlaps the one before. */
function isSame(view: DataView, one: number, other: number, length: number): boolean {
  const last = length - WORD;
  let k = 0;
  while (k < last && view.getInt32(one + k, true) === view.getInt32(other + k, true)) k += WORD;
  return k >= last && view.getInt32(one + last, true) === view.getInt32(other + last, true);
}

/** The closing quote of the string whose text begins at `from`; -1 if there is none up to `last`, or another byte that must not be in a string. */
function stringEnd(bytes: Buffer, view: DataView, from: number, last: number): number {
  for (let i = from; i <= last; ) {
    const x = view.getInt32(i, true);
    // The high bit of each byte below 0x20, of a quote and of a backslash. Only the lowest one is exact: the subtractions borrow.
    const stops = ((x - 0x20202020) | ((x ^ 0x22222222) - 0x01010101) | ((x ^ 0x5c5c5c5c) - 0x01010101)) & ~x & 0x80808080;
    if (stops === 0) {
      i += WORD;
      continue;
    }
    i += (31 - Math.clz32(stops & -stops)) >> 3;
    const c = bytes[i];
    if (c === QUOTE) return i <= last ? i : -1;
    if (c !== BACKSLASH) return -1;
    i = behindEscape(bytes, i);
    if (i === -1) return -1;
  }
  return -1;
}

/** The offset after the escape at `i`; -1 if it is invalid. A line feed follows, and is no part of one. */
function behindEscape(bytes: Buffer, i: number): number {
  const c = bytes[i + 1] as number;
  if (((CLASSES[c] as number) & 1) !== 0) return i + 2;
  if (c !== LETTER_U) return -1;
  for (let k = i + 2; k < i + 6; k++) if (((CLASSES[bytes[k] as number] as number) & 2) === 0) return -1;
  return i + 6;
}

/** The frames one by one. */
export function framesOf({ first, ends, sessions }: FrameBatch): readonly Frame[] {
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
      session: sessions ? sessions[k] : first.session,
      sessionId: moved(sessionId, by, 0),
      body: moved(body, by, longer),
      text: moved(text, by, longer),
    };
  });
}

/** The offset after the last line feed. */
export function endOf({ ends }: FrameBatch): number {
  return (ends[ends.length - 1] as number) + 1;
}
