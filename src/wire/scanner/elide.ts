// A long line while it comes in: the same line without the insides of its long strings, which are checked as they pass. What is left is
// as short as any other, and the scanner looks at that; so a frame of megabytes is looked at once, while it is at hand, and joined never.
import { isUtf8 } from 'node:buffer';
import { type TextScanner, textScanner, WINDOW_BYTES } from './text-end.ts';

/** `bytes` are left out of the line in front of the offset `at` of its short form. */
export type Cut = { readonly at: number; readonly bytes: number };
export type Elided = { readonly line: Buffer; readonly cuts: readonly Cut[] };

export type Abridger = {
  /** The next piece of the line. */
  push(piece: Buffer): void;
  /** The line is complete. Undefined when it cannot be said in short, be it that something is wrong with it. Either way a new one may begin. */
  end(): Elided | undefined;
};

/** A string that was cut is still longer than this: it cannot be taken for a word that means something. */
export const KEPT_BYTES = 128;
/** What is cut out is worth it. */
const MIN_CUT_BYTES = 2048;
/** A line that is still so long has few long strings, and is better looked at as a whole. */
const MAX_LINE_BYTES = 128 * 1024;
const FIRST_BYTES = 8 * 1024;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LETTER_U = 0x75;
const LONGEST_ESCAPE = 6;

/** How much is still to come of an escape that has begun: nothing, the letter, or so many digits. */
const NOTHING = 0;
const LETTER = -1;

export function createAbridger(scanner: () => TextScanner = textScanner): Abridger {
  let line = Buffer.alloc(0);
  let length = 0;
  let cuts: Cut[] = [];
  let isInString = false;
  let awaited = NOTHING;
  let isGivenUp = false;

  function keep(from: Buffer, start: number, end: number): void {
    const wanted = length + end - start;
    if (wanted > MAX_LINE_BYTES) {
      isGivenUp = true;
      return;
    }
    if (wanted > line.length) {
      const larger = Buffer.allocUnsafe(Math.max(FIRST_BYTES, 2 * wanted));
      line.copy(larger, 0, 0, length);
      line = larger;
    }
    from.copy(line, length, start, end);
    length = wanted;
  }
  /** To where the next character of the string begins; what lies before it belongs to one that began in the piece before. */
  function wholeCharacter(bytes: Buffer): number {
    let i = 0;
    for (; awaited !== NOTHING && i < bytes.length; i++) awaitedAfter(bytes[i] as number);
    return behindCharacter(bytes, i);
  }
  function awaitedAfter(c: number): void {
    if (awaited === NOTHING) awaited = c === BACKSLASH ? LETTER : NOTHING;
    else if (awaited === LETTER) awaited = c === LETTER_U ? 4 : NOTHING;
    else awaited--;
  }
  /** Leaves out what can be of the string's inside in `bytes[start..end)`, and returns from where on the rest is still to be kept. */
  function cut(text: TextScanner, bytes: Buffer, kept: number, start: number, end: number): number {
    if (end - start < MIN_CUT_BYTES) return kept;
    // Some of it stays; where an escape would be cut in two, it ends before that.
    const from = behindCharacter(bytes, text.textEnd(start, start + KEPT_BYTES + LONGEST_ESCAPE));
    // With what stays before it: half a character there could be made whole by what follows behind the cut.
    if (!isUtf8(bytes.subarray(start, end))) {
      isGivenUp = true;
      return kept;
    }
    keep(bytes, kept, from);
    cuts.push({ at: length, bytes: end - from });
    return end;
  }
  function window(bytes: Buffer): void {
    const text = scanner();
    text.look(bytes);
    let kept = 0;
    let i = isInString ? wholeCharacter(bytes) : 0;
    while (!isGivenUp) {
      if (!isInString) {
        const quote = bytes.indexOf(QUOTE, i);
        if (quote === -1) break;
        isInString = true;
        i = quote + 1;
      }
      const end = text.textEnd(i, bytes.length);
      const isOpen = end === bytes.length;
      kept = cut(text, bytes, kept, i, isOpen ? lastCharacter(bytes, i) : end);
      if (isOpen) break;
      if (bytes[end] === QUOTE) {
        isInString = false;
        i = end + 1;
        continue;
      }
      // An escape that goes on in the next piece; anything else does not belong in a string.
      if (bytes[end] !== BACKSLASH || bytes.length - end >= LONGEST_ESCAPE) isGivenUp = true;
      for (let k = end; k < bytes.length; k++) awaitedAfter(bytes[k] as number);
      break;
    }
    if (!isGivenUp) keep(bytes, kept, bytes.length);
  }

  return {
    push(piece) {
      for (let at = 0; at < piece.length && !isGivenUp; at += WINDOW_BYTES) window(piece.subarray(at, at + WINDOW_BYTES));
    },
    end() {
      const made = isGivenUp || isInString ? undefined : { line: line.subarray(0, length), cuts };
      line = Buffer.alloc(0);
      length = 0;
      cuts = [];
      isInString = false;
      awaited = NOTHING;
      isGivenUp = false;
      return made;
    },
  };
}

const isContinued = (c: number | undefined): boolean => c !== undefined && (c & 0xc0) === 0x80;

function behindCharacter(bytes: Buffer, at: number): number {
  let i = at;
  while (isContinued(bytes[i])) i++;
  return i;
}

/** Where a character begins that goes on behind the end of the bytes; their length when there is none. */
function lastCharacter(bytes: Buffer, from: number): number {
  const end = bytes.length;
  for (let i = end - 1; i >= from && i >= end - 3; i--) {
    const c = bytes[i] as number;
    if (isContinued(c)) continue;
    const wanted = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 1;
    return i + wanted > end ? i : end;
  }
  return end;
}
