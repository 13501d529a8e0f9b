// Cleans agent output before it is kept for pages: removes secrets and deceptive characters.
import { neutralise } from '../../control-characters.ts';
import { fields } from '../../json-object.ts';
import type { Redactor } from '../../redaction/redact.ts';
import { redactJson } from '../../redaction/redact-json.ts';
import type { Fields } from './read-update.ts';

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
