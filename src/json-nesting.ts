// JSON that nests very deep. JSON.parse takes seconds for a few megabytes of brackets, so this is checked before it.

/** Nothing that people or agents write nests like this. */
export const MAX_NESTING = 10_000;
/** What is kept of deeper JSON, to read its outer members. */
const KEPT = 16;

export function isTooDeep(bytes: Buffer, start = 0, end = bytes.length): boolean {
  if (end - start <= MAX_NESTING) return false;
  let depth = 0;
  for (let k = start; k < end; k++) {
    const byte = bytes[k];
    if (byte === 0x22) k = closingQuote(bytes, k, end);
    else if (byte === 0x5b || byte === 0x7b) {
      if (++depth > MAX_NESTING) return true;
    } else if (byte === 0x5d || byte === 0x7d) depth--;
  }
  return false;
}

/** A copy in which every deep value is 0. */
export function withoutDepths(bytes: Buffer, start: number, end: number): Buffer {
  const copy = Buffer.from(bytes.subarray(start, end));
  let depth = 0;
  let from = 0;
  for (let k = 0; k < copy.length; k++) {
    const byte = copy[k];
    if (byte === 0x22) k = closingQuote(copy, k, copy.length);
    else if (byte === 0x5b || byte === 0x7b) {
      if (++depth === KEPT) from = k;
    } else if ((byte === 0x5d || byte === 0x7d) && depth-- === KEPT) {
      copy.fill(0x20, from, k + 1);
      copy[from] = 0x30;
    }
  }
  return copy;
}

function closingQuote(bytes: Buffer, quote: number, end: number): number {
  let k = quote + 1;
  while (k < end && bytes[k] !== 0x22) k += bytes[k] === 0x5c ? 2 : 1;
  return k;
}
