// The envelope scanner: one pass over a line finds the parts that routing needs. It never guesses: an unusual line (escaped or duplicate
// routing keys, a byte order mark, an array, broken JSON) is left to the strict parser.
// Gain: without a JSON.parse per frame, a 200 B frame costs a third of what it costs the `naive` proxy (goal G13).
import { type Frame, isAt, LF, outcomeOf, type Span } from '../frame.ts';
import { ChunkView } from './chunk-view.ts';
import { createElider, type Elider } from './elide.ts';
import { batchFrom, type FrameBatch } from './frame-batch.ts';
import { InternTable } from './interned.ts';
import { INVALID, skipColon, skipSpace, ValueSkipper } from './skip-value.ts';
import { TemplateCache } from './template-cache.ts';
import { createTextScanner, type TextScanner } from './text-end.ts';

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

const OTHER = 0;
const ID = 1;
const METHOD = 2;
const PARAMS = 3;
const RESULT = 4;
const ERROR = 5;

const ID_KEY = Buffer.from('id');
const METHOD_KEY = Buffer.from('method');
const PARAMS_KEY = Buffer.from('params');
const RESULT_KEY = Buffer.from('result');
const ERROR_KEY = Buffer.from('error');
const SESSION_ID = Buffer.from('sessionId');

/**
 * Reads frames, and remembers what they have in common: templates, session ids, methods. One instance serves all connections of a process.
 * It keeps nothing of a connection.
 */
export class Scanner {
  private readonly chunk = new ChunkView();
  private readonly skipper = new ValueSkipper(this.chunk);
  private readonly interned = new InternTable();
  private readonly templates = new TemplateCache(this.chunk, this.skipper, this.interned);
  private textScanner: TextScanner | undefined;
  /** What `sessionIdIn` found, besides the end of the object. */
  private foundSessionId: Span | undefined;
  /** Called with the size of each large frame after it was handled. */
  readonly afterLargeFrame: ((bytes: number) => void) | undefined;

  constructor(afterLargeFrame?: (bytes: number) => void) {
    this.afterLargeFrame = afterLargeFrame;
  }

  /**
   * The frame that begins at `start`; undefined when `strictParse` must decide. A line feed must follow in `bytes`; the frame ends at the
   * first one. The text must be valid UTF-8, which is cheaper to check for a whole chunk.
   */
  scan(bytes: Buffer, start: number): Frame | undefined {
    return this.templates.match(bytes, start) ?? this.scanWhole(bytes, start);
  }

  /** The frames from `first` on, up to `limit`, that differ in their text and session only; undefined if there is only one. */
  batchFrom(first: Frame, limit: number, maxFrameBytes: number): FrameBatch | undefined {
    return first.template && batchFrom(first, this.chunk.of(first.bytes), this.interned, limit, maxFrameBytes);
  }

  /** For the large frames of one connection. */
  createElider(): Elider {
    return createElider(() => {
      this.textScanner ??= createTextScanner();
      return this.textScanner;
    });
  }

  /** Releases the chunk that was scanned last, so that a large one does not stay in memory. */
  releaseChunk(): void {
    this.chunk.release();
  }

  private scanWhole(bytes: Buffer, start: number): Frame | undefined {
    const { skipper } = this;
    let i = skipSpace(bytes, start);
    if (bytes[i] !== OPEN_BRACE) return undefined;
    let seen = 0;
    let id: Span | undefined;
    let method: string | undefined;
    let params: Span | undefined;
    let result: Span | undefined;
    let error: Span | undefined;
    let paramsSession: Span | undefined;
    let resultSession: Span | undefined;
    do {
      const keyStart = skipSpace(bytes, i + 1);
      if (bytes[keyStart] !== QUOTE) return undefined;
      const keyEnd = skipper.skipString(bytes, keyStart);
      // An escaped key may be a routing key, and other parsers read a duplicate routing key differently.
      if (keyEnd === INVALID || skipper.hasEscape) return undefined;
      const key = keyAt(bytes, keyStart + 1, keyEnd - 1);
      if (key !== OTHER && (seen & (1 << key)) !== 0) return undefined;
      seen |= 1 << key;
      const valueStart = skipColon(bytes, keyEnd);
      if (valueStart === INVALID) return undefined;
      let valueEnd: number;
      if ((key === PARAMS || key === RESULT) && bytes[valueStart] === OPEN_BRACE) {
        valueEnd = this.sessionIdIn(bytes, valueStart);
        if (key === PARAMS) paramsSession = this.foundSessionId;
        else resultSession = this.foundSessionId;
      } else valueEnd = skipper.skipValue(bytes, valueStart);
      if (valueEnd === INVALID) return undefined;
      if (key === ID) id = { start: valueStart, end: valueEnd };
      else if (key === METHOD) {
        if (bytes[valueStart] !== QUOTE || skipper.hasEscape) return undefined;
        method = this.interned.textOf(bytes, valueStart + 1, valueEnd - 1);
      } else if (key === PARAMS) params = { start: valueStart, end: valueEnd };
      else if (key === RESULT) result = { start: valueStart, end: valueEnd };
      else if (key === ERROR) error = { start: valueStart, end: valueEnd };
      i = skipSpace(bytes, valueEnd);
    } while (bytes[i] === COMMA);
    if (bytes[i] !== CLOSE_BRACE) return undefined;
    const end = skipSpace(bytes, i + 1);
    if (bytes[end] !== LF) return undefined;
    if (method !== undefined) {
      const kind = id === undefined ? 'notification' : 'request';
      const sessionId = paramsSession;
      const session = sessionId && this.interned.ofToken(bytes, sessionId.start, sessionId.end);
      const outcome = undefined;
      const frame: Frame = {
        bytes,
        start,
        end,
        kind,
        method,
        id,
        sessionId,
        session,
        body: params,
        outcome,
        template: undefined,
        text: undefined,
      };
      if (kind === 'notification') this.templates.learn(frame);
      return frame;
    }
    if (id === undefined) return undefined;
    const outcome = outcomeOf(bytes, result, error);
    const body = outcome === 'error' ? error : result;
    // Not interned: an answer names a session when it opens one, and many are opened and hardly used.
    const session = undefined;
    return {
      bytes,
      start,
      end,
      kind: 'response',
      method,
      id,
      sessionId: resultSession,
      session,
      body,
      outcome,
      template: undefined,
      text: undefined,
    };
  }

  /** The end of the object at `from`, with the place of its `sessionId` in `this.foundSessionId`. */
  private sessionIdIn(bytes: Buffer, from: number): number {
    const { skipper } = this;
    this.foundSessionId = undefined;
    let seen = false;
    let i = skipSpace(bytes, from + 1);
    if (bytes[i] === CLOSE_BRACE) return i + 1;
    for (;;) {
      if (bytes[i] !== QUOTE) return INVALID;
      const keyEnd = skipper.skipString(bytes, i);
      if (keyEnd === INVALID || skipper.hasEscape) return INVALID;
      const isSessionId = keyEnd - i === 11 && isAt(bytes, i + 1, SESSION_ID);
      const valueStart = skipColon(bytes, keyEnd);
      if (valueStart === INVALID) return INVALID;
      const valueEnd = skipper.skipValue(bytes, valueStart);
      if (valueEnd === INVALID) return INVALID;
      if (isSessionId) {
        if (seen) return INVALID;
        seen = true;
        if (bytes[valueStart] === QUOTE) {
          if (skipper.hasEscape) return INVALID;
          this.foundSessionId = { start: valueStart, end: valueEnd };
        }
      }
      i = skipSpace(bytes, valueEnd);
      if (bytes[i] === CLOSE_BRACE) return i + 1;
      if (bytes[i] !== COMMA) return INVALID;
      i = skipSpace(bytes, i + 1);
    }
  }
}

/** By length first: few keys have the length of a routing key. */
function keyAt(bytes: Buffer, start: number, end: number): number {
  switch (end - start) {
    case 2:
      return isAt(bytes, start, ID_KEY) ? ID : OTHER;
    case 5:
      return isAt(bytes, start, ERROR_KEY) ? ERROR : OTHER;
    case 6:
      return isAt(bytes, start, METHOD_KEY)
        ? METHOD
        : isAt(bytes, start, PARAMS_KEY)
          ? PARAMS
          : isAt(bytes, start, RESULT_KEY)
            ? RESULT
            : OTHER;
    default:
      return OTHER;
  }
}
