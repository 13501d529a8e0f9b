// Outputs that record what was written to them, and how.
import { Writable } from 'node:stream';

/** Accepts everything at once; a vectored write counts as one call. */
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

/** Accepts one write at a time, and only when the test says so. */
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
