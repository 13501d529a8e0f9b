// Cleans agent output before it is kept for pages: removes secrets and deceptive characters.
import { fields } from '../../json-object.ts';
import type { Redactor } from '../../redaction/redact.ts';
import { redactJson } from '../../redaction/redact-json.ts';
import type { Fields } from './read-update.ts';

// Characters that act on the display instead of being read: terminal controls and bidirectional marks.
// biome-ignore-start lint/suspicious/noControlCharactersInRegex: that is what is looked for
const TERMINAL_ORDER = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[PX^_][^\u001b]*(?:\u001b\\)?|[ -/]*[0-~])?/g;
const COLOUR = /\u001b\[[\d;]*m/y;
const CONTROL = /[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f-\u009f]/g;
// biome-ignore-end lint/suspicious/noControlCharactersInRegex: that is what is looked for

/** Bidirectional marks and invisible characters. */
const UNSEEN = /[\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb]|\udb40[\udc00-\udc7f]/g;

const named = (mark: string): string => `⟨U+${(mark.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0')}⟩`;

/** Makes any text safe to display: nothing in it can look like something else. */
export function neutralise(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(TERMINAL_ORDER, '').replace(CONTROL, '').replace(UNSEEN, named);
}

/** The same for program output, which keeps its colour sequences. */
export function neutraliseOutput(text: string): string {
  const lines = text.replaceAll('\r\n', '\n').split('\n');
  // Keep what a terminal would show when a program overwrites its line, as progress bars do.
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

/** A loop: a regular expression would backtrack from each carriage return, and a program can print very many. */
function lastOf(line: string): string {
  let end = line.length;
  while (line[end - 1] === '\r') end--;
  return line.slice(end === 0 ? 0 : line.lastIndexOf('\r', end - 1) + 1);
}

const DEEPEST = 100;
const BASE64 = /^[A-Za-z0-9+/\s]*={0,2}$/;

/** A copy that is safe to display. */
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

/** The same for an update. Images and audio are not text; cleaning would corrupt them. */
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
  // Data that is not base64 cannot be shown.
  media.push(BASE64.test(given.data as string) ? (given.data as string) : '');
  return { ...given, data: '' };
}

/** Restores the binary fields; cleaning keeps the shape. */
function withMedia(value: unknown, media: Iterator<string>, depth: number): unknown {
  if (typeof value !== 'object' || value === null || depth > DEEPEST) return value;
  if (Array.isArray(value)) return value.map((one) => withMedia(one, media, depth + 1));
  const given = value as Fields;
  if (isMedia(given)) return { ...given, data: media.next().value ?? '' };
  return Object.fromEntries(Object.entries(given).map(([key, member]) => [key, withMedia(member, media, depth + 1)]));
}
