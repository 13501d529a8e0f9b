// What agents say, before it is kept for pages: without secrets, and without characters that are not what they look like.
import { fields } from '../../json-object.ts';
import type { Redactor } from '../../redaction/redact.ts';
import { redactJson } from '../../redaction/redact-json.ts';
import type { Fields } from './read-update.ts';

// Characters that do something to a reader's eyes instead of being read: orders to a terminal, and marks that turn text around.
// biome-ignore-start lint/suspicious/noControlCharactersInRegex: that is what is looked for
const TERMINAL_ORDER = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[PX^_][^\u001b]*(?:\u001b\\)?|[ -/]*[0-~])?/g;
const COLOUR = /\u001b\[[\d;]*m/y;
const CONTROL = /[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f-\u009f]/g;
// biome-ignore-end lint/suspicious/noControlCharactersInRegex: that is what is looked for

/** Marks that change the order of what is shown, and characters that are there and cannot be seen. */
const UNSEEN = /[\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb]|\udb40[\udc00-\udc7f]/g;

const named = (mark: string): string => `⟨U+${(mark.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0')}⟩`;

/** Text of anybody's that can be shown: nothing in it is anything but what it looks like. */
export function neutralise(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(TERMINAL_ORDER, '').replace(CONTROL, '').replace(UNSEEN, named);
}

/** The same for what a program printed: its colours stay, as the sequences they are. */
export function neutraliseOutput(text: string): string {
  const lines = text.replaceAll('\r\n', '\n').split('\n');
  // What a program has written over itself, as progress bars do: the last of it is what one would see.
  const last = lines.map(lastOf);
  return last
    .join('\n')
    .replace(TERMINAL_ORDER, (order) => {
      COLOUR.lastIndex = 0;
      return COLOUR.test(order) && COLOUR.lastIndex === order.length ? order : '';
    })
    .replace(CONTROL, '')
    .replace(UNSEEN, named);
}

/** Step by step: a pattern would begin anew at each of the returns, and a program can print very many. */
function lastOf(line: string): string {
  let end = line.length;
  while (line[end - 1] === '\r') end--;
  return line.slice(end === 0 ? 0 : line.lastIndexOf('\r', end - 1) + 1);
}

const DEEPEST = 100;
const BASE64 = /^[A-Za-z0-9+/\s]*={0,2}$/;

/** A copy that can be shown. */
export function cleanValue(value: unknown, redact: Redactor): unknown {
  return walk(redactJson(value, redact), 0);
}

function walk(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return neutralise(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth > DEEPEST) return undefined;
  if (Array.isArray(value)) return value.map((one) => walk(one, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [neutralise(key), walk(member, depth + 1)]));
}

/** An update likewise. Pictures and sound are not text: to look for words in them would only spoil them. */
export function cleanUpdate(update: Fields, redact: Redactor): Fields {
  const media: string[] = [];
  const clean = cleanValue(withoutMedia(update, media, 0), redact);
  return fields(media.length === 0 ? clean : withMedia(clean, media.values(), 0));
}

const isMedia = ({ type, data }: Fields): boolean => (type === 'image' || type === 'audio') && typeof data === 'string';

function withoutMedia(value: unknown, media: string[], depth: number): unknown {
  if (typeof value !== 'object' || value === null || depth > DEEPEST) return value;
  if (Array.isArray(value)) return value.map((one) => withoutMedia(one, media, depth + 1));
  const given = value as Fields;
  if (!isMedia(given))
    return Object.fromEntries(Object.entries(given).map(([key, member]) => [key, withoutMedia(member, media, depth + 1)]));
  // What is no base64 is nothing that could be shown.
  media.push(BASE64.test(given.data as string) ? (given.data as string) : '');
  return { ...given, data: '' };
}

/** Each where it was taken from: what was cleaned has the shape it had. */
function withMedia(value: unknown, media: Iterator<string>, depth: number): unknown {
  if (typeof value !== 'object' || value === null || depth > DEEPEST) return value;
  if (Array.isArray(value)) return value.map((one) => withMedia(one, media, depth + 1));
  const given = value as Fields;
  if (isMedia(given)) return { ...given, data: media.next().value ?? '' };
  return Object.fromEntries(Object.entries(given).map(([key, member]) => [key, withMedia(member, media, depth + 1)]));
}
