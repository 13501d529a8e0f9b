// Which kind of update a session/update is, as far as it concerns us. Every one of them passes here, so the usual way of writing it is
// looked at first, and the kinds that make up the bulk (chunks of messages and thoughts) are told apart by their first letters.
import type { Frame } from '../../wire/frame.ts';
import { memberAt, stringAt } from '../../wire/json-path.ts';
import { intern } from '../../wire/scanner/interned.ts';
import { briefOf } from '../../wire/scanner/large-frame.ts';
import { isAt, pieceOf } from '../../wire/scanner/template-cache.ts';

/** Behind the session id, as nearly every agent writes it. */
const USUAL = pieceOf(Buffer.from(',"update":{"sessionUpdate":"'));
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

const ACTED_ON = new Set([
  'tool_call',
  'tool_call_update',
  'config_option_update',
  'available_commands_update',
  'current_mode_update',
  'subagent_update',
  'diff', // of earlier days
  'session_message',
]);
/** 1 for the first two letters of each, where a letter counts as its last five bits: another kind may pass for one of them, and is looked at. */
const BEGINNINGS = new Uint8Array(1 << 10);
for (const kind of ACTED_ON) BEGINNINGS[beginning(kind.charCodeAt(0), kind.charCodeAt(1))] = 1;

function beginning(first: number, second: number): number {
  return ((first & 31) << 5) | (second & 31);
}

/** What was found for the last shape of frames. */
let lastShape: object | undefined;
let lastKind: string | undefined;

/** The kind, when it is one that we act on. */
export function kindActedOn(frame: Frame): string | undefined {
  const { shape } = frame;
  if (shape !== undefined && shape === lastShape) return lastKind;
  const kind = kindOf(frame);
  if (shape !== undefined && isFixed(frame)) {
    lastShape = shape;
    lastKind = kind;
  }
  return kind;
}

/** The kind belongs to the shape, and is not the very string in which frames of the shape differ. */
function isFixed({ bytes, sessionId, text }: Frame): boolean {
  if (sessionId === undefined || text === undefined) return false;
  return text.start >= sessionId.end + USUAL.length && isAt(USUAL, bytes, sessionId.end);
}

function kindOf(whole: Frame): string | undefined {
  const frame = briefOf(whole);
  const { bytes, sessionId } = frame;
  if (sessionId === undefined || !isAt(USUAL, bytes, sessionId.end)) return slowKind(frame);
  const start = sessionId.end + USUAL.length;
  if (BEGINNINGS[beginning(bytes[start] as number, bytes[start + 1] as number)] === 0) {
    const isEscaped = bytes[start] === BACKSLASH || bytes[start + 1] === BACKSLASH;
    return isEscaped ? slowKind(frame) : undefined;
  }
  let end = start + 2;
  while (bytes[end] !== QUOTE && bytes[end] !== BACKSLASH) end++;
  return bytes[end] === QUOTE ? actedOn(intern(bytes, start, end)) : slowKind(frame);
}

function slowKind({ bytes, body }: Frame): string | undefined {
  return actedOn(stringAt(bytes, memberAt(bytes, body, 'update', 'sessionUpdate')));
}

const actedOn = (kind: string | undefined): string | undefined => (kind !== undefined && ACTED_ON.has(kind) ? kind : undefined);
