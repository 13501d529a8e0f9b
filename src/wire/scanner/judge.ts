// Reading a frame we must act on. What we judge must be what the other side reads, so a value that parsers are known to
// read differently is refused instead of being guessed at.
import type { Frame, Span } from '../frame.ts';
import { stringAt, stringEnd } from '../json-path.ts';

const MAX_DEPTH = 256;

export type Judged = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly reason: string };

/** The parsed `params`, `result` or `error` of a frame. */
export function readBody(frame: Frame): Judged {
  if (frame.body === undefined) return { ok: true, value: undefined };
  const doubt = doubtOf(frame);
  if (doubt !== undefined) return { ok: false, reason: doubt };
  return { ok: true, value: JSON.parse(frame.bytes.toString('utf8', frame.body.start, frame.body.end)) };
}

/** Why parsers may read the `params`, `result` or `error` of a frame differently. */
export const doubtOf = ({ bytes, body }: Frame): string | undefined => body && doubtIn(bytes, body);

/** One pass over valid JSON; an entry of `open` is the keys seen in an object, or undefined for an array. */
function doubtIn(bytes: Buffer, body: Span): string | undefined {
  const open: (Set<string> | undefined)[] = [];
  let expectsKey = false;
  for (let i = body.start; i < body.end; i++) {
    switch (bytes[i]) {
      case 0x7b: // {
      case 0x5b: // [
        expectsKey = bytes[i] === 0x7b;
        open.push(expectsKey ? new Set() : undefined);
        if (open.length > MAX_DEPTH) return `nested deeper than ${MAX_DEPTH} levels`;
        break;
      case 0x7d: // }
      case 0x5d: // ]
        open.pop();
        expectsKey = false;
        break;
      case 0x2c: // ,
        expectsKey = open.at(-1) !== undefined;
        break;
      case 0x22: {
        const end = stringEnd(bytes, i);
        if (expectsKey) {
          const key = stringAt(bytes, { start: i, end }) as string;
          if (key === '__proto__') return 'a member called "__proto__"';
          const keys = open.at(-1);
          if (keys?.has(key)) return `"${key}" occurs twice`;
          keys?.add(key);
          expectsKey = false;
        }
        i = end - 1;
      }
    }
  }
  return undefined;
}
