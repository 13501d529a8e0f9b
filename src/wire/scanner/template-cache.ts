// Most frames differ from an earlier one only in the session id and one text, as the chunks of a message do. A template is such a frame
// without these two strings. A frame that matches a template byte for byte around them needs no second look at its grammar.
// Gain: a 200 B frame is scanned in 0.25 instead of 0.85 µs, of 0.8 to 1.1 µs in all (goals G1, G13).
import type { Frame, TemplateFacts } from '../frame.ts';
import type { ChunkView } from './chunk-view.ts';
import type { InternTable } from './interned.ts';
import { INVALID, type ValueSkipper } from './skip-value.ts';

/** Expected bytes: whole words first, then the remaining bytes. */
type Piece = { readonly words: Int32Array; readonly rest: Uint8Array; readonly length: number };

/** `head "session id" middle "text" tail`; the tail ends with the line feed. */
type Template = TemplateFacts & {
  readonly head: Piece;
  readonly middle: Piece;
  readonly tail: Piece;
  readonly method: string;
  /** Where the body begins, from the start of the frame, and where it ends, from the end of the frame. */
  readonly bodyStart: number;
  readonly bodyEnd: number;
};

const QUOTE = 0x22;
const CLOSE_BRACE = 0x7d;
const CLOSE_BRACKET = 0x5d;
const CR = 0x0d;
/** A power of two. */
const MAX_TEMPLATES = 4;
/** Longer pieces are rare and not worth comparing. */
const MAX_PIECE_BYTES = 512;
/** When the cache is full, every sixteenth frame without a match replaces the oldest template: varied traffic must not pay for each frame. */
const MISSES_TO_LEARN = 16;

export class TemplateCache {
  private readonly chunk: ChunkView;
  private readonly skipper: ValueSkipper;
  private readonly interned: InternTable;
  private readonly templates: Template[] = [];
  private recent = 0;
  private oldest = 0;
  private misses = 0;

  constructor(chunk: ChunkView, skipper: ValueSkipper, interned: InternTable) {
    this.chunk = chunk;
    this.skipper = skipper;
    this.interned = interned;
  }

  /** The frame at `start` if it matches a template. Undefined says nothing about the frame. */
  match(bytes: Buffer, start: number): Frame | undefined {
    const { templates, recent } = this;
    for (let k = 0; k < templates.length; k++) {
      const at = (recent + k) & (MAX_TEMPLATES - 1);
      const template = templates[at];
      const frame = template && this.matchOne(template, bytes, start);
      if (frame) {
        this.recent = at;
        return frame;
      }
    }
    return undefined;
  }

  private matchOne(template: Template, bytes: Buffer, start: number): Frame | undefined {
    const { skipper } = this;
    const { head, middle, tail, method, bodyStart, bodyEnd } = template;
    const view = this.chunk.of(bytes);
    const idStart = start + head.length;
    if (!isAt(head, view, bytes, start) || bytes[idStart] !== QUOTE) return undefined;
    const idEnd = skipper.skipString(bytes, idStart);
    if (idEnd === INVALID || skipper.hasEscape || !isAt(middle, view, bytes, idEnd)) return undefined;
    const textStart = idEnd + middle.length;
    if (bytes[textStart] !== QUOTE) return undefined;
    const textEnd = skipper.skipString(bytes, textStart);
    if (textEnd === INVALID || !isAt(tail, view, bytes, textEnd)) return undefined;
    const end = textEnd + tail.length - 1;
    const sessionId = { start: idStart, end: idEnd };
    const session = this.interned.ofToken(bytes, idStart, idEnd);
    const body = { start: start + bodyStart, end: end - bodyEnd };
    const text = { start: textStart, end: textEnd };
    return { bytes, start, end, kind: 'notification', method, id: undefined, sessionId, session, body, outcome: undefined, template, text };
  }

  /** Makes a template of a frame that has just been scanned: its last string becomes the text. */
  learn({ bytes, start, end, method, sessionId, body }: Frame): void {
    if (this.templates.length === MAX_TEMPLATES && this.misses++ % MISSES_TO_LEARN !== 0) return;
    if (method === undefined || sessionId === undefined || body === undefined) return;
    const text = { start: this.skipper.lastStringStart, end: behindLastString(bytes, end) };
    // The text must not matter to routing: it lies in the body, and is neither the session id nor a key (which could be a duplicate).
    if (bytes[text.end - 1] !== QUOTE || text.start < sessionId.end || text.start <= body.start || text.end >= body.end) return;
    const longest = Math.max(sessionId.start - start, text.start - sessionId.end, end - text.end);
    if (longest > MAX_PIECE_BYTES) return;
    const head = pieceOf(bytes, start, sessionId.start);
    const middle = pieceOf(bytes, sessionId.end, text.start);
    const tail = pieceOf(bytes, text.end, end + 1);
    this.templates[this.oldest] = { head, middle, tail, method, bodyStart: body.start - start, bodyEnd: end - body.end, facts: [] };
    this.oldest = (this.oldest + 1) & (MAX_TEMPLATES - 1);
  }
}

/**
 * What `fact` says about a frame, computed once per template. `fact` must be a named function, and must not depend on the session id or
 * the text of the frame.
 */
export function factOf<T>(frame: Frame, fact: (frame: Frame) => T): T {
  if (frame.template === undefined) return fact(frame);
  // Pairs in a list: a template has a handful of facts, and comparing their functions is faster than a Map.
  const { facts } = frame.template;
  for (let k = 0; k < facts.length; k += 2) if (facts[k] === fact) return facts[k + 1] as T;
  const value = fact(frame);
  facts.push(fact, value);
  return value;
}

/** A copy of `bytes[start..end)`. */
function pieceOf(bytes: Buffer, start: number, end: number): Piece {
  const length = end - start;
  const words = new Int32Array(length >> 2);
  for (let k = 0; k < words.length; k++) words[k] = bytes.readInt32LE(start + 4 * k);
  return { words, rest: Uint8Array.from(bytes.subarray(start + 4 * words.length, end)), length };
}

function isAt({ words, rest, length }: Piece, view: DataView, bytes: Buffer, start: number): boolean {
  if (start + length > bytes.length) return false;
  let i = start;
  for (let k = 0; k < words.length; k++, i += 4) if (view.getInt32(i, true) !== words[k]) return false;
  for (let k = 0; k < rest.length; k++) if (bytes[i + k] !== rest[k]) return false;
  return true;
}

/** Where the closing brackets at the end of the line begin. After a key there is more than brackets. */
function behindLastString(bytes: Buffer, end: number): number {
  let i = end;
  for (let c = bytes[i - 1]; c === CLOSE_BRACE || c === CLOSE_BRACKET || c === CR; c = bytes[i - 1]) i--;
  return i;
}
