// Decompresses bzip2, which Node cannot: a block at a time, each at most 900 kB, with its checksum verified.
import { unsafe } from './tree.ts';

const BLOCK_MAGIC = 0x314159265359;
const END_MAGIC = 0x177245385090;
const GROUP = 50;
const MAX_CODE = 20;

const damaged = () => unsafe('its bzip2 data is damaged');

export async function* bunzip2(source: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  const bits = createBitReader(source);
  let isFirst = true;
  while (await bits.has()) {
    await bits.fill();
    if (bits.take(16) !== 0x425a || bits.take(8) !== 0x68) {
      if (isFirst) throw unsafe('it is not a bzip2 file');
      throw damaged();
    }
    const level = bits.take(8) - 0x30;
    if (level < 1 || level > 9) throw damaged();
    isFirst = false;
    yield* stream(bits, level * 100_000);
    bits.align();
  }
  if (isFirst) throw unsafe('it is not a bzip2 file');
}

async function* stream(bits: BitReader, blockSize: number): AsyncIterable<Buffer> {
  let combined = 0;
  for (;;) {
    // A compressed block is smaller than this.
    await bits.fill();
    const magic = bits.take(24) * 2 ** 24 + bits.take(24);
    const expected = (bits.take(16) * 65_536 + bits.take(16)) >>> 0;
    if (magic === END_MAGIC) {
      if (combined !== expected) throw damaged();
      return;
    }
    if (magic !== BLOCK_MAGIC) throw damaged();
    const bytes = readBlock(bits, blockSize);
    const { pieces, crc } = expandRuns(bytes);
    if (crc !== expected) throw damaged();
    combined = (((combined << 1) | (combined >>> 31)) ^ crc) >>> 0;
    yield* pieces;
  }
}

/** One block, back in its original order; runs are still packed. */
function readBlock(bits: BitReader, blockSize: number): Uint8Array {
  if (bits.take(1) === 1) throw damaged(); // "randomised" blocks went out of use in 1997
  const origin = bits.take(24);
  const alphabet = readAlphabet(bits);
  const tables = bits.take(3);
  const selectorCount = bits.take(15);
  if (tables < 2 || tables > 6 || selectorCount < 1) throw damaged();
  const selectors = readSelectors(bits, selectorCount, tables);
  const codes = Array.from({ length: tables }, () => readCode(bits, alphabet.length + 2));

  const last = new Uint32Array(blockSize);
  const counts = new Uint32Array(256);
  const recent = Uint8Array.from(alphabet);
  const endOfBlock = alphabet.length + 1;
  let [length, run, weight, group, left] = [0, 0, 1, 0, 0];
  let code = codes[0] as Code;
  for (;;) {
    if (left === 0) {
      if (group >= selectors.length) throw damaged();
      code = codes[selectors[group++] as number] as Code;
      left = GROUP;
    }
    left--;
    const symbol = readSymbol(bits, code);
    if (symbol <= 1) {
      run += weight * (symbol + 1);
      weight *= 2;
      if (run > blockSize) throw damaged();
      continue;
    }
    if (run > 0) {
      const byte = recent[0] as number;
      if (length + run > blockSize) throw damaged();
      counts[byte] = (counts[byte] as number) + run;
      last.fill(byte, length, length + run);
      length += run;
      [run, weight] = [0, 1];
    }
    if (symbol === endOfBlock) break;
    const place = symbol - 1;
    const byte = recent[place] as number;
    recent.copyWithin(1, 0, place);
    recent[0] = byte;
    if (length >= blockSize) throw damaged();
    last[length++] = byte;
    counts[byte] = (counts[byte] as number) + 1;
  }
  if (origin >= length) throw damaged();
  return inOrder(last, length, counts, origin);
}

/** The Burrows-Wheeler transform, back: the upper 24 bits of each element say where the next byte is. */
function inOrder(last: Uint32Array, length: number, counts: Uint32Array, origin: number): Uint8Array {
  let total = 0;
  for (let byte = 0; byte < 256; byte++) {
    const count = counts[byte] as number;
    counts[byte] = total;
    total += count;
  }
  for (let at = 0; at < length; at++) {
    const byte = (last[at] as number) & 0xff;
    const place = counts[byte] as number;
    counts[byte] = place + 1;
    last[place] = ((last[place] as number) | (at << 8)) >>> 0;
  }
  const bytes = new Uint8Array(length);
  let entry = last[origin] as number;
  for (let at = 0; at < length; at++) {
    entry = last[entry >>> 8] as number;
    bytes[at] = entry & 0xff;
  }
  return bytes;
}

const CRC = Uint32Array.from({ length: 256 }, (_, index) => {
  let value = index << 24;
  for (let bit = 0; bit < 8; bit++) value = value & 0x80000000 ? (value << 1) ^ 0x04c11db7 : value << 1;
  return value >>> 0;
});
const PIECE = 64 * 1024;

/** After four equal bytes comes how often the byte is repeated. A block expands to 46 MB at most. */
function expandRuns(bytes: Uint8Array): { readonly pieces: readonly Buffer[]; readonly crc: number } {
  const pieces: Buffer[] = [];
  let piece = Buffer.allocUnsafe(PIECE);
  let [at, crc, equal, previous] = [0, 0xffffffff, 0, -1];
  const put = (byte: number) => {
    if (at === PIECE) {
      pieces.push(piece);
      piece = Buffer.allocUnsafe(PIECE);
      at = 0;
    }
    piece[at++] = byte;
    crc = ((crc << 8) ^ (CRC[(crc >>> 24) ^ byte] as number)) >>> 0;
  };
  for (const byte of bytes) {
    if (equal === 4) {
      for (let times = byte; times > 0; times--) put(previous);
      [equal, previous] = [0, -1];
      continue;
    }
    equal = byte === previous ? equal + 1 : 1;
    previous = byte;
    put(byte);
  }
  pieces.push(piece.subarray(0, at));
  return { pieces, crc: (crc ^ 0xffffffff) >>> 0 };
}

function readAlphabet(bits: BitReader): readonly number[] {
  const used = bits.take(16);
  const alphabet: number[] = [];
  for (let high = 0; high < 16; high++) {
    if ((used & (0x8000 >>> high)) === 0) continue;
    const map = bits.take(16);
    for (let low = 0; low < 16; low++) if ((map & (0x8000 >>> low)) !== 0) alphabet.push(high * 16 + low);
  }
  if (alphabet.length === 0) throw damaged();
  return alphabet;
}

function readSelectors(bits: BitReader, count: number, tables: number): Uint8Array {
  const order = Array.from({ length: tables }, (_, index) => index);
  return Uint8Array.from({ length: count }, () => {
    let place = 0;
    while (bits.take(1) === 1) if (++place >= tables) throw damaged();
    const [chosen] = order.splice(place, 1) as [number];
    order.unshift(chosen);
    return chosen;
  });
}

type Code = {
  /** For each length: the largest code, and what to subtract to get the place in `symbols`. */
  readonly limit: Int32Array;
  readonly base: Int32Array;
  readonly symbols: Uint16Array;
};

function readCode(bits: BitReader, size: number): Code {
  const lengths = new Uint8Array(size);
  let length = bits.take(5);
  for (let symbol = 0; symbol < size; symbol++) {
    for (;;) {
      if (length < 1 || length > MAX_CODE) throw damaged();
      if (bits.take(1) === 0) break;
      length += bits.take(1) === 0 ? 1 : -1;
    }
    lengths[symbol] = length;
  }
  const limit = new Int32Array(MAX_CODE + 1).fill(-1);
  const base = new Int32Array(MAX_CODE + 1);
  const symbols: number[] = [];
  let code = 0;
  for (let bitsUsed = 1; bitsUsed <= MAX_CODE; bitsUsed++) {
    code *= 2;
    base[bitsUsed] = code - symbols.length;
    for (let symbol = 0; symbol < size; symbol++) if (lengths[symbol] === bitsUsed) symbols.push(symbol);
    const next = symbols.length + (base[bitsUsed] as number);
    if (next > code) limit[bitsUsed] = next - 1;
    code = next;
  }
  return { limit, base, symbols: Uint16Array.from(symbols) };
}

function readSymbol(bits: BitReader, { limit, base, symbols }: Code): number {
  let code = 0;
  for (let length = 1; length <= MAX_CODE; length++) {
    code = code * 2 + bits.take(1);
    if (code <= (limit[length] as number)) {
      const symbol = symbols[code - (base[length] as number)];
      if (symbol === undefined) throw damaged();
      return symbol;
    }
  }
  throw damaged();
}

type BitReader = {
  has(): Promise<boolean>;
  /** Reads ahead enough for one block. */
  fill(): Promise<void>;
  /** Up to 24 bits. */
  take(count: number): number;
  align(): void;
};

const AHEAD = 1_200_000;

function createBitReader(source: AsyncIterable<Buffer>): BitReader {
  const iterator = source[Symbol.asyncIterator]();
  let held: Buffer = Buffer.alloc(0);
  let [at, bit, isAtEnd] = [0, 0, false];

  async function readAhead(wanted: number): Promise<void> {
    if (held.length - at >= wanted || isAtEnd) return;
    const chunks = [held.subarray(at)];
    let length = held.length - at;
    while (length < wanted) {
      const { done, value } = await iterator.next();
      if (done) {
        isAtEnd = true;
        break;
      }
      chunks.push(value);
      length += value.length;
    }
    held = Buffer.concat(chunks);
    at = 0;
  }

  return {
    async has() {
      await readAhead(1);
      return at < held.length;
    },
    fill: () => readAhead(AHEAD),
    take(count) {
      let value = 0;
      for (let missing = count; missing > 0; ) {
        if (at >= held.length) throw unsafe('its bzip2 data is cut off');
        const free = 8 - bit;
        const used = Math.min(free, missing);
        const part = ((held[at] as number) >>> (free - used)) & ((1 << used) - 1);
        value = value * 2 ** used + part;
        missing -= used;
        bit += used;
        if (bit === 8) [bit, at] = [0, at + 1];
      }
      return value;
    },
    align() {
      if (bit > 0) [bit, at] = [0, at + 1];
    },
  };
}
