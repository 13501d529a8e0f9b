// The kind of a session/update, as far as the proxy acts on it. Every update passes here, so the usual spelling is read without a parse.
import { type Frame, isAt } from '../../wire/frame.ts';
import { memberAt, stringAt } from '../../wire/json-path.ts';
import { briefOf } from '../../wire/scanner/large-frame.ts';
import { factOf } from '../../wire/scanner/template-cache.ts';

/** After the session id, as nearly every agent writes it. */
const USUAL = Buffer.from(',"update":{"sessionUpdate":"');
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

const ACTED_ON = [
  'tool_call',
  'tool_call_update',
  'config_option_update',
  'available_commands_update',
  'current_mode_update',
  'subagent_update',
  'usage_update',
  'diff', // of earlier agents
  'session_message',
].map((kind) => ({ kind, token: Buffer.from(`${kind}"`) }));

/** The update is not inside `update`. */
export const BARE = 'bare';

/** The kind of update; undefined when the proxy does not act on it. */
export function kindActedOn(frame: Frame): string | undefined {
  const kind = factOf(frame, kindOfTemplate);
  return kind === VARIES ? kindOf(frame) : kind;
}

/** Whether the proxy acts on no frame of this template. */
export function isNeverActedOn(frame: Frame): boolean {
  return frame.template !== undefined && factOf(frame, kindOfTemplate) === undefined;
}

/** Frames of the template may differ in their kind. */
const VARIES = Symbol('varies');

function kindOfTemplate(frame: Frame): string | undefined | typeof VARIES {
  const { sessionId, text } = frame;
  if (sessionId === undefined || text === undefined) return VARIES;
  const isFixed = text.start >= sessionId.end + USUAL.length && isAt(frame.bytes, sessionId.end, USUAL);
  return isFixed ? kindOf(frame) : VARIES;
}

function kindOf(whole: Frame): string | undefined {
  const frame = briefOf(whole);
  const { bytes, sessionId } = frame;
  if (sessionId === undefined || !isAt(bytes, sessionId.end, USUAL)) return slowKind(frame);
  const start = sessionId.end + USUAL.length;
  for (const { kind, token } of ACTED_ON) if (isAt(bytes, start, token)) return kind;
  let end = start;
  while (bytes[end] !== QUOTE && bytes[end] !== BACKSLASH) end++;
  return bytes[end] === QUOTE ? undefined : slowKind(frame);
}

function slowKind({ bytes, body }: Frame): string | undefined {
  const update = memberAt(bytes, body, 'update');
  if (!update) return BARE;
  const name = stringAt(bytes, memberAt(bytes, update, 'sessionUpdate'));
  return ACTED_ON.find(({ kind }) => kind === name)?.kind;
}
