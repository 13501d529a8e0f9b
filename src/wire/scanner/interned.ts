// The same few methods and session ids come by in every frame: compare their bytes instead of making their strings anew.
import { viewOf } from './view.ts';

/** In rows of four: with a thousand sessions, the fifth that hashes to the same row is rare. Powers of two. */
const SLOTS = 8192;
const ROW = 4;
const ROW_BITS = 11;
const MAX_LENGTH = 64;

/** Bytes that were met before, and what they say. */
export type Interned = {
  /** Its number, from one up: it has it to itself for as long as it is known here. */
  readonly place: number;
  readonly text: string;
  /** What it says as the inside of a string token, and that token. */
  decoded: string | undefined;
  token: string | undefined;
};
const NONE: Interned = { place: 0, text: '', decoded: '', token: '""' };
/** By their places, and so are their bytes: side by side, since with many sessions what is looked at is seldom in the cache. */
const entries: Interned[] = [NONE];
const kept = new Uint8Array((SLOTS + 1) * MAX_LENGTH);
const keptView = new DataView(kept.buffer);
/** In rows, the newest first: the hash of each, and its mark, which is its place and its length. */
const slots = new Int32Array(2 * SLOTS);
const LENGTH_BITS = 7;
const markOf = (place: number, length: number): number => (place << LENGTH_BITS) | length;
/** The mark of the last one of each length, which is nearly always the one that comes again. */
const lastOfLength = new Int32Array(MAX_LENGTH + 1);
/** A factor for each word of an id, so that their products need not wait for each other. */
const FACTORS = Int32Array.from({ length: MAX_LENGTH / 4 }, (_, k) => Math.imul(0x9e3779b1, 2 * k + 1));

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
  let mark = lastOfLength[length] as number;
  if (!isAt(mark, bytes, start, length)) {
    mark = byHash(bytes, start, length);
    lastOfLength[length] = mark;
  }
  return entries[mark >> LENGTH_BITS] as Interned;
}

function byHash(bytes: Buffer, start: number, length: number): number {
  const hash = hashOf(bytes, start, length);
  const row = (hash >>> (32 - ROW_BITS)) * 2 * ROW;
  for (let at = row; at < row + 2 * ROW; at += 2) {
    const mark = slots[at + 1] as number;
    if (slots[at] === hash && isAt(mark, bytes, start, length)) return mark;
  }
  return add(hash, row, bytes, start, length);
}

/** The newest is first, and the oldest is forgotten: its place is then the newest one's. */
function add(hash: number, row: number, bytes: Buffer, start: number, length: number): number {
  const oldest = slots[row + 2 * ROW - 1] as number;
  const oldestLength = oldest & (markOf(1, 0) - 1);
  if (lastOfLength[oldestLength] === oldest) lastOfLength[oldestLength] = 0;
  const place = oldest >> LENGTH_BITS || entries.length;
  const mark = markOf(place, length);
  slots.copyWithin(row + 2, row, row + 2 * ROW - 2);
  slots[row] = hash;
  slots[row + 1] = mark;
  bytes.copy(kept, place * MAX_LENGTH, start, start + length);
  entries[place] = { place, text: unique(bytes.toString('utf8', start, start + length)), decoded: undefined, token: undefined };
  return mark;
}

/** The same text as the one string that V8 keeps for the name of a property: to compare two of those is to compare two addresses. */
function unique(text: string): string {
  for (const key in { [text]: 0 }) return key;
  return text;
}

function hashOf(bytes: Buffer, start: number, length: number): number {
  const view = viewOf(bytes);
  const words = length >> 2;
  let hash = length;
  let i = start;
  for (let k = 0; k < words; k++, i += 4) hash = (hash + folded(Math.imul(view.getInt32(i, true), FACTORS[k] as number))) | 0;
  for (const end = start + length; i < end; i++) hash = folded(Math.imul(hash ^ (bytes[i] as number), 0x9e3779b1));
  return Math.imul(folded(hash), 0x85ebca6b);
}

/** High bits of a product depend on all bits, low ones on few: fold them, or ids that differ in one digit end up in few rows. */
function folded(product: number): number {
  return product ^ (product >>> 15);
}

function isAt(mark: number, bytes: Buffer, start: number, length: number): boolean {
  const place = mark >> LENGTH_BITS;
  if (mark !== markOf(place, length)) return false;
  const view = viewOf(bytes);
  const at = place * MAX_LENGTH;
  // From the end: ids that come in turns often begin alike.
  let i = length - 4;
  for (; i >= 0; i -= 4) if (view.getInt32(start + i, true) !== keptView.getInt32(at + i, true)) return false;
  for (i += 3; i >= 0; i--) if (bytes[start + i] !== kept[at + i]) return false;
  return true;
}
