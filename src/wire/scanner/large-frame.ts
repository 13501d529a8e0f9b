// A frame that came in many chunks and is left in them: it is passed on as they are, and joined only for somebody who reads its bytes.
// Its short form, without the insides of long strings, is there for everybody who wants to know what it is about.
import { type Frame, type Span, textOf } from '../frame.ts';
import { memberAt, stringAt } from '../json-path.ts';
import { type Cut, type Elided, KEPT_BYTES } from './elide.ts';
import { decodedOf, tokenOf } from './interned.ts';
import type { Refusal } from './strict-parse.ts';

/** Shorter ones are joined. */
export const LONG_BYTES = 128 * 1024;

/** Undefined when something that routing needs has been cut, which is never the case in earnest. */
export function longFrame(brief: Frame, cuts: Elided['cuts'], pieces: readonly Buffer[], byteLength: number): LongFrame | undefined {
  const isWhole = [brief.id, brief.sessionId].every((span) => !span || !isCut(span, cuts)) && !isLongName(brief.method ?? '');
  return isWhole ? new LongFrame(brief, cuts, pieces, byteLength) : undefined;
}

// A class, for the sake of `bytes`: V8 keeps a getter of an object's own in tables that only a full collection empties, and its frame with it.
export class LongFrame implements Frame {
  /** The frame with long strings cut short. All other strings are whole in it. */
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
  readonly shape = undefined;
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

  /** Joins it. */
  get bytes(): Buffer {
    if (this.#pieces.length > 1) this.#pieces = [Buffer.concat(this.#pieces, this.#byteLength)];
    return this.#pieces[0] as Buffer;
  }

  /** The chunks that `[start..end)` lies in, in order. */
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

/** A long frame's short form, any other itself: to be read where only short strings are looked for, and never to be sent. */
export function briefOf(frame: Frame): Frame {
  return isLong(frame) ? frame.brief : frame;
}

export function isLong(frame: Frame): frame is LongFrame {
  return frame.end - frame.start >= LONG_BYTES && frame instanceof LongFrame;
}

/** The id of a request or an answer, as it is written. */
export function idTextOf(frame: Frame): string {
  const { bytes, id } = briefOf(frame);
  return textOf(bytes, id as Span);
}

/** The session it names, decoded. */
export function sessionIdOf(frame: Frame): string | undefined {
  if (frame.session) return decodedOf(frame.session);
  const { bytes, sessionId } = briefOf(frame);
  return stringAt(bytes, sessionId);
}

/** The session it names, as it is written. */
export function sessionTokenOf(frame: Frame): string | undefined {
  if (frame.session) return tokenOf(frame.session);
  const { bytes, sessionId } = briefOf(frame);
  return sessionId && textOf(bytes, sessionId);
}

/** The decoded string that is reached from the body of a frame through nested objects. */
export function stringIn(frame: Frame, ...path: readonly string[]): string | undefined {
  const { bytes, body } = briefOf(frame);
  const span = memberAt(bytes, body, ...path);
  // One that is so long may have been cut.
  if (isLong(frame) && span && span.end - span.start > KEPT_BYTES) return stringAt(frame.bytes, memberAt(frame.bytes, frame.body, ...path));
  return stringAt(bytes, span);
}

/** A method has no place in a frame; one that is so long may have been cut. */
const isLongName = (method: string): boolean => Buffer.byteLength(method) > KEPT_BYTES;

const isCut = ({ start, end }: Span, cuts: readonly Cut[]): boolean => cuts.some(({ at }) => at > start && at < end);

/** Cuts are inside of strings, so never where a value begins or ends. */
function inWhole(offset: number, cuts: readonly Cut[]): number {
  let moved = offset;
  for (const { at, bytes } of cuts) if (at < offset) moved += bytes;
  return moved;
}

// Whose a line was that is too long to keep: told from its beginning and its end.
export type Envelope = Pick<Refusal, 'kind' | 'idText' | 'method'>;

const NOTHING: Envelope = { kind: undefined, idText: undefined, method: undefined };
const STRING = String.raw`"(?:[^"\\]|\\.)*"`;
const SCALAR = String.raw`(?:${STRING}|-?\d[\d.eE+-]*|true|false|null)`;
/** Members with plain values before the first nested one, and the name of that one: behind it levels cannot be told apart. */
const HEAD = new RegExp(String.raw`^\s*\{((?:\s*"[^"\\]*"\s*:\s*${SCALAR}\s*,)*)\s*(?:"([^"\\]*)"\s*:)?`);
/** Members with plain values between the last nested one and the closing brace of the whole line. */
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
