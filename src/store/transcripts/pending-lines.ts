// Lines that wait to be written, as bytes outside V8's heap: the garbage collector would move strings around, and they become bytes in the
// end anyway. All sessions share a few large blocks, and each session knows its own ranges.

const BLOCK_BYTES = 64 * 1024;
/** Up to this length, assuming the longest encoding is cheaper than measuring it. */
const SHORT_CHARACTERS = 300;
const BYTES_OF_CHARACTER = 3;

/** `bytes[0..used)` is in use; `waiting` of these bytes are not written yet. */
type Block = { readonly bytes: Buffer; used: number; waiting: number };

/** The blocks of all sessions. */
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

  /** For idle times. */
  dropSpare(): void {
    this.#spare = [];
  }
}

const newBlock = (length: number): Block => ({ bytes: Buffer.allocUnsafe(length), used: 0, waiting: 0 });

/** The pending lines of one session. */
export class PendingLines {
  readonly #all: PendingBlocks;
  /** In order: a block, and the start and end of a range in it. */
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

  /** Everything pending, in one piece; the caller must write it before anything is added. */
  take(): Buffer {
    const [only] = this.#blocks;
    const [start, end] = this.#bounds;
    const taken = only && this.#blocks.length === 1 ? only.bytes.subarray(start, end) : this.#joined();
    this.clear();
    return taken;
  }

  clear(): void {
    for (let k = 0; k < this.#blocks.length; k++) this.#all.written(this.#blocks[k] as Block, this.#lengthOf(k));
    // Clears instead of replacing: V8 assumes that a new empty array holds numbers, and the code compiled for that must be discarded.
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

// A pool of small buffers. With a thousand sessions, a new buffer per turn would burden the garbage collector, which moves short-lived
// objects through all generations.
export const SPARE_BYTES = 4000;
/** As many as a busy process has sessions; released when the process becomes idle. */
const MOST_SPARE = 1024;

const spare: Buffer[] = [];

/** At least `bytes` long, with undefined content. */
export function takeBuffer(bytes: number): Buffer {
  if (bytes > SPARE_BYTES) return Buffer.allocUnsafe(bytes);
  return spare.pop() ?? Buffer.allocUnsafe(SPARE_BYTES);
}

/** The caller must not use the buffer afterwards. */
export function giveBack(buffer: Buffer): void {
  if (buffer.length === SPARE_BYTES && spare.length < MOST_SPARE) spare.push(buffer);
}

/** For idle times. */
export function dropSpare(): void {
  spare.length = 0;
}
