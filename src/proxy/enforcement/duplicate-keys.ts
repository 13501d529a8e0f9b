// Updates with duplicate keys: readers that take the first key and readers that take the last see different updates.
import type { Frame } from '../../wire/frame.ts';
import { members } from '../../wire/json-path.ts';
import { briefOf } from '../../wire/scanner/large-frame.ts';
import { doubtOf } from '../../wire/scanner/strict-parse.ts';
import { factOf } from '../../wire/scanner/template-cache.ts';

/** Updates about modes are evaluated as a whole. */
const OF_MODES = new Set<string | undefined>(['current_mode_update', 'config_option_update']);

/** The kind of an update, and the call it is about. */
const IDENTIFYING_KEYS = ['sessionUpdate', 'toolCallId'];
const KEYS = ['update', ...IDENTIFYING_KEYS].map((key) => `"${key}"`);

/** Why the kind, the call or the mode of an update is ambiguous. Other ambiguities of a tool call only mean that nothing is known of it. */
export function ambiguousUpdate(kind: string | undefined, frame: Frame): string | undefined {
  return factOf(frame, keyTwice) ?? (OF_MODES.has(kind) ? doubtOf(frame) : undefined);
}

/** The same for all frames of a template: the text in which they differ holds no key. */
function keyTwice(frame: Frame): string | undefined {
  const { bytes, start, end, body } = briefOf(frame);
  if (!mayBeTwice(bytes.toString('latin1', start, end))) return undefined;
  const [update, another] = body ? members(bytes, body.start).filter(({ key }) => key === 'update') : [];
  if (another) return '"update" occurs twice';
  const keys = update ? members(bytes, update.value.start).map(({ key }) => key) : [];
  const twice = IDENTIFYING_KEYS.find((key) => keys.indexOf(key) !== keys.lastIndexOf(key));
  return twice === undefined ? undefined : `"${twice}" occurs twice`;
}

/** Cheap, and true of all that count: a letter of a key is itself or `\u` and a number, and inside a string a quote has a backslash before it. */
function mayBeTwice(line: string): boolean {
  return line.includes('\\u') || KEYS.some((key) => line.indexOf(key) !== line.lastIndexOf(key));
}
