// What agents say, before it is kept for pages: without secrets, and without characters that are not what they look like.
import type { Redactor } from '../log/redact.ts';
import { redactJson } from '../log/redact-json.ts';
import { neutralise } from './neutralise.ts';
import { type Fields, fields } from './read-update.ts';

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
  const { type, data } = fields(update.content);
  const isMedia = (type === 'image' || type === 'audio') && typeof data === 'string' && BASE64.test(data);
  if (!isMedia) return fields(cleanValue(update, redact));
  const clean = fields(cleanValue({ ...update, content: { ...fields(update.content), data: '' } }, redact));
  return { ...clean, content: { ...fields(clean.content), data } };
}
