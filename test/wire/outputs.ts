// Places to write to that tell what was written to them, and how.
import { Writable } from 'node:stream';

/** Takes everything at once; a vectored write counts as one call. */
export function createRecorder(options: { readonly highWaterMark?: number } = {}) {
  const calls: Buffer[][] = [];
  const output = new Writable({
    ...options,
    write(chunk: Buffer, _, done) {
      calls.push([chunk]);
      done();
    },
    writev(chunks, done) {
      calls.push(chunks.map(({ chunk }) => chunk as Buffer));
      done();
    },
  });
  return { output, calls, text: () => Buffer.concat(calls.flat()).toString('utf8'), bytes: () => Buffer.concat(calls.flat()) };
}

/** Takes one write at a time, and only when told to. */
export function createSlowOutput(highWaterMark: number) {
  const taken: Buffer[] = [];
  let proceed: (() => void) | undefined;
  const output = new Writable({
    highWaterMark,
    write(chunk: Buffer, _, done) {
      taken.push(chunk);
      proceed = done;
    },
  });
  return {
    output,
    text: () => Buffer.concat(taken).toString('utf8'),
    take() {
      const done = proceed;
      proceed = undefined;
      done?.();
    },
  };
}
