// A frame is the bytes as they arrived, and the offsets of the parts that routing needs.
import type { Interned } from './scanner/interned.ts';

/** A half-open range of offsets into a frame's `bytes`. */
export type Span = { readonly start: number; readonly end: number };

/** What a response carries; `unclear` when it has neither or both of `result` and `error`. */
export type Outcome = 'result' | 'error' | 'unclear';

/** What `factOf` remembers for the frames of one template: functions and their results in turn. */
export type TemplateFacts = { readonly facts: unknown[] };

export type Frame = {
  /** Usually the chunk in which the frame arrived: the frame is `bytes[start..end)`, and `bytes[end]` is its line feed. */
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
  readonly kind: 'request' | 'notification' | 'response';
  readonly method: string | undefined;
  /** Kept as bytes: 1, "1", 1.0 and 2^60 must come back as they were sent. */
  readonly id: Span | undefined;
  /** The string token (with its quotes) of `sessionId` one level down, in `params` or `result`. */
  readonly sessionId: Span | undefined;
  /** The session id, interned; undefined in responses, for very long ids, and after a strict parse. */
  readonly session: Interned | undefined;
  /** The value of `params`, `result` or `error`. */
  readonly body: Span | undefined;
  /** Responses only. */
  readonly outcome: Outcome | undefined;
  /** Frames of one template differ only in their session id and in `text`. See `factOf`. */
  readonly template: TemplateFacts | undefined;
  /** That text, a string token with its quotes. */
  readonly text: Span | undefined;
};

export const LF = 0x0a;

/** JSON-RPC 1.0 sends `"error": null` with a result. */
export function outcomeOf(bytes: Buffer, result: Span | undefined, error: Span | undefined): Outcome {
  if (result === undefined) return error === undefined ? 'unclear' : 'error';
  return error === undefined || bytes[error.start] === 0x6e ? 'result' : 'unclear';
}

/** The text of a span. A copy: a slice kept in a table would pin the whole chunk it lies in. */
export function textOf(bytes: Buffer, span: Span): string {
  return bytes.toString('utf8', span.start, span.end);
}

/** A frame with its own copy of the bytes: keep this one beyond the current chunk. */
export function detach(frame: Frame): Frame {
  const by = frame.start;
  const moved = (span: Span | undefined) => span && { start: span.start - by, end: span.end - by };
  const { bytes, kind, method, outcome, template } = frame;
  // A frame that fills its buffer keeps nothing else in memory.
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
    template,
    text: moved(frame.text),
  };
}

/** The longest frame a peer may send, and the most that may wait for a peer that does not read. */
export type Limits = { readonly maxFrameBytes: number; readonly maxQueueBytes: number };

/** Whether `wanted` stands at `at`. */
export function isAt(bytes: Buffer, at: number, wanted: Buffer): boolean {
  for (let k = 0; k < wanted.length; k++) if (bytes[at + k] !== wanted[k]) return false;
  return true;
}
