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
