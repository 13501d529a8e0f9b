// Stand-ins for the two ends of a pipe that the proxy holds. They have only what `wire/connection.ts` and `wire/writer.ts` use of a stream,
// and nothing moves by itself: the simulator decides when bytes arrive, in which chunks, and when they are read.
import { EventEmitter } from 'node:events';
import type { Readable, Writable } from 'node:stream';

/** The size of one pipe read. */
export const CHUNK_BYTES = 64 * 1024;

/** What the proxy reads. */
export class SimSource extends EventEmitter {
  isPaused = false;
  isOver = false;
  bytesDelivered = 0;
  #queue: Buffer = Buffer.alloc(0);
  #bytesSent = 0;
  #marks: { readonly at: number; readonly reached: () => void }[] = [];
  #endsAfterBytes: number | undefined;
  #atEnd: (() => void) | undefined;

  get readable(): Readable {
    return this as unknown as Readable;
  }
  get queuedBytes(): number {
    return this.#queue.length;
  }
  /** Something can be delivered: bytes, or the end. */
  get isDeliverable(): boolean {
    return !this.isOver && !this.isPaused && (this.#queue.length > 0 || this.#endsAfterBytes !== undefined);
  }
  pause(): this {
    this.isPaused = true;
    return this;
  }
  resume(): this {
    this.isPaused = false;
    return this;
  }
  /** The other side writes; `reached` is called just before the last of these bytes arrives. */
  send(bytes: Buffer, reached: () => void = () => {}): void {
    if (this.isOver || this.#endsAfterBytes !== undefined) return;
    this.#queue = this.#queue.length === 0 ? bytes : Buffer.concat([this.#queue, bytes]);
    this.#bytesSent += bytes.length;
    this.#marks.push({ at: this.#bytesSent, reached });
  }
  /** The other side stops writing; what it wrote before still arrives. */
  finish(): void {
    this.#endsAfterBytes ??= this.#bytesSent;
  }
  /** The last bytes are lost. */
  cut(lostBytes: number): void {
    const lost = Math.min(lostBytes, this.#queue.length);
    this.#queue = this.#queue.subarray(0, this.#queue.length - lost);
    this.#bytesSent -= lost;
    // A line that lacks only its line feed is complete once the end has come.
    this.#atEnd = this.#marks.find(({ at }) => at === this.#bytesSent + 1)?.reached;
    this.#marks = this.#marks.filter(({ at }) => at <= this.#bytesSent);
  }
  /** One chunk arrives, or the end when there is none left. */
  deliver(maxBytes: number): void {
    if (!this.isDeliverable) return;
    if (this.#queue.length === 0) return this.end();
    const chunk = Buffer.from(this.#queue.subarray(0, maxBytes));
    this.#queue = this.#queue.subarray(chunk.length);
    this.bytesDelivered += chunk.length;
    while (this.#marks[0] !== undefined && this.#marks[0].at <= this.bytesDelivered) this.#marks.shift()?.reached();
    this.emit('data', chunk);
  }
  /** Ends at once, whatever is still queued. */
  end(): void {
    if (this.isOver) return;
    this.isOver = true;
    // The proxy accepts a last line that lacks only its line feed.
    (this.#atEnd ?? this.#marks.find(({ at }) => at === this.bytesDelivered + 1)?.reached)?.();
    this.emit('end');
    this.emit('close');
  }
}

/** What the proxy writes to. */
export class SimSink extends EventEmitter {
  writableLength = 0;
  isEnded = false;
  /** The proxy was told to wait, and has not been told to continue. */
  needsDrain = false;
  readonly #highWaterMark: number;
  readonly #onWrite: (bytes: Buffer) => void;
  #chunks: Buffer[] = [];
  isBroken = false;

  constructor(highWaterMark: number, onWrite: (bytes: Buffer) => void) {
    super();
    this.#highWaterMark = highWaterMark;
    this.#onWrite = onWrite;
  }
  get writable(): Writable {
    return this as unknown as Writable;
  }
  write(chunk: Buffer | string): boolean {
    if (this.isEnded || this.isBroken) {
      queueMicrotask(() => this.emit('error', new Error(this.isEnded ? 'write after end' : 'EPIPE')));
      return false;
    }
    const bytes = Buffer.from(chunk as Buffer); // a copy: the writer may reuse its own
    this.#chunks.push(bytes);
    this.writableLength += bytes.length;
    this.#onWrite(bytes);
    if (this.writableLength >= this.#highWaterMark) this.needsDrain = true;
    return !this.needsDrain;
  }
  cork(): void {}
  uncork(): void {}
  end(): void {
    if (this.isEnded) return;
    this.isEnded = true;
    this.emit('finish');
  }
  /** The other side reads. */
  take(maxBytes: number): Buffer {
    const all = Buffer.concat(this.#chunks);
    const taken = all.subarray(0, maxBytes);
    this.#chunks = taken.length < all.length ? [all.subarray(taken.length)] : [];
    this.writableLength -= taken.length;
    if (this.writableLength === 0 && this.needsDrain) {
      this.needsDrain = false;
      if (!this.isBroken) this.emit('drain');
    }
    return taken;
  }
  /** The other side is gone: queued bytes are lost, and writing is an error from now on. */
  break(): void {
    if (this.isBroken) return;
    this.isBroken = true;
    this.#chunks = [];
    this.writableLength = 0;
    if (!this.isEnded) this.emit('error', new Error('EPIPE'));
  }
}
