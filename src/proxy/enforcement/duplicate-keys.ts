// Updates that say one thing to whoever takes the first of two equal keys, and another to whoever takes the last.
import type { Frame } from '../../wire/frame.ts';
import { members } from '../../wire/json-path.ts';
import { briefOf } from '../../wire/scanner/large-frame.ts';
import { doubtOf } from '../../wire/scanner/strict-parse.ts';
import { factOf } from '../../wire/scanner/template-cache.ts';

/** These tell of modes, which are judged as a whole. */
const OF_MODES = new Set<string | undefined>(['current_mode_update', 'config_option_update']);

/** What an update is, and which call it speaks of. */
const TELLING = ['sessionUpdate', 'toolCallId'];
const KEYS = ['update', ...TELLING].map((key) => `"${key}"`);

/** Why what an update is, or which call or mode it speaks of, cannot be told. Other doubts about a tool call only mean that nothing is known of it. */
export function duplicateKeyUpdates(kind: string | undefined, frame: Frame): string | undefined {
  return factOf(frame, keyTwice) ?? (OF_MODES.has(kind) ? doubtOf(frame) : undefined);
}

/** The same for all frames of a template: the text in which they differ holds no key. */
function keyTwice(frame: Frame): string | undefined {
  const { bytes, start, end, body } = briefOf(frame);
  if (!mayBeTwice(bytes.toString('latin1', start, end))) return undefined;
  const [update, another] = body ? members(bytes, body.start).filter(({ key }) => key === 'update') : [];
  if (another) return '"update" occurs twice';
  const keys = update ? members(bytes, update.value.start).map(({ key }) => key) : [];
  const twice = TELLING.find((key) => keys.indexOf(key) !== keys.lastIndexOf(key));
  return twice === undefined ? undefined : `"${twice}" occurs twice`;
}

/** Cheap, and true of all that count: a letter of a key is itself or `\u` and a number, and inside a string a quote has a backslash before it. */
function mayBeTwice(line: string): boolean {
  return line.includes('\\u') || KEYS.some((key) => line.indexOf(key) !== line.lastIndexOf(key));
}
