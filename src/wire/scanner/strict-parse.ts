// The strict parser: decides about lines that the scanner leaves open. Slow and complete: JSON.parse, then the same spans by decoded keys.
import { isUtf8 } from 'node:buffer';
import { isTooDeep, MAX_NESTING, withoutDepths } from '../../json-nesting.ts';
import { type Frame, outcomeOf, type Span } from '../frame.ts';
import { type Member, members, stringAt, stringEnd } from '../json-path.ts';

/**
 * A line that is not forwarded. `broken` is not JSON, `foreign` is JSON but no message, `ambiguous` is a message that another parser could
 * read differently. The id is present if it is certain, so that the request can be answered.
 */
export type Refusal = {
  readonly why: 'broken' | 'foreign' | 'ambiguous';
  readonly reason: string;
  readonly kind: Frame['kind'] | undefined;
  readonly idText: string | undefined;
  readonly method: string | undefined;
};

const ROUTING_KEYS = ['id', 'method', 'params', 'result', 'error'];
const LINE_FEED = Buffer.from('\n');
const BOM = Buffer.from([0xef, 0xbb, 0xbf]);

/** Decides about `bytes[start..end)`, where `bytes[end]` is the line feed. */
export function strictParse(bytes: Buffer, start: number, end: number): Frame | Refusal {
  // The ACP SDK accepts a byte order mark, so peers may send one. The forwarded frame has none.
  const from = bytes.compare(BOM, 0, 3, start, Math.min(start + 3, end)) === 0 ? start + 3 : start;
  if (!isUtf8(bytes.subarray(from, end))) return { ...envelopeOfInvalid(bytes, from, end), why: 'broken', reason: 'not valid UTF-8' };
  if (isTooDeep(bytes, from, end))
    return { ...envelopeOfDeep(bytes, from, end), why: 'ambiguous', reason: `nested deeper than ${MAX_NESTING} levels` };
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString('utf8', from, end));
  } catch {
    return refuse('broken', 'not JSON');
  }
  if (Array.isArray(value)) return refuse('foreign', 'a batch; ACP has none');
  if (typeof value !== 'object' || value === null) return refuse('foreign', 'not an object');
  let open = from;
  while (bytes[open] !== 0x7b) open++;
  return fromMembers(bytes, from, end, members(bytes, open));
}

/** The frame in a line of our own; undefined when the line is no frame. */
export function parseLine(line: string): Frame | undefined {
  const bytes = Buffer.from(line);
  const parsed = strictParse(bytes, 0, bytes.length - 1);
  return 'why' in parsed ? undefined : parsed;
}

function fromMembers(bytes: Buffer, start: number, end: number, found: readonly Member[]): Frame | Refusal {
  const only = (key: string): Span | undefined => found.find((m) => m.key === key)?.value;
  const id = only('id');
  const methodToken = only('method');
  const method = stringAt(bytes, methodToken);
  const params = only('params');
  const result = only('result');
  const error = only('error');
  const kind = methodToken === undefined ? 'response' : id === undefined ? 'notification' : 'request';
  const twice = ROUTING_KEYS.find((key) => found.filter((m) => m.key === key).length > 1);
  const about = { kind, idText: id && twice !== 'id' ? bytes.toString('utf8', id.start, id.end) : undefined, method } as const;
  if (twice !== undefined) return { ...about, why: 'ambiguous', reason: `"${twice}" occurs twice` };
  if (methodToken !== undefined && method === undefined) return { ...about, why: 'foreign', reason: '"method" is not a string' };
  if (methodToken === undefined && id === undefined) return refuse('foreign', 'neither a method nor an id');
  const outcome = kind === 'response' ? outcomeOf(bytes, result, error) : undefined;
  const body = kind === 'response' ? (outcome === 'error' ? error : result) : params;
  const place = kind === 'response' ? result : params;
  const sessionIds = place === undefined ? [] : members(bytes, place.start).filter((m) => m.key === 'sessionId');
  if (sessionIds.length > 1) return { ...about, why: 'ambiguous', reason: '"sessionId" occurs twice' };
  const token = sessionIds[0]?.value;
  const sessionId = stringAt(bytes, token) === undefined ? undefined : token;
  return { bytes, start, end, kind, method, id, sessionId, session: undefined, body, outcome, template: undefined, text: undefined };
}

function refuse(why: Refusal['why'], reason: string): Refusal {
  return { why, reason, kind: undefined, idText: undefined, method: undefined };
}

type Envelope = Pick<Refusal, 'kind' | 'idText' | 'method'>;

function envelopeOfDeep(bytes: Buffer, start: number, end: number): Envelope {
  const copy = Buffer.concat([withoutDepths(bytes, start, end), LINE_FEED]);
  const { kind, ...decided } = strictParse(copy, 0, copy.length - 1);
  if ('why' in decided) return { kind, idText: decided.idText, method: decided.method };
  return { kind, idText: decided.id && copy.toString('utf8', decided.id.start, decided.id.end), method: decided.method };
}

/** The envelope of a line with invalid UTF-8: its structure is ASCII, so it can still be read. */
function envelopeOfInvalid(bytes: Buffer, start: number, end: number): Envelope {
  const nothing = { kind: undefined, idText: undefined, method: undefined };
  try {
    const copy = Buffer.from(`${bytes.toString('utf8', start, end)}\n`); // with U+FFFD in place of invalid bytes
    const decided = strictParse(copy, 0, copy.length - 1);
    if ('why' in decided) return { kind: decided.kind, idText: decided.idText, method: decided.method };
    const idText = decided.id && copy.toString('utf8', decided.id.start, decided.id.end);
    return { kind: decided.kind, idText: idText?.includes('\ufffd') ? undefined : idText, method: decided.method };
  } catch {
    return nothing;
  }
}

// Reads the body of a frame that the proxy acts on. The proxy must see what the other side sees, so values that parsers read differently are
// refused.
const MAX_DEPTH = 256;

export type ReadBody = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly reason: string };

/** The parsed `params`, `result` or `error` of a frame. */
export function readBody(frame: Frame): ReadBody {
  if (frame.body === undefined) return { ok: true, value: undefined };
  const doubt = doubtOf(frame);
  if (doubt !== undefined) return { ok: false, reason: doubt };
  return { ok: true, value: JSON.parse(frame.bytes.toString('utf8', frame.body.start, frame.body.end)) };
}

/** Why parsers may read the `params`, `result` or `error` of a frame differently. */
export const doubtOf = ({ bytes, body }: Frame): string | undefined => body && doubtIn(bytes, body);

/** One pass over valid JSON. An entry of `open` holds the keys of an object, or is undefined for an array. */
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
