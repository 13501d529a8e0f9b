// The same few methods and session ids come by in every frame: compare their bytes instead of making their strings anew.
import { viewOf } from './view.ts';

/** In rows of four: with a thousand sessions, the fifth that hashes to the same row is rare. Powers of two. */
const SLOTS = 8192;
const ROW = 4;
const ROW_BITS = 11;
const MAX_LENGTH = 64;

/** Bytes that were met before, and what they say. */
export type Interned = {
  readonly bytes: Uint8Array;
  readonly text: string;
  /** What it says as the inside of a string token, and that token. */
  decoded: string | undefined;
  token: string | undefined;
};
const NONE: Interned = { bytes: new Uint8Array(0), text: '', decoded: '', token: '""' };
/** The last one of each length, which is nearly always the one that comes again; and all others by their hash. */
const lastOfLength: Interned[] = new Array(MAX_LENGTH + 1).fill(NONE);
const entries: Interned[] = new Array(SLOTS).fill(NONE);
/** Their hashes, side by side: most of a row need not be looked at. */
const hashes = new Int32Array(SLOTS);

/** The UTF-8 text of `bytes[start..end)`. */
export function intern(bytes: Buffer, start: number, end: number): string {
  return end - start > MAX_LENGTH ? bytes.toString('utf8', start, end) : entryOf(bytes, start, end).text;
}

/** The inside of the string token at `start`; undefined when it is too long to be kept. */
export function internInside(bytes: Buffer, start: number, end: number): Interned | undefined {
  return end - start - 2 > MAX_LENGTH ? undefined : entryOf(bytes, start + 1, end - 1);
}

/** What the string token says. */
export function decodedOf(entry: Interned): string {
  entry.decoded ??= entry.text.includes('\\') ? unique(JSON.parse(`"${entry.text}"`)) : entry.text;
  return entry.decoded;
}

/** The string token with its quotes. */
export function tokenOf(entry: Interned): string {
  entry.token ??= unique(`"${entry.text}"`);
  return entry.token;
}

function entryOf(bytes: Buffer, start: number, end: number): Interned {
  const length = end - start;
  const last = lastOfLength[length] as Interned;
  if (isSame(last.bytes, bytes, start, length)) return last;
  const entry = byHash(bytes, start, length);
  lastOfLength[length] = entry;
  return entry;
}

function byHash(bytes: Buffer, start: number, length: number): Interned {
  const hash = hashOf(bytes, start, length);
  const row = (hash >>> (32 - ROW_BITS)) * ROW;
  for (let slot = row; slot < row + ROW; slot++) {
    if (hashes[slot] !== hash) continue;
    const known = entries[slot] as Interned;
    if (isSame(known.bytes, bytes, start, length)) return known;
  }
  // The newest is first, and the oldest is forgotten.
  entries.copyWithin(row + 1, row, row + ROW - 1);
  hashes.copyWithin(row + 1, row, row + ROW - 1);
  const entry = {
    bytes: new Uint8Array(bytes.subarray(start, start + length)),
    text: unique(bytes.toString('utf8', start, start + length)),
    decoded: undefined,
    token: undefined,
  };
  entries[row] = entry;
  hashes[row] = hash;
  return entry;
}

/** The same text as the one string that V8 keeps for the name of a property: to compare two of those is to compare two addresses. */
function unique(text: string): string {
  for (const key in { [text]: 0 }) return key;
  return text;
}

function hashOf(bytes: Buffer, start: number, length: number): number {
  const view = viewOf(bytes);
  const end = start + length;
  let hash = length;
  let i = start;
  for (; i <= end - 4; i += 4) hash = mixed(hash ^ view.getInt32(i, true));
  for (; i < end; i++) hash = mixed(hash ^ (bytes[i] as number));
  return Math.imul(hash, 0x85ebca6b);
}

/** High bits of the product depend on all bits, low ones on few: fold them, or ids that differ in one digit end up in few rows. */
function mixed(hash: number): number {
  const product = Math.imul(hash, 0x9e3779b1);
  return product ^ (product >>> 15);
}

function isSame(known: Uint8Array, bytes: Buffer, start: number, length: number): boolean {
  if (known.length !== length) return false;
  // From the end: ids that come in turns often begin alike.
  for (let i = length - 1; i >= 0; i--) if (known[i] !== bytes[start + i]) return false;
  return true;
}
