// A connection between two parts of one process.
import { PassThrough, type Readable, type Writable } from 'node:stream';

export type InProcessEnd = { readonly input: Readable; readonly output: Writable };

/** What one end writes, the other end reads. */
export function inProcessPair(): { readonly client: InProcessEnd; readonly proxy: InProcessEnd } {
  const [toProxy, fromProxy] = [new PassThrough(), new PassThrough()];
  return { client: { input: fromProxy, output: toProxy }, proxy: { input: toProxy, output: fromProxy } };
}
