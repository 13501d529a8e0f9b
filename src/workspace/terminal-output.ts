// The output of a terminal: its last bytes, in whole characters.
import { isUtf8 } from 'node:buffer';

export type Output = {
  /** One input per stream: a character may arrive in parts, and the parts of two streams must not mix. */
  stream(): { take(chunk: Buffer): void; end(): void };
  text(): string;
  /** The beginning was dropped. */
  readonly isTruncated: boolean;
};

/** Small writes are joined up to this size: a buffer for each would cost more than its content. */
const CHUNK_BYTES = 16 * 1024;

export function createOutput(limitBytes: number): Output {
  const chunks: Buffer[] = [];
  let bytes = 0;
  let isTruncated = false;

  function add(text: Buffer): void {
    if (text.length === 0) return;
    const last = chunks.at(-1);
    if (last && last.length + text.length <= CHUNK_BYTES) chunks[chunks.length - 1] = Buffer.concat([last, text]);
    else chunks.push(text);
    bytes += text.length;
    if (bytes > limitBytes) cut();
  }
  function cut(): void {
    isTruncated = true;
    for (let first = chunks[0]; first && bytes > limitBytes; first = chunks[0]) {
      let start = Math.min(bytes - limitBytes, first.length);
      while (start < first.length && isContinuation(first[start] as number)) start++;
      bytes -= start;
      if (start === first.length) chunks.shift();
      else chunks[0] = first.subarray(start);
    }
  }

  return {
    stream() {
      let rest: Buffer = Buffer.alloc(0);
      return {
        take(chunk) {
          const all = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
          const whole = all.length - incompleteTail(all);
          rest = Buffer.from(all.subarray(whole));
          add(valid(all.subarray(0, whole)));
        },
        end() {
          add(valid(rest));
          rest = Buffer.alloc(0);
        },
      };
    },
    text: () => Buffer.concat(chunks).toString('utf8'),
    get isTruncated() {
      return isTruncated;
    },
  };
}

const isContinuation = (byte: number): boolean => (byte & 0xc0) === 0x80;

/** Programs may print anything; invalid UTF-8 becomes replacement characters. */
const valid = (bytes: Buffer): Buffer => (isUtf8(bytes) ? bytes : Buffer.from(bytes.toString('utf8')));

/** How many bytes at the end start an incomplete character. */
function incompleteTail(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] as number;
    if (isContinuation(byte)) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? back : 0;
  }
  return 0;
}
