// Finds members and elements in valid JSON by their offsets, so that a value can be replaced while all other bytes stay as they are.
import type { Span } from './frame.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACE = 0x7d;
const CLOSE_BRACKET = 0x5d;

export type Member = { readonly key: string; readonly value: Span };

/** The members of the object at `at`, in order, duplicates included; keys are decoded. */
export function members(bytes: Buffer, at: number): Member[] {
  const found: Member[] = [];
  walk(bytes, at, (key, value) => {
    found.push({ key, value });
    return false;
  });
  return found;
}

/** The first member called `key` of the object at `at`; undefined when there is none or `at` is not an object. */
export function member(bytes: Buffer, at: number, key: string): Span | undefined {
  let found: Span | undefined;
  walk(bytes, at, (name, value) => {
    if (name !== key) return false;
    found = value;
    return true;
  });
  return found;
}

/** Whether the object at `at` has several members called `key`: parsers differ in which one they use. */
export function isDuplicate(bytes: Buffer, at: Span | undefined, key: string): boolean {
  let count = 0;
  if (at) walk(bytes, at.start, (name) => name === key && ++count > 1);
  return count > 1;
}

/** The value at `path`, through nested objects. */
export function memberAt(bytes: Buffer, at: Span | undefined, ...path: readonly string[]): Span | undefined {
  let value = at;
  for (const key of path) value = value && member(bytes, value.start, key);
  return value;
}

/** The elements of the array at `at`; none when it is not an array. */
export function elements(bytes: Buffer, at: number): Span[] {
  const found: Span[] = [];
  if (bytes[at] !== OPEN_BRACKET) return found;
  let i = space(bytes, at + 1);
  while (bytes[i] !== CLOSE_BRACKET) {
    const end = valueEnd(bytes, i);
    found.push({ start: i, end });
    i = space(bytes, end);
    if (bytes[i] === COMMA) i = space(bytes, i + 1);
  }
  return found;
}

/** The decoded text of the string token at `span`; undefined when it is no string. */
export function stringAt(bytes: Buffer, span: Span | undefined): string | undefined {
  if (span === undefined || bytes[span.start] !== QUOTE) return undefined;
  for (let i = span.start; i < span.end; i++) if (bytes[i] === BACKSLASH) return JSON.parse(bytes.toString('utf8', span.start, span.end));
  return bytes.toString('utf8', span.start + 1, span.end - 1);
}

function walk(bytes: Buffer, at: number, visit: (key: string, value: Span) => boolean): void {
  if (bytes[at] !== OPEN_BRACE) return;
  let i = space(bytes, at + 1);
  while (bytes[i] !== CLOSE_BRACE) {
    const keyEnd = stringEnd(bytes, i);
    const key = stringAt(bytes, { start: i, end: keyEnd }) as string;
    const start = space(bytes, space(bytes, keyEnd) + 1);
    const end = valueEnd(bytes, start);
    if (visit(key, { start, end })) return;
    i = space(bytes, end);
    if (bytes[i] === COMMA) i = space(bytes, i + 1);
  }
}

function space(bytes: Buffer, from: number): number {
  let i = from;
  let c = bytes[i];
  while (c === 0x20 || c === 0x09 || c === 0x0d || c === 0x0a) c = bytes[++i];
  return i;
}

/** Strings up to this length are walked byte by byte; calling `indexOf` takes longer. */
const SHORT_BYTES = 32;

/** The offset after the string that begins at `from`. */
export function stringEnd(bytes: Buffer, from: number): number {
  let i = from + 1;
  for (const near = i + SHORT_BYTES; i < near; i++) {
    const c = bytes[i];
    if (c === QUOTE) return i + 1;
    if (c === BACKSLASH) i++;
    else if (c === undefined) return i; // not in valid JSON; a caller's mistake must not cause an endless loop
  }
  for (;;) {
    const quote = bytes.indexOf(QUOTE, i);
    if (quote === -1) return bytes.length;
    let escapes = quote;
    while (escapes > i && bytes[escapes - 1] === BACKSLASH) escapes--;
    i = quote + 1;
    if ((quote - escapes) % 2 === 0) return i;
  }
}

function valueEnd(bytes: Buffer, from: number): number {
  const first = bytes[from];
  if (first === QUOTE) return stringEnd(bytes, from);
  if (first !== OPEN_BRACE && first !== OPEN_BRACKET) {
    let i = from;
    for (let c = bytes[i]; c !== undefined && c !== COMMA && c !== CLOSE_BRACE && c !== CLOSE_BRACKET && c > 0x20; c = bytes[i]) i++;
    return i;
  }
  let depth = 0;
  for (let i = from; i < bytes.length; ) {
    const c = bytes[i];
    if (c === QUOTE) {
      i = stringEnd(bytes, i);
      continue;
    }
    if (c === OPEN_BRACE || c === OPEN_BRACKET) depth++;
    else if ((c === CLOSE_BRACE || c === CLOSE_BRACKET) && --depth === 0) return i + 1;
    i++;
  }
  return bytes.length;
}
