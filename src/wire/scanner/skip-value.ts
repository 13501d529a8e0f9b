// Skips JSON values and checks the whole grammar: JSON.parse accepts every value that is skipped here.
// Each function takes the offset of a value (or of white space) and returns the offset after it, or INVALID.
// A line feed must follow the value. It ends every token, so the loops need no bounds check.
// Long strings are skipped eight bytes at a time; the gain over single bytes was not measured alone.
import type { ChunkView } from './chunk-view.ts';

export const INVALID = -1;

/** Deeper values are left to the strict parser. */
const MAX_DEPTH = 256;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const MINUS = 0x2d;
const PLUS = 0x2b;
const DOT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;

/** 1 for a byte that ends a plain run inside a string: the quote, the backslash, control characters. */
const STOPS = new Uint8Array(256);
STOPS.fill(1, 0, 0x20);
STOPS[QUOTE] = 1;
STOPS[BACKSLASH] = 1;

/** 1 for what may follow a backslash, besides `u`. */
const ESCAPES = new Uint8Array(256);
for (const c of '"\\/bfnrt') ESCAPES[c.charCodeAt(0)] = 1;

const HEX = new Uint8Array(256);
for (const c of '0123456789abcdefABCDEF') HEX[c.charCodeAt(0)] = 1;

/** White space inside a line; the line feed is not part of it. */
export function skipSpace(bytes: Buffer, from: number): number {
  let i = from;
  let c = bytes[i];
  while (c === 0x20 || c === 0x09 || c === 0x0d) c = bytes[++i];
  return i;
}

/** The high bit of each byte in STOPS. Only the lowest set bit is exact: the subtractions borrow from the bytes after it. */
function stopsIn(x: number): number {
  return ((x - 0x20202020) | ((x ^ 0x22222222) - 0x01010101) | ((x ^ 0x5c5c5c5c) - 0x01010101)) & ~x & 0x80808080;
}

/** Which of the four bytes, in little-endian order, has the lowest bit set. */
function firstOf(stops: number): number {
  return (31 - Math.clz32(stops & -stops)) >> 3;
}

function skipNumber(bytes: Buffer, from: number): number {
  let i = bytes[from] === MINUS ? from + 1 : from;
  const first = bytes[i] as number;
  if (first < ZERO || first > NINE) return INVALID;
  i = first === ZERO ? i + 1 : skipDigits(bytes, i);
  if (bytes[i] === DOT) {
    const fraction = i + 1;
    i = skipDigits(bytes, fraction);
    if (i === fraction) return INVALID;
  }
  if (bytes[i] === 0x65 || bytes[i] === 0x45) {
    i++;
    if (bytes[i] === MINUS || bytes[i] === PLUS) i++;
    const exponent = i;
    i = skipDigits(bytes, exponent);
    if (i === exponent) return INVALID;
  }
  return i;
}

function skipDigits(bytes: Buffer, from: number): number {
  let i = from;
  let c = bytes[i] as number;
  while (c >= ZERO && c <= NINE) c = bytes[++i] as number;
  return i;
}

/** From after a key to where its value begins. */
export function skipColon(bytes: Buffer, from: number): number {
  if (from === INVALID) return INVALID;
  const colon = skipSpace(bytes, from);
  return bytes[colon] === COLON ? skipSpace(bytes, colon + 1) : INVALID;
}

/** Strings up to this length are skipped byte by byte, which is as fast and needs no view. */
const SHORT_BYTES = 32;

/** Skips what needs memory between calls: strings, and values that contain them. */
export class ValueSkipper {
  /** The string skipped last: whether it has an escape, and where it begins. */
  hasEscape = false;
  lastStringStart = 0;
  private readonly chunk: ChunkView;
  /** The containers around the current value: 1 is an object, 0 an array. */
  private readonly stack = new Uint8Array(MAX_DEPTH);

  constructor(chunk: ChunkView) {
    this.chunk = chunk;
  }

  /** `from` is at the opening quote. */
  skipString(bytes: Buffer, from: number): number {
    this.hasEscape = false;
    this.lastStringStart = from;
    const near = from + SHORT_BYTES;
    let i = from + 1;
    while (i < near) {
      const c = bytes[i] as number;
      if (STOPS[c] === 0) i++;
      else if (c === QUOTE) return i + 1;
      else {
        i = this.skipEscape(bytes, i);
        if (i === INVALID) return INVALID;
      }
    }
    return this.skipLongString(bytes, i);
  }

  /** `i` is at a backslash; any other byte here does not belong in a string. */
  private skipEscape(bytes: Buffer, i: number): number {
    if (bytes[i] !== BACKSLASH) return INVALID;
    this.hasEscape = true;
    const escaped = bytes[i + 1] as number;
    if (ESCAPES[escaped] === 1) return i + 2;
    if (escaped !== 0x75 || HEX[bytes[i + 2] as number] !== 1 || HEX[bytes[i + 3] as number] !== 1) return INVALID;
    return HEX[bytes[i + 4] as number] === 1 && HEX[bytes[i + 5] as number] === 1 ? i + 6 : INVALID;
  }

  /** The rest of a string whose beginning, up to `from`, was checked. */
  private skipLongString(bytes: Buffer, from: number): number {
    const view = this.chunk.of(bytes);
    const last = bytes.length - 8;
    let i = from;
    for (;;) {
      while (i < last) {
        let stops = stopsIn(view.getInt32(i, true));
        if (stops !== 0) {
          i += firstOf(stops);
          break;
        }
        stops = stopsIn(view.getInt32(i + 4, true));
        if (stops !== 0) {
          i += 4 + firstOf(stops);
          break;
        }
        i += 8;
      }
      while (STOPS[bytes[i] as number] === 0) i++; // near the end of the buffer
      if (bytes[i] === QUOTE) return i + 1;
      i = this.skipEscape(bytes, i);
      if (i === INVALID) return INVALID;
    }
  }

  private skipScalar(bytes: Buffer, i: number): number {
    const c = bytes[i];
    if (c === QUOTE) return this.skipString(bytes, i);
    if (c === 0x74) return bytes[i + 1] === 0x72 && bytes[i + 2] === 0x75 && bytes[i + 3] === 0x65 ? i + 4 : INVALID;
    if (c === 0x66)
      return bytes[i + 1] === 0x61 && bytes[i + 2] === 0x6c && bytes[i + 3] === 0x73 && bytes[i + 4] === 0x65 ? i + 5 : INVALID;
    if (c === 0x6e) return bytes[i + 1] === 0x75 && bytes[i + 2] === 0x6c && bytes[i + 3] === 0x6c ? i + 4 : INVALID;
    return skipNumber(bytes, i);
  }

  /** `from` is at the quote of a member's key; returns where its value begins. */
  private skipKey(bytes: Buffer, from: number): number {
    if (bytes[from] !== QUOTE) return INVALID;
    return skipColon(bytes, this.skipString(bytes, from));
  }

  /** Any value, without recursion. */
  skipValue(bytes: Buffer, from: number): number {
    const { stack } = this;
    let depth = 0;
    let i = from;
    for (;;) {
      const c = bytes[i];
      if (c === OPEN_BRACE || c === OPEN_BRACKET) {
        const close = c === OPEN_BRACE ? CLOSE_BRACE : CLOSE_BRACKET;
        i = skipSpace(bytes, i + 1);
        if (bytes[i] === close) i++;
        else {
          if (depth === MAX_DEPTH) return INVALID;
          stack[depth++] = c === OPEN_BRACE ? 1 : 0;
          if (c === OPEN_BRACE) i = this.skipKey(bytes, i);
          if (i === INVALID) return INVALID;
          continue;
        }
      } else {
        i = this.skipScalar(bytes, i);
        if (i === INVALID) return INVALID;
      }
      for (;;) {
        if (depth === 0) return i;
        i = skipSpace(bytes, i);
        const inObject = stack[depth - 1] === 1;
        const after = bytes[i];
        if (after === COMMA) {
          i = skipSpace(bytes, i + 1);
          if (inObject) i = this.skipKey(bytes, i);
          if (i === INVALID) return INVALID;
          break;
        }
        if (after !== (inObject ? CLOSE_BRACE : CLOSE_BRACKET)) return INVALID;
        depth--;
        i++;
      }
    }
  }
}
