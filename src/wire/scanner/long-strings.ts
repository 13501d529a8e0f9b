// Where the long strings of the buffer at hand end. Once a frame has been scanned, whoever looks for a member in it would have to go
// through megabytes of text again, only to find what the scanner has just found.

/** Shorter ones are as quickly walked through. */
const LONG_BYTES = 512;
/** The last few; a frame seldom has more. A power of two. */
const KEPT = 16;

const starts = new Int32Array(KEPT);
const ends = new Int32Array(KEPT);
let count = 0;
/** The same object with the same content: nobody writes to a buffer that has been read into. */
let of: Buffer | undefined;

/** The string in `bytes[start..end)` is one, quotes included. */
export function noteString(bytes: Buffer, start: number, end: number): void {
  if (end - start < LONG_BYTES) return;
  if (of !== bytes) {
    of = bytes;
    count = 0;
  }
  starts[count & (KEPT - 1)] = start;
  ends[count & (KEPT - 1)] = end;
  count++;
}

/** The end of the string that begins at `start`, if it is known. */
export function knownEnd(bytes: Buffer, start: number): number | undefined {
  if (of !== bytes) return undefined;
  for (let k = Math.min(count, KEPT) - 1; k >= 0; k--) if (starts[k] === start) return ends[k];
  return undefined;
}

/** Lets go of the buffer. */
export function forgetStrings(): void {
  of = undefined;
}
