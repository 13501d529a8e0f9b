// Most frames differ from an earlier one in nothing but the session id and one text: the pieces of a message, one after the other. Around
// these two strings such a frame is compared with the earlier one byte for byte, and so needs no second look at its grammar.
import type { Frame } from '../frame.ts';
import { internInside } from './interned.ts';
import { hasEscape, INVALID, lastStringStart, skipString } from './skip-value.ts';
import { viewOf } from './view.ts';

// Bytes that are expected at a place, ready to be compared with what is there: whole words first, then what is left.
export type Piece = { readonly words: Int32Array; readonly rest: Uint8Array; readonly length: number };

/** A copy of `bytes[start..end)`. */
export function pieceOf(bytes: Buffer, start = 0, end: number = bytes.length): Piece {
  const length = end - start;
  const words = new Int32Array(length >> 2);
  for (let k = 0; k < words.length; k++) words[k] = bytes.readInt32LE(start + 4 * k);
  return { words, rest: Uint8Array.from(bytes.subarray(start + 4 * words.length, end)), length };
}

export function isAt({ words, rest, length }: Piece, bytes: Buffer, start: number): boolean {
  if (start + length > bytes.length) return false;
  const view = viewOf(bytes);
  let i = start;
  for (let k = 0; k < words.length; k++, i += 4) if (view.getInt32(i, true) !== words[k]) return false;
  for (let k = 0; k < rest.length; k++) if (bytes[i + k] !== rest[k]) return false;
  return true;
}

/** `head "session id" middle "text" tail`; the line feed is the end of the tail. */
type Shape = {
  readonly head: Piece;
  readonly middle: Piece;
  readonly tail: Piece;
  readonly method: string;
  /** Where the body begins, from the start of the frame, and where it ends, from its end. */
  readonly bodyStart: number;
  readonly bodyEnd: number;
};

const QUOTE = 0x22;
const CLOSE_BRACE = 0x7d;
const CLOSE_BRACKET = 0x5d;
const CR = 0x0d;
/** A power of two. */
const MAX_SHAPES = 4;
/** Longer ones are rare, and not worth comparing. */
const MAX_PIECE_BYTES = 512;
/** Once all places are taken, one of so many frames that fit none takes the oldest one's place: varied traffic must not pay for each. */
const MISSES_TO_LEARN = 16;

const shapes: Shape[] = [];
let recent = 0;
let oldest = 0;
let misses = 0;

/** The frame at `start`, if it is like one that was learned; undefined says nothing about it. */
export function likeBefore(bytes: Buffer, start: number): Frame | undefined {
  for (let k = 0; k < shapes.length; k++) {
    const at = (recent + k) & (MAX_SHAPES - 1);
    const shape = shapes[at];
    const frame = shape && matched(shape, bytes, start);
    if (frame) {
      recent = at;
      return frame;
    }
  }
  return undefined;
}

function matched(shape: Shape, bytes: Buffer, start: number): Frame | undefined {
  const { head, middle, tail, method, bodyStart, bodyEnd } = shape;
  const idStart = start + head.length;
  if (!isAt(head, bytes, start) || bytes[idStart] !== QUOTE) return undefined;
  const idEnd = skipString(bytes, idStart);
  if (idEnd === INVALID || hasEscape || !isAt(middle, bytes, idEnd)) return undefined;
  const textStart = idEnd + middle.length;
  if (bytes[textStart] !== QUOTE) return undefined;
  const textEnd = skipString(bytes, textStart);
  if (textEnd === INVALID || !isAt(tail, bytes, textEnd)) return undefined;
  const end = textEnd + tail.length - 1;
  const sessionId = { start: idStart, end: idEnd };
  const session = internInside(bytes, idStart, idEnd);
  const body = { start: start + bodyStart, end: end - bodyEnd };
  const text = { start: textStart, end: textEnd };
  return { bytes, start, end, kind: 'notification', method, id: undefined, sessionId, session, body, outcome: undefined, shape, text };
}

/** For a frame that has just been scanned as a whole: its last string is the text. */
export function learn({ bytes, start, end, method, sessionId, body }: Frame): void {
  if (shapes.length === MAX_SHAPES && misses++ % MISSES_TO_LEARN !== 0) return;
  if (method === undefined || sessionId === undefined || body === undefined) return;
  const text = { start: lastStringStart, end: behindLastString(bytes, end) };
  // It must say nothing to us: inside the body, and neither the session id nor a key, which could be one that occurs already.
  if (bytes[text.end - 1] !== QUOTE || text.start < sessionId.end || text.start <= body.start || text.end >= body.end) return;
  const longest = Math.max(sessionId.start - start, text.start - sessionId.end, end - text.end);
  if (longest > MAX_PIECE_BYTES) return;
  const head = pieceOf(bytes, start, sessionId.start);
  const middle = pieceOf(bytes, sessionId.end, text.start);
  const tail = pieceOf(bytes, text.end, end + 1);
  shapes[oldest] = { head, middle, tail, method, bodyStart: body.start - start, bodyEnd: end - body.end };
  oldest = (oldest + 1) & (MAX_SHAPES - 1);
}

/** Where the brackets begin that close everything at the end of a line; a key has more than those behind it. */
function behindLastString(bytes: Buffer, end: number): number {
  let i = end;
  for (let c = bytes[i - 1]; c === CLOSE_BRACE || c === CLOSE_BRACKET || c === CR; c = bytes[i - 1]) i--;
  return i;
}
