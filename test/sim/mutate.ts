// Damages a line of bytes, from one flipped bit to the joined halves of two lines.
import type { Random } from './random.ts';

/** Fragments with a meaning for a frame's reader. */
const FRAGMENTS = [
  ...['{', '}', '[', ']', '"', ',', ':', '\\', '\n', '\r', '\0', '\u2028', 'null', 'true', '-0', '1e400', '9007199254740993'],
  ...['"id":1,', '"id":null,', '"method":"session/prompt",', '"sessionId":"x",', '"result":{},', '"error":{},', '"params":[],'],
  ...['"\\u0069d":7,', '"__proto__":{},', '\\u0000', '\\ud800', '[[[[[[[[[[[[[[[[', '"pad":"', '{"jsonrpc":"2.0","id":1,"method":"x"}'],
].map((text) => Buffer.from(text));
const SPECIAL_BYTES = [Buffer.from([0xff]), Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from([0xc3]), Buffer.from([0x80])];

export function mutate(random: Random, line: Buffer, other: Buffer): Buffer {
  let bytes: Buffer = Buffer.from(line);
  for (let left = random.weighted([[5, 1], [2, 2], [1, 4]] as const); left > 0 && bytes.length > 0; left--) bytes = once(random, bytes, other); // biome-ignore format: one table
  return bytes;
}

function once(random: Random, bytes: Buffer, other: Buffer): Buffer {
  const at = random.int(0, bytes.length - 1);
  const until = Math.min(bytes.length, at + random.int(1, 24));
  const join = (...parts: readonly Buffer[]): Buffer => Buffer.concat(parts);
  switch (random.int(0, 7)) {
    case 0:
      bytes[at] = (bytes[at] as number) ^ (1 << random.int(0, 7));
      return bytes;
    case 1:
      bytes[at] = random.int(0, 255);
      return bytes;
    case 2:
      return join(bytes.subarray(0, at), bytes.subarray(until));
    case 3:
      return join(bytes.subarray(0, until), bytes.subarray(at));
    case 4:
      return bytes.subarray(0, at + 1);
    case 5:
      return join(bytes.subarray(0, at), other.subarray(random.int(0, Math.max(0, other.length - 1))));
    case 6:
      return join(bytes.subarray(0, at), random.pick(SPECIAL_BYTES), bytes.subarray(at));
    default:
      return join(bytes.subarray(0, at), random.pick(FRAGMENTS), bytes.subarray(at));
  }
}

/** The id of a line that every reader takes for a request; undefined when a reader could see something else in it. */
export function requestIdIn(line: Buffer): string | undefined {
  const text = line.toString('utf8');
  if (line.includes(0x0a) || !Buffer.from(text).equals(line)) return undefined;
  try {
    const value = JSON.parse(text) as Record<string, unknown> | null;
    const isRequest =
      typeof value === 'object' && !Array.isArray(value) && typeof value?.method === 'string' && typeof value.id === 'string';
    // A duplicate or escaped member is not found as often or as long as it was written.
    return isRequest && JSON.stringify(value).length === text.length ? JSON.stringify(value.id) : undefined;
  } catch {
    return undefined;
  }
}
