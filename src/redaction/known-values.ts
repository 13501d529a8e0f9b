// Known secret values, from the configuration, the environment or messages, in every encoding in which they occur in text.

import { createLiteralFinder, type LiteralFinder } from './find-literals.ts';
import { isCommonValue } from './secret-names.ts';
import { type CutFinder, createCutFinder } from './truncated-secrets.ts';

/** A shorter value is too likely an ordinary word. */
const MIN_LENGTH = 8;
/** From this length, each line of a multi-line value counts as a secret of its own, because programs may print single lines. */
const MIN_LINE_LENGTH = 16;
/** Clients may issue new tokens with every session. The oldest are forgotten, except those that agents got at start. */
const MOST_VALUES = 2000;

export type KnownValues = {
  /** `isKept`: never forgotten. */
  add(name: string, value: string, isKept?: boolean): void;
  /** Replaces every known value by its name. */
  replace(text: string): string;
  /** Like `replace`, and also replaces a partial value at either end of the text; with `onlyEnd`, only at the end. */
  replaceCut(text: string, onlyEnd?: boolean): string;
  /** The length of the longest encoded value. */
  longest(): number;
};

export function createKnownValues(): KnownValues {
  const names = new Map<string, string>();
  const kept = new Set<string>();
  let cuts: CutFinder | undefined;
  let built: { readonly literals: readonly string[]; readonly find: LiteralFinder; readonly longest: number } | undefined;

  function build() {
    const literals = [...names.keys()];
    built ??= {
      literals,
      find: createLiteralFinder(literals),
      longest: literals.reduce((longest, { length }) => Math.max(longest, length), 0),
    };
    return built;
  }

  function placesIn(text: string): Place[] {
    if (text.length < MIN_LENGTH || names.size === 0) return [];
    const { find, literals } = build();
    const found = find(text);
    if (found === undefined) return [];
    return [...found].flatMap((index) => placesOf(text, literals[index] as string, names.get(literals[index] as string) ?? ''));
  }

  return {
    add(name, value, isKept = false) {
      if (value.length < MIN_LENGTH || isCommonValue(name, value)) return;
      for (const part of parts(value))
        for (const spelling of spellings(part)) {
          if (isKept) kept.add(spelling);
          if (names.has(spelling)) continue;
          names.set(spelling, plain(name));
          built = undefined;
          cuts = undefined;
        }
      for (const oldest of names.keys()) {
        if (names.size - kept.size <= MOST_VALUES * 16) break;
        if (!kept.has(oldest)) names.delete(oldest);
      }
    },
    replace(text) {
      const places = placesIn(text);
      return places.length === 0 ? text : withoutPlaces(text, places);
    },
    replaceCut(text, onlyEnd = false) {
      const places = placesIn(text);
      cuts ??= createCutFinder(names);
      return names.size === 0 ? text : withoutPlaces(text, [...places, ...cuts(text, onlyEnd)]);
    },
    longest: () => build().longest,
  };
}

type Place = { readonly start: number; readonly end: number; readonly name: string };

function placesOf(text: string, literal: string, name: string): Place[] {
  const places: Place[] = [];
  for (let at = text.indexOf(literal); at >= 0; at = text.indexOf(literal, at + 1))
    places.push({ start: at, end: at + literal.length, name });
  return places;
}

/** Merges overlapping matches under the name of the first, or of the longest if they start together. */
function withoutPlaces(text: string, places: readonly Place[]): string {
  let clean = '';
  let at = 0;
  for (const { start, end, name } of places.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    if (start >= at) clean += `${text.slice(at, start)}[redacted:${name}]`;
    at = Math.max(at, end);
  }
  return clean + text.slice(at);
}

/** The value, its lines when it has several, and the password when it is an address. */
function parts(value: string): readonly string[] {
  const lines = value.includes('\n') ? value.split(/\r?\n/).filter((line) => line.length >= MIN_LINE_LENGTH) : [];
  const [, password = ''] = /^[a-z][a-z0-9+.-]*:\/\/[^\s/:@]*:([^\s/@]+)@/i.exec(value) ?? [];
  return [value, ...lines, ...(password.length >= MIN_LENGTH ? [password] : [])];
}

function spellings(value: string): ReadonlySet<string> {
  const bytes = Buffer.from(value);
  const json = inJson(value);
  const url = encodeURIComponent(value);
  const all = [
    value,
    json,
    inJson(json), // JSON text inside JSON, as tools return it
    json.replaceAll('/', '\\/'),
    url,
    url.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    url.replaceAll('%20', '+'),
    encodeURI(value),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
    ...[0, 1, 2].flatMap((before) => base64Inside(bytes, before)),
  ];
  return new Set(all.filter(({ length }) => length >= MIN_LENGTH));
}

const inJson = (value: string): string => JSON.stringify(value).slice(1, -1);

/** The base64 characters that depend on these bytes only, if `before` bytes precede them in a group of three. */
function base64Inside(bytes: Buffer, before: number): readonly string[] {
  const whole = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
  const inside = whole.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
  return [inside, inside.replaceAll('+', '-').replaceAll('/', '_')];
}

/** A peer controls header names. In a record they stand inside quotes. */
const plain = (name: string): string => name.replace(/[^\w.-]/g, '_').slice(0, 64);
