// Methods and session ids repeat in every frame. The table compares their bytes with those seen before instead of decoding new strings.
// Gain: a burst over 1,000 sessions costs 1.2 to 1.3x one over 4 (goal G7); with tables of strings it was 1.4 to 2.5x.
import type { ChunkView } from './chunk-view.ts';

/** In rows of four: with a thousand sessions, a fifth id in the same row is rare. Powers of two. */
const SLOTS = 8192;
const ROW = 4;
const ROW_BITS = 11;
const MAX_LENGTH = 64;
const LENGTH_BITS = 7;
/** One factor for each word of an id, so that the products do not depend on each other. */
const FACTORS = Int32Array.from({ length: MAX_LENGTH / 4 }, (_, k) => Math.imul(0x9e3779b1, 2 * k + 1));

export type Interned = {
  /** Its index in the table, from 1; unique as long as the table holds the entry. */
  readonly index: number;
  /** The bytes as text, escapes included. */
  readonly text: string;
  /** The value of a string token with this text, and the token itself; computed when first needed. */
  decoded: string | undefined;
  token: string | undefined;
};

/** What the string token says. */
export function decodedOf(entry: Interned): string {
  entry.decoded ??= entry.text.includes('\\') ? internalized(JSON.parse(`"${entry.text}"`)) : entry.text;
  return entry.decoded;
}

/** The string token with its quotes. */
export function tokenOf(entry: Interned): string {
  entry.token ??= internalized(`"${entry.text}"`);
  return entry.token;
}

/** Forces V8 to use its one copy of the string, as it does for property names: comparing two of those compares two addresses. */
function internalized(text: string): string {
  for (const key in { [text]: 0 }) return key;
  return text;
}

export class InternTable {
  private readonly chunk: ChunkView;
  /** Entries and their bytes by index. The bytes lie side by side: with many sessions they are rarely in the CPU cache. */
  private readonly entries: Interned[] = [{ index: 0, text: '', decoded: '', token: '""' }];
  private readonly kept = new Uint8Array((SLOTS + 1) * MAX_LENGTH);
  private readonly keptView = new DataView(this.kept.buffer);
  /** Rows, the newest entry first: the hash of each entry and its mark, which combines its index and length. */
  private readonly slots = new Int32Array(2 * SLOTS);
  /** The mark of the latest entry of each length, which is nearly always the one that comes again. */
  private readonly lastOfLength = new Int32Array(MAX_LENGTH + 1);

  constructor(chunk: ChunkView) {
    this.chunk = chunk;
  }

  /** The UTF-8 text of `bytes[start..end)`. */
  textOf(bytes: Buffer, start: number, end: number): string {
    return end - start > MAX_LENGTH ? bytes.toString('utf8', start, end) : this.entryOf(bytes, start, end).text;
  }

  /** The string token in `bytes[start..end)`; undefined when it is too long for the table. */
  ofToken(bytes: Buffer, start: number, end: number): Interned | undefined {
    return end - start - 2 > MAX_LENGTH ? undefined : this.entryOf(bytes, start + 1, end - 1);
  }

  private entryOf(bytes: Buffer, start: number, end: number): Interned {
    const length = end - start;
    let mark = this.lastOfLength[length] as number;
    if (!this.isAt(mark, bytes, start, length)) {
      mark = this.byHash(bytes, start, length);
      this.lastOfLength[length] = mark;
    }
    return this.entries[mark >> LENGTH_BITS] as Interned;
  }

  private byHash(bytes: Buffer, start: number, length: number): number {
    const { slots } = this;
    const hash = hashOf(this.chunk.of(bytes), bytes, start, length);
    const row = (hash >>> (32 - ROW_BITS)) * 2 * ROW;
    for (let at = row; at < row + 2 * ROW; at += 2) {
      const mark = slots[at + 1] as number;
      if (slots[at] === hash && this.isAt(mark, bytes, start, length)) return mark;
    }
    return this.add(hash, row, bytes, start, length);
  }

  /** Puts the entry first in its row. The oldest entry of a full row is dropped, and the new one takes its index. */
  private add(hash: number, row: number, bytes: Buffer, start: number, length: number): number {
    const { slots, lastOfLength, entries } = this;
    const oldest = slots[row + 2 * ROW - 1] as number;
    const oldestLength = oldest & (markOf(1, 0) - 1);
    if (lastOfLength[oldestLength] === oldest) lastOfLength[oldestLength] = 0;
    const index = oldest >> LENGTH_BITS || entries.length;
    const mark = markOf(index, length);
    slots.copyWithin(row + 2, row, row + 2 * ROW - 2);
    slots[row] = hash;
    slots[row + 1] = mark;
    bytes.copy(this.kept, index * MAX_LENGTH, start, start + length);
    entries[index] = { index, text: internalized(bytes.toString('utf8', start, start + length)), decoded: undefined, token: undefined };
    return mark;
  }

  private isAt(mark: number, bytes: Buffer, start: number, length: number): boolean {
    const index = mark >> LENGTH_BITS;
    if (mark !== markOf(index, length)) return false;
    const view = this.chunk.of(bytes);
    const { kept, keptView } = this;
    const at = index * MAX_LENGTH;
    // From the end: consecutive ids often share a prefix.
    let i = length - 4;
    for (; i >= 0; i -= 4) if (view.getInt32(start + i, true) !== keptView.getInt32(at + i, true)) return false;
    for (i += 3; i >= 0; i--) if (bytes[start + i] !== kept[at + i]) return false;
    return true;
  }
}

function markOf(index: number, length: number): number {
  return (index << LENGTH_BITS) | length;
}

function hashOf(view: DataView, bytes: Buffer, start: number, length: number): number {
  const words = length >> 2;
  let hash = length;
  let i = start;
  for (let k = 0; k < words; k++, i += 4) hash = (hash + folded(Math.imul(view.getInt32(i, true), FACTORS[k] as number))) | 0;
  for (const end = start + length; i < end; i++) hash = folded(Math.imul(hash ^ (bytes[i] as number), 0x9e3779b1));
  return Math.imul(folded(hash), 0x85ebca6b);
}

/** The high bits of a product depend on all bits, the low ones on few. Without folding, ids that differ in one digit share few rows. */
function folded(product: number): number {
  return product ^ (product >>> 15);
}

/** A value per interned id, found by index: with a thousand sessions, a Map of strings would not fit into the CPU cache. */
export class InternedMap<T> {
  /** Each entry is followed by its value: another entry may have taken over the index, so the entry is compared. */
  readonly #pairs: (Interned | T | undefined)[] = [];

  get(entry: Interned): T | undefined {
    const at = 2 * entry.index;
    return at < this.#pairs.length && this.#pairs[at] === entry ? (this.#pairs[at + 1] as T) : undefined;
  }

  set(entry: Interned, value: T): void {
    const at = 2 * entry.index;
    while (this.#pairs.length < at + 2) this.#pairs.push(undefined);
    this.#pairs[at] = entry;
    this.#pairs[at + 1] = value;
  }

  clear(): void {
    this.#pairs.length = 0;
  }
}
