// Lines that are about to be written, as bytes outside of V8's heap: as strings its collector would move them about, and in the end they are
// made into bytes all the same. Those of all sessions lie one behind the other in a few large blocks, and each session knows which are its own.

const BLOCK_BYTES = 64 * 1024;
/** Up to here it is cheaper to reckon with the longest spelling than to ask how long it is. */
const SHORT_CHARACTERS = 300;
const BYTES_OF_CHARACTER = 3;

/** `bytes[0..used)` is taken, and `waiting` of that is not written yet. */
type Block = { readonly bytes: Buffer; used: number; waiting: number };

/** The blocks of all sessions together. */
export class PendingBlocks {
  #current: Block = newBlock(0);
  #spare: Block[] = [];

  withRoom(length: number): Block {
    const { bytes, used } = this.#current;
    if (used + length > bytes.length)
      this.#current = (length <= BLOCK_BYTES && this.#spare.pop()) || newBlock(Math.max(length, BLOCK_BYTES));
    return this.#current;
  }

  written(block: Block, length: number): void {
    block.waiting -= length;
    if (block.waiting > 0) return;
    block.used = 0;
    if (block !== this.#current && block.bytes.length === BLOCK_BYTES) this.#spare.push(block);
  }

  /** For when nothing is being said. */
  dropSpare(): void {
    this.#spare = [];
  }
}

const newBlock = (length: number): Block => ({ bytes: Buffer.allocUnsafe(length), used: 0, waiting: 0 });

/** Those of one session. */
export class PendingLines {
  readonly #all: PendingBlocks;
  /** In order: a block, and where in it they begin and end. */
  #blocks: Block[] = [];
  #bounds: number[] = [];
  #length = 0;

  constructor(all: PendingBlocks) {
    this.#all = all;
  }

  /** In bytes. */
  get length(): number {
    return this.#length;
  }

  text(text: string): void {
    const block = this.#all.withRoom(text.length <= SHORT_CHARACTERS ? text.length * BYTES_OF_CHARACTER : Buffer.byteLength(text));
    this.#added(block, block.bytes.write(text, block.used));
  }

  /** `bytes[start..end)`. */
  bytes(bytes: Buffer, start: number, end: number): void {
    const block = this.#all.withRoom(end - start);
    this.#added(block, bytes.copy(block.bytes, block.used, start, end));
  }

  /** What there is, in one piece; to be written before anything is added anywhere. */
  take(): Buffer {
    const [only] = this.#blocks;
    const [start, end] = this.#bounds;
    const taken = only && this.#blocks.length === 1 ? only.bytes.subarray(start, end) : this.#joined();
    this.clear();
    return taken;
  }

  clear(): void {
    for (let k = 0; k < this.#blocks.length; k++) this.#all.written(this.#blocks[k] as Block, this.#lengthOf(k));
    // Not by new ones: V8 takes an empty list for one of numbers, and what it compiled for that is of no use for blocks.
    this.#blocks.length = 0;
    this.#bounds.length = 0;
    this.#length = 0;
  }

  #added(block: Block, length: number): void {
    if (length === 0) return;
    const start = block.used;
    const last = this.#blocks.length - 1;
    block.used += length;
    block.waiting += length;
    this.#length += length;
    if (this.#blocks[last] === block && this.#bounds[2 * last + 1] === start) this.#bounds[2 * last + 1] = block.used;
    else {
      this.#blocks.push(block);
      this.#bounds.push(start, block.used);
    }
  }

  #lengthOf(k: number): number {
    return (this.#bounds[2 * k + 1] as number) - (this.#bounds[2 * k] as number);
  }

  #joined(): Buffer {
    return Buffer.concat(
      this.#blocks.map(({ bytes }, k) => bytes.subarray(this.#bounds[2 * k], this.#bounds[2 * k + 1])),
      this.#length,
    );
  }
}

// Buffers of one small size that are used over and over. With a thousand sessions, making a new one for each turn of each of them is work
// for V8's collector, which has to follow what lives for a second through all of its generations.
export const SPARE_BYTES = 4000;
/** As many as there are sessions in a busy process; they are let go of as soon as it is at rest. */
const MOST_SPARE = 1024;

const spare: Buffer[] = [];

/** At least `bytes` long; what is in it is whatever was. */
export function takeBuffer(bytes: number): Buffer {
  if (bytes > SPARE_BYTES) return Buffer.allocUnsafe(bytes);
  return spare.pop() ?? Buffer.allocUnsafe(SPARE_BYTES);
}

/** Nobody else must hold on to it. */
export function giveBack(buffer: Buffer): void {
  if (buffer.length === SPARE_BYTES && spare.length < MOST_SPARE) spare.push(buffer);
}

/** For when nothing is being said. */
export function dropSpare(): void {
  spare.length = 0;
}
