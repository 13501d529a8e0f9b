// The envelope scanner: one pass over a line's bytes finds what routing needs. It never guesses: whatever is unusual
// (escaped or duplicate routing keys, a BOM, an array, broken JSON) is "unsure", and `careful.ts` decides.
import { type Frame, LF, type Outcome, type Span } from '../frame.ts';
import { intern, internInside } from './interned.ts';
import { hasEscape, INVALID, skipColon, skipSpace, skipString, skipValue } from './skip-value.ts';
import { learn, likeBefore } from './template-cache.ts';

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

/** What `sessionIdIn` found beside the end of the object. */
let foundSessionId: Span | undefined;

/**
 * The frame that begins at `start`; undefined when unsure. A line feed must follow somewhere in `bytes`; the frame ends at the first one.
 * The text must be valid UTF-8, which is cheaper to check for a whole chunk.
 */
export function scan(bytes: Buffer, start: number): Frame | undefined {
  return likeBefore(bytes, start) ?? scanWhole(bytes, start);
}

function scanWhole(bytes: Buffer, start: number): Frame | undefined {
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
    const keyEnd = skipString(bytes, keyStart);
    // A key that is spelled with an escape may be one of ours, and a second one of ours would be read differently elsewhere.
    if (keyEnd === INVALID || hasEscape) return undefined;
    const key = keyAt(bytes, keyStart + 1, keyEnd - 1);
    if (key !== OTHER && (seen & (1 << key)) !== 0) return undefined;
    seen |= 1 << key;
    const valueStart = skipColon(bytes, keyEnd);
    if (valueStart === INVALID) return undefined;
    let valueEnd: number;
    if ((key === PARAMS || key === RESULT) && bytes[valueStart] === OPEN_BRACE) {
      valueEnd = sessionIdIn(bytes, valueStart);
      if (key === PARAMS) paramsSession = foundSessionId;
      else resultSession = foundSessionId;
    } else valueEnd = skipValue(bytes, valueStart);
    if (valueEnd === INVALID) return undefined;
    if (key === ID) id = { start: valueStart, end: valueEnd };
    else if (key === METHOD) {
      if (bytes[valueStart] !== QUOTE || hasEscape) return undefined;
      method = intern(bytes, valueStart + 1, valueEnd - 1);
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
    const session = sessionId && internInside(bytes, sessionId.start, sessionId.end);
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
      shape: undefined,
      text: undefined,
    };
    if (kind === 'notification') learn(frame);
    return frame;
  }
  if (id === undefined) return undefined;
  const outcome = outcomeOf(bytes, result, error);
  const body = outcome === 'error' ? error : result;
  // Not interned: an answer names a session when that is opened, and many are opened and hardly used.
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
    shape: undefined,
    text: undefined,
  };
}

/** `"error": null` beside a result is how JSON-RPC 1.0 says that there is none. */
export function outcomeOf(bytes: Buffer, result: Span | undefined, error: Span | undefined): Outcome {
  if (result === undefined) return error === undefined ? 'unclear' : 'error';
  return error === undefined || bytes[error.start] === 0x6e ? 'result' : 'unclear';
}

/** The end of the object at `from`, with the place of its `sessionId` in `foundSessionId`. */
function sessionIdIn(bytes: Buffer, from: number): number {
  foundSessionId = undefined;
  let seen = false;
  let i = skipSpace(bytes, from + 1);
  if (bytes[i] === CLOSE_BRACE) return i + 1;
  for (;;) {
    if (bytes[i] !== QUOTE) return INVALID;
    const keyEnd = skipString(bytes, i);
    if (keyEnd === INVALID || hasEscape) return INVALID;
    const isSessionId = keyEnd - i === 11 && isAt(SESSION_ID, bytes, i + 1);
    const valueStart = skipColon(bytes, keyEnd);
    if (valueStart === INVALID) return INVALID;
    const valueEnd = skipValue(bytes, valueStart);
    if (valueEnd === INVALID) return INVALID;
    if (isSessionId) {
      if (seen) return INVALID;
      seen = true;
      if (bytes[valueStart] === QUOTE) {
        if (hasEscape) return INVALID;
        foundSessionId = { start: valueStart, end: valueEnd };
      }
    }
    i = skipSpace(bytes, valueEnd);
    if (bytes[i] === CLOSE_BRACE) return i + 1;
    if (bytes[i] !== COMMA) return INVALID;
    i = skipSpace(bytes, i + 1);
  }
}

/** By length first: few keys have one that concerns us. */
function keyAt(bytes: Buffer, start: number, end: number): number {
  switch (end - start) {
    case 2:
      return isAt(ID_KEY, bytes, start) ? ID : OTHER;
    case 5:
      return isAt(ERROR_KEY, bytes, start) ? ERROR : OTHER;
    case 6:
      return isAt(METHOD_KEY, bytes, start)
        ? METHOD
        : isAt(PARAMS_KEY, bytes, start)
          ? PARAMS
          : isAt(RESULT_KEY, bytes, start)
            ? RESULT
            : OTHER;
    default:
      return OTHER;
  }
}

function isAt(name: Buffer, bytes: Buffer, start: number): boolean {
  for (let i = 0; i < name.length; i++) if (name[i] !== bytes[start + i]) return false;
  return true;
}
