// A frame is the bytes as they came, and where the parts that routing needs lie in them.
import type { Interned } from './scanner/interned.ts';

/** A half-open range of offsets into a frame's `bytes`. */
export type Span = { readonly start: number; readonly end: number };

/** How a response says it went; `unclear` when it carries neither or both of `result` and `error`. */
export type Outcome = 'result' | 'error' | 'unclear';

export type Frame = {
  /** Usually the chunk the frame arrived in: the frame is `bytes[start..end)`, and `bytes[end]` is its line feed. */
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
  readonly kind: 'request' | 'notification' | 'response';
  readonly method: string | undefined;
  /** Kept as bytes: 1, "1", 1.0 and 2^60 must come back as they were sent. */
  readonly id: Span | undefined;
  /** The string token (with its quotes) of `sessionId` one level down, in `params` or `result`. */
  readonly sessionId: Span | undefined;
  /** What stands there, unless it is very long or an answer's: everybody on the frame's way wants to know, and to find out takes time. */
  readonly session: Interned | undefined;
  /** The value of `params`, `result` or `error`. */
  readonly body: Span | undefined;
  /** Responses only. */
  readonly outcome: Outcome | undefined;
  /** Frames of one shape differ in nothing but their session id and one string: what is read elsewhere in one of them holds for all. */
  readonly shape: object | undefined;
  /** That string, with its quotes. */
  readonly text: Span | undefined;
};

export const LF = 0x0a;

/** The text of a span. A copy: a slice kept in a table would pin the whole chunk it lies in. */
export function textOf(bytes: Buffer, span: Span): string {
  return bytes.toString('utf8', span.start, span.end);
}

/** A frame that owns its bytes, for whoever keeps it beyond the current chunk. */
export function detach(frame: Frame): Frame {
  const by = frame.start;
  const moved = (span: Span | undefined) => span && { start: span.start - by, end: span.end - by };
  const { bytes, kind, method, outcome, shape } = frame;
  // One that fills its memory keeps nothing else alive.
  const isAll = by === 0 && bytes.buffer.byteLength === frame.end + 1;
  return {
    bytes: isAll ? bytes : Buffer.from(bytes.subarray(by, frame.end + 1)),
    start: 0,
    end: frame.end - by,
    kind,
    method,
    id: moved(frame.id),
    sessionId: moved(frame.sessionId),
    session: frame.session,
    body: moved(frame.body),
    outcome,
    shape,
    text: moved(frame.text),
  };
}

/** How much we hold for a peer before we stop: the longest frame, and what may wait for one that does not read. */
export type Limits = { readonly maxFrameBytes: number; readonly maxQueueBytes: number };
