// Values that we know to be secrets, because somebody gave them to us or to an agent, in all the spellings in which they turn up in text.

import { createLiteralFinder, type LiteralFinder } from './find-literals.ts';
import { isCommonValue } from './secret-names.ts';
import { type CutFinder, createCutFinder } from './truncated-secrets.ts';

/** What is shorter is too common a word to take out. */
const MIN_LENGTH = 8;
/** A line of a value of several lines is a secret of its own from here on: whoever prints it may print a line at a time. */
const MIN_LINE_LENGTH = 16;
/** Editors may hand out new tokens with every session; the oldest are forgotten, but not what agents were given at the start. */
const MOST_VALUES = 2000;

export type KnownValues = {
  /** `isKept`: never forgotten, however many come after it. */
  add(name: string, value: string, isKept?: boolean): void;
  /** The text with every known value replaced by its name. */
  replace(text: string): string;
  /** The same, and what is left of a known value at either end of the text; only at its end if it goes on from somewhere. */
  replaceCut(text: string, onlyEnd?: boolean): string;
  /** The longest spelling there is. */
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

/** Places that overlap are one: it is called after the one that begins first, or else is the longest. */
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
    inJson(json), // JSON that stands as text inside JSON: what tools return
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

/** The characters that stand for these bytes alone when `before` others precede them in a group of three, whatever follows. */
function base64Inside(bytes: Buffer, before: number): readonly string[] {
  const whole = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
  const inside = whole.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
  return [inside, inside.replaceAll('+', '-').replaceAll('/', '_')];
}

/** Names may be anything a peer calls a header; in a record they stand inside quotes. */
const plain = (name: string): string => name.replace(/[^\w.-]/g, '_').slice(0, 64);
