// Truncated keys, as in titles and shortened lines: too short for their form, and still most of a key.
import { ANY_BEGINNING, nameOfBeginning } from './provider-patterns.ts';

/** Ordinary words also follow `npm_` and `sk-`, but hardly with such a mix of letters and digits. */
const MIX = '(?=[A-Za-z]*\\d)(?=\\d*[A-Za-z])[A-Za-z0-9]{8}';
const CUT_KEY = new RegExp(`(?<![A-Za-z0-9])(${ANY_BEGINNING})(?:(?=${MIX})|(?=[\\w.+/=-]*[^A-Za-z0-9]${MIX}))[\\w.+/=-]+$`);

/** Keys of a known form are hardly longer. */
const LONGEST = 4096;
const SHORTEST = 11;
const ELLIPSES = ['…', '...'];
const ESCAPES = 'nrtbf';

/** Removes a partial key at the very end of a text and before an ellipsis. */
export function withoutCutKeys(text: string): string {
  if (text.length < SHORTEST) return text;
  const clean = ELLIPSES.reduce(withoutKeysBefore, text);
  const start = startOfWord(clean, 0, clean.length);
  return start === undefined ? clean : clean.slice(0, start) + withoutKey(clean.slice(start));
}

function withoutKeysBefore(text: string, ellipsis: string): string {
  let clean = '';
  let done = 0;
  let lastEnd = 0;
  for (let at = text.indexOf(ellipsis); at !== -1; at = text.indexOf(ellipsis, lastEnd)) {
    const start = startOfWord(text, lastEnd, at);
    lastEnd = at + ellipsis.length;
    if (start === undefined) continue;
    clean += text.slice(done, start) + withoutKey(text.slice(start, at));
    done = at;
  }
  return done === 0 ? text : clean + text.slice(done);
}

/** Of the word that ends there; undefined for one that is too short to be most of a key, as nearly all are. */
function startOfWord(text: string, from: number, end: number): number | undefined {
  const least = Math.max(from, end - LONGEST);
  let start = end;
  while (start > least && isOfWord(text.charCodeAt(start - 1))) start--;
  // The letter of an escape, in JSON that stands as text, is none of the word's.
  if (start > from && text[start - 1] === '\\' && ESCAPES.includes(text[start] as string)) start++;
  return end - start < SHORTEST ? undefined : start;
}

const withoutKey = (word: string): string => word.replace(CUT_KEY, (_, beginning: string) => `[redacted:${nameOfBeginning(beginning)}]`);

/** Letters, digits and `_.+/=-`. */
function isOfWord(code: number): boolean {
  return (
    (code >= 0x61 && code <= 0x7a) ||
    (code >= 0x41 && code <= 0x5a) ||
    (code >= 0x2d && code <= 0x39) ||
    code === 0x5f ||
    code === 0x2b ||
    code === 0x3d
  );
}

// The ends of a text may go through a secret: what is left of it there is still too much.
/** Fewer characters of a secret are of no use to an attacker, and too many texts end with them by chance. */
const FEWEST = 6;

/** Many URLs and paths share their start. */
const PLACE = /^(?:[a-z][a-z0-9+.-]*:\/\/|\/)/i;
const FEWEST_OF_PLACE = 16;

export type CutFinder = (text: string, onlyEnd: boolean) => { readonly start: number; readonly end: number; readonly name: string }[];

/** Finds partial known values at the start and at the end of a text. */
export function createCutFinder(names: ReadonlyMap<string, string>): CutFinder {
  const byBeginning = new Map<string, string[]>();
  const byEnd = new Map<string, string[]>();
  let longest = 0;
  for (const literal of names.keys()) {
    note(byBeginning, literal.slice(0, FEWEST), literal);
    note(byEnd, literal.slice(-FEWEST), literal);
    longest = Math.max(longest, literal.length);
  }
  return (text, onlyEnd) => {
    const found: { start: number; end: number; name: string }[] = [];
    for (let at = Math.max(0, text.length - longest + 1); at <= text.length - FEWEST; at++) {
      const rest = text.slice(at);
      const literal = byBeginning
        .get(rest.slice(0, FEWEST))
        ?.find((one) => one.startsWith(rest) && !(PLACE.test(one) && rest.length < FEWEST_OF_PLACE));
      if (literal === undefined) continue;
      found.push({ start: at, end: text.length, name: names.get(literal) ?? '' });
      break;
    }
    if (onlyEnd) return found;
    for (let end = Math.min(text.length, longest - 1); end >= FEWEST; end--) {
      const literal = byEnd.get(text.slice(end - FEWEST, end))?.find((one) => one.endsWith(text.slice(0, end)));
      if (literal === undefined) continue;
      found.push({ start: 0, end, name: names.get(literal) ?? '' });
      break;
    }
    // The text may be the middle of a value, truncated at both ends.
    if (found.length === 0 && text.length >= FEWEST && text.length < longest)
      for (const [literal, name] of names) if (literal.includes(text)) return [{ start: 0, end: text.length, name }];
    return found;
  };
}

function note(table: Map<string, string[]>, key: string, literal: string): void {
  const list = table.get(key);
  if (list) list.push(literal);
  else table.set(key, [literal]);
}
