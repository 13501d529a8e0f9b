// Reads a stream of chunks by exact lengths, with a limit on everything that it passes on.
import { unsafe } from './tree.ts';

export type ByteReader = {
  /** Exactly so many bytes; fewer only at the end. */
  read(length: number): Promise<Buffer>;
  /** Exactly so many bytes, in pieces; throws if the stream ends before. */
  pass(length: number): AsyncIterable<Buffer>;
};

export function createByteReader(source: AsyncIterable<Buffer>, maxBytes: number): ByteReader {
  const iterator = source[Symbol.asyncIterator]();
  let held: Buffer = Buffer.alloc(0);
  let passed = 0;

  async function more(): Promise<boolean> {
    const { done, value } = await iterator.next();
    if (done) return false;
    passed += value.length;
    if (passed > maxBytes) throw unsafe(`it unpacks to more than ${Math.round(maxBytes / 2 ** 20)} MiB`);
    held = value;
    return true;
  }

  async function next(length: number): Promise<Buffer | undefined> {
    while (held.length === 0) if (!(await more())) return undefined;
    const piece = held.subarray(0, length);
    held = held.subarray(piece.length);
    return piece;
  }

  return {
    async read(length) {
      const pieces: Buffer[] = [];
      for (let missing = length; missing > 0; ) {
        const piece = await next(missing);
        if (piece === undefined) break;
        pieces.push(piece);
        missing -= piece.length;
      }
      return Buffer.concat(pieces);
    },
    async *pass(length) {
      for (let missing = length; missing > 0; ) {
        const piece = await next(missing);
        if (piece === undefined) throw unsafe('it ends within a file');
        missing -= piece.length;
        yield piece;
      }
    },
  };
}
