// A large frame stays in the chunks it arrived in. The proxy forwards the chunks, and joins them only when something reads `bytes`.
// Its short form, without the insides of long strings, serves everything that only looks at short values.
import { type Frame, type Span, textOf } from '../frame.ts';
import { memberAt, stringAt } from '../json-path.ts';
import { type Cut, type Elided, KEPT_BYTES } from './elide.ts';
import { decodedOf, tokenOf } from './interned.ts';
import type { Refusal } from './strict-parse.ts';

/** Shorter frames are joined. */
export const LARGE_FRAME_BYTES = 128 * 1024;

/** Undefined when a value that routing needs was cut, which no real frame causes. */
export function largeFrame(brief: Frame, cuts: Elided['cuts'], pieces: readonly Buffer[], byteLength: number): LargeFrame | undefined {
  const isWhole = [brief.id, brief.sessionId].every((span) => !span || !isCut(span, cuts)) && !isLongName(brief.method ?? '');
  return isWhole ? new LargeFrame(brief, cuts, pieces, byteLength) : undefined;
}

// A class because of `bytes`: V8 keeps the getter of an object literal, and the frame with it, until the next full garbage collection.
export class LargeFrame implements Frame {
  /** The frame with its long strings cut. All other strings are whole. */
  readonly brief: Frame;
  readonly start = 0;
  readonly end: number;
  readonly kind: Frame['kind'];
  readonly method: string | undefined;
  readonly id: Span | undefined;
  readonly sessionId: Span | undefined;
  readonly session: Frame['session'];
  readonly body: Span | undefined;
  readonly outcome: Frame['outcome'];
  readonly template = undefined;
  readonly text = undefined;
  #pieces: readonly Buffer[];
  readonly #byteLength: number;

  constructor(brief: Frame, cuts: readonly Cut[], pieces: readonly Buffer[], byteLength: number) {
    const whole = (span: Span | undefined) => span && { start: inWhole(span.start, cuts), end: inWhole(span.end, cuts) };
    this.brief = brief;
    this.end = inWhole(brief.end, cuts);
    this.kind = brief.kind;
    this.method = brief.method;
    this.id = whole(brief.id);
    this.sessionId = whole(brief.sessionId);
    this.session = brief.session;
    this.body = whole(brief.body);
    this.outcome = brief.outcome;
    this.#pieces = pieces;
    this.#byteLength = byteLength;
  }

  /** Joins the chunks. */
  get bytes(): Buffer {
    if (this.#pieces.length > 1) this.#pieces = [Buffer.concat(this.#pieces, this.#byteLength)];
    return this.#pieces[0] as Buffer;
  }

  /** Visits the parts of the chunks that make up `[start..end)`, in order. */
  eachPiece(start: number, end: number, visit: (bytes: Buffer, start: number, end: number) => void): void {
    let at = 0;
    for (const piece of this.#pieces) {
      const from = Math.max(start - at, 0);
      const to = Math.min(end - at, piece.length);
      if (from < to) visit(piece, from, to);
      at += piece.length;
    }
  }
}

/** The short form of a large frame, or the frame itself. For reading short values; never send it. */
export function briefOf(frame: Frame): Frame {
  return isLarge(frame) ? frame.brief : frame;
}

export function isLarge(frame: Frame): frame is LargeFrame {
  return frame.end - frame.start >= LARGE_FRAME_BYTES && frame instanceof LargeFrame;
}

/** The id of a request or response, as written in the frame. */
export function idTextOf(frame: Frame): string {
  const { bytes, id } = briefOf(frame);
  return textOf(bytes, id as Span);
}

/** The frame's session id, decoded. */
export function sessionIdOf(frame: Frame): string | undefined {
  if (frame.session) return decodedOf(frame.session);
  const { bytes, sessionId } = briefOf(frame);
  return stringAt(bytes, sessionId);
}

/** The frame's session id as a JSON token. */
export function sessionTokenOf(frame: Frame): string | undefined {
  if (frame.session) return tokenOf(frame.session);
  const { bytes, sessionId } = briefOf(frame);
  return sessionId && textOf(bytes, sessionId);
}

/** The decoded string at `path` inside the body. */
export function stringIn(frame: Frame, ...path: readonly string[]): string | undefined {
  const { bytes, body } = briefOf(frame);
  const span = memberAt(bytes, body, ...path);
  // A string of this length may have been cut.
  if (isLarge(frame) && span && span.end - span.start > KEPT_BYTES)
    return stringAt(frame.bytes, memberAt(frame.bytes, frame.body, ...path));
  return stringAt(bytes, span);
}

/** Frames have no span for the method, so its length tells whether it may have been cut. */
const isLongName = (method: string): boolean => Buffer.byteLength(method) > KEPT_BYTES;

const isCut = ({ start, end }: Span, cuts: readonly Cut[]): boolean => cuts.some(({ at }) => at > start && at < end);

/** An offset of the short form in the whole frame. Cuts lie inside strings, so no value begins or ends at one. */
function inWhole(offset: number, cuts: readonly Cut[]): number {
  let moved = offset;
  for (const { at, bytes } of cuts) if (at < offset) moved += bytes;
  return moved;
}

// The envelope of a line that exceeds the frame limit, read from its first and last bytes.
export type Envelope = Pick<Refusal, 'kind' | 'idText' | 'method'>;

const NOTHING: Envelope = { kind: undefined, idText: undefined, method: undefined };
const STRING = String.raw`"(?:[^"\\]|\\.)*"`;
const SCALAR = String.raw`(?:${STRING}|-?\d[\d.eE+-]*|true|false|null)`;
/** Scalar members before the first nested one, and the key of that one: after it, nesting levels are unknown. */
const HEAD = new RegExp(String.raw`^\s*\{((?:\s*"[^"\\]*"\s*:\s*${SCALAR}\s*,)*)\s*(?:"([^"\\]*)"\s*:)?`);
/** Scalar members between the last nested one and the closing brace of the line. */
const TAIL = new RegExp(String.raw`((?:,\s*"[^"\\]*"\s*:\s*${SCALAR}\s*)+)\}\s*$`);
const MEMBER = new RegExp(String.raw`"([^"\\]*)"\s*:\s*(${SCALAR})`, 'g');

export function envelopeOfOversized(head: Buffer, tail: Buffer): Envelope {
  const [, before = '', nested] = HEAD.exec(head.toString('utf8')) ?? [];
  const [, behind = ''] = TAIL.exec(tail.toString('utf8')) ?? [];
  const members = new Map([...before.matchAll(MEMBER), ...behind.matchAll(MEMBER)].map(([, key, value]) => [key, value]));
  const idText = members.get('id');
  if (idText !== undefined && !isJson(idText)) return NOTHING;
  const method = methodOf(members.get('method'));
  if (method !== undefined || nested === 'params') return { kind: idText === undefined ? 'notification' : 'request', idText, method };
  return nested === 'result' || nested === 'error' ? { kind: 'response', idText, method } : NOTHING;
}

function methodOf(token: string | undefined): string | undefined {
  return token?.startsWith('"') && isJson(token) ? JSON.parse(token) : undefined;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
