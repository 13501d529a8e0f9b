// The last frames of a connection, for the error that reports its end. They are kept as they passed, a small part of the traffic, and
// redacted only for that error.
import { isObject } from '../../json-object.ts';
import type { Secrets } from '../../redaction/redact.ts';
import type { Frame } from '../../wire/frame.ts';
import { type Observer, patchedId } from '../../wire/observer.ts';
import { type FrameBatch, framesOf } from '../../wire/scanner/frame-batch.ts';
import { idTextOf, isLarge } from '../../wire/scanner/large-frame.ts';
import type { Patch } from '../../wire/writer.ts';
import type { FrameRecord } from './frame-filter.ts';
import { createFrameLines, type FrameLine, type Passed, recordsOf, type Side } from './frame-lines.ts';

const LAST_FRAMES = 50;
/** A frame keeps the chunk alive that it came in. */
const MAX_HELD_BYTES = 256 * 1024;
const LONGEST_TEXT = 1000;
const LONGEST_PAYLOAD = 2000;
const NO_PATCHES: readonly Patch[] = [];

/** A frame, a batch, a line of our own, or input that is no frame; only the size of a large one. */
type What = Frame | FrameBatch | string | { readonly method: string | undefined; readonly kind: string; readonly size: number };

export type LastFrames = { readonly observer: Observer; records(): readonly FrameRecord[] };

/** The newest entries in fixed arrays: an entry is written for every frame, so nothing is allocated for it. */
class Ring {
  readonly #now: () => number;
  readonly #what: (What | undefined)[] = new Array(LAST_FRAMES).fill(undefined);
  readonly #patches: (readonly Patch[])[] = new Array(LAST_FRAMES).fill(NO_PATCHES);
  readonly #isReceived = new Uint8Array(LAST_FRAMES);
  readonly #times = new Float64Array(LAST_FRAMES);
  /** How many there have been. */
  #count = 0;
  #oldest = 0;
  #lastChunk: Buffer | undefined;
  #lastMs = 0;
  /** The chunks that the entries keep alive, with the number of the first entry of each. */
  readonly #chunks: { readonly bytes: number; readonly from: number }[] = [];
  #heldBytes = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  keep(what: What, isReceived: boolean, chunk: Buffer | undefined, patches: readonly Patch[]): void {
    if (chunk === undefined || chunk !== this.#lastChunk) this.#begin(chunk);
    const at = this.#count++ % LAST_FRAMES;
    this.#what[at] = what;
    this.#patches[at] = patches;
    this.#isReceived[at] = isReceived ? 1 : 0;
    this.#times[at] = this.#lastMs;
  }
  /** Reads the clock once for all frames of a chunk, and lets go of the oldest chunks. */
  #begin(chunk: Buffer | undefined): void {
    this.#lastMs = this.#now();
    this.#lastChunk = chunk;
    if (chunk === undefined) return;
    this.#chunks.push({ bytes: chunk.length, from: this.#count });
    this.#heldBytes += chunk.length;
    let [first, second] = this.#chunks;
    while (first && second && (this.#heldBytes > MAX_HELD_BYTES || second.from <= this.#count - LAST_FRAMES)) {
      for (let n = Math.max(this.#oldest, this.#count - LAST_FRAMES); n < second.from; n++) this.#what[n % LAST_FRAMES] = undefined;
      this.#oldest = Math.max(this.#oldest, second.from);
      this.#heldBytes -= first.bytes;
      this.#chunks.shift();
      [first, second] = this.#chunks;
    }
  }
  entries(): readonly Entry[] {
    const all: Entry[] = [];
    for (let n = Math.max(this.#oldest, this.#count - LAST_FRAMES); n < this.#count; n++) {
      const at = n % LAST_FRAMES;
      const what = this.#what[at];
      if (what !== undefined)
        all.push({ what, isReceived: this.#isReceived[at] === 1, patches: this.#patches[at] ?? NO_PATCHES, t: this.#times[at] ?? 0 });
    }
    return all;
  }
}

type Entry = { readonly what: What; readonly isReceived: boolean; readonly patches: readonly Patch[]; readonly t: number };

export function createLastFrames(name: string, side: Side, secrets: Secrets, now: () => number): LastFrames {
  const ring = new Ring(now);

  function keepFrame(frame: Frame, isReceived: boolean, patches: readonly Patch[]): void {
    // The `bytes` of a large frame would join its chunks.
    if (isLarge(frame) || frame.bytes.length > MAX_HELD_BYTES) ring.keep(sizeOf(frame), isReceived, undefined, NO_PATCHES);
    else ring.keep(frame, isReceived, frame.bytes, patches);
  }
  function keepBatch(batch: FrameBatch, isReceived: boolean): void {
    const { bytes } = batch.first;
    if (bytes.length <= MAX_HELD_BYTES) return ring.keep(batch, isReceived, bytes, NO_PATCHES);
    for (const frame of framesOf(batch).slice(-LAST_FRAMES)) ring.keep(sizeOf(frame), isReceived, undefined, NO_PATCHES);
  }
  function records(): readonly FrameRecord[] {
    const lines = createFrameLines(true, secrets);
    const connection = lines.connection(name, side);
    const lineOf = ({ what, isReceived, patches, t }: Entry): string => {
      const about = { connection, isReceived, patches, t, atMs: t };
      if (typeof what === 'string') return lines.of({ ...about, frame: undefined, idText: undefined, line: what });
      if ('size' in what) {
        const method = what.method === undefined ? '' : `,"method":${JSON.stringify(secrets.redact(what.method))}`;
        return `{"t":${t}${isReceived ? connection.received : connection.sent}${what.kind}"${method},"bytes":${what.size},"omitted":true}\n`;
      }
      const ofFrame = (frame: Frame): Passed => {
        const idText = isReceived ? frame.id && idTextOf(frame) : patchedId(frame, patches);
        return { ...about, frame, idText, line: undefined };
      };
      const frames = 'ends' in what ? framesOf(what).slice(-LAST_FRAMES) : [what];
      return frames.map((frame) => lines.of(ofFrame(frame))).join('');
    };
    return [...ring.entries().map(lineOf), ...lines.endAll()]
      .flatMap((text) => text.split('\n'))
      .filter((line) => line !== '')
      .flatMap((line) => recordsOf(shortened(JSON.parse(line))))
      .slice(-LAST_FRAMES);
  }
  return {
    observer: {
      received: (frame) => keepFrame(frame, true, NO_PATCHES),
      receivedBatch: (batch) => keepBatch(batch, true),
      refused: (line) => ring.keep(line.toString('utf8', 0, LONGEST_PAYLOAD), true, undefined, NO_PATCHES),
      sent: (frame, patches) => keepFrame(frame, false, patches),
      sentBatch: (batch) => keepBatch(batch, false),
      sentLine: (line) => (line.length <= MAX_HELD_BYTES ? ring.keep(line, false, undefined, NO_PATCHES) : undefined),
    },
    records,
  };
}

const sizeOf = ({ kind, method, start, end }: Frame) => ({ kind, method, size: end - start });

/** Of a long message its end, which came last; of another payload its size only. */
function shortened(line: FrameLine): FrameLine {
  const { msg, ...rest } = line as FrameLine & { readonly msg?: unknown };
  if (!isObject(msg)) return line;
  const { params } = msg as { params?: { update?: { content?: { text?: unknown } } } };
  const text = params?.update?.content?.text;
  const short =
    typeof text === 'string' && text.length > LONGEST_TEXT
      ? {
          ...msg,
          params: {
            ...params,
            update: { ...params?.update, content: { ...params?.update?.content, text: `…${text.slice(-LONGEST_TEXT)}` } },
          },
        }
      : msg;
  return { ...rest, ...(JSON.stringify(short).length > LONGEST_PAYLOAD ? { omitted: true } : { msg: short }) } as FrameLine;
}
