// Keys that somebody has cut off, to a title or a line, are too short for their form, and still most of a key.
import { ANY_BEGINNING, nameOfBeginning } from './provider-patterns.ts';

/** Words go on behind `npm_` and `sk-` too, but hardly in such a mix of letters and digits. */
const MIX = '(?=[A-Za-z]*\\d)(?=\\d*[A-Za-z])[A-Za-z0-9]{8}';
const CUT_KEY = new RegExp(`(?<![A-Za-z0-9])(${ANY_BEGINNING})(?:(?=${MIX})|(?=[\\w.+/=-]*[^A-Za-z0-9]${MIX}))[\\w.+/=-]+$`);

/** Keys of a known form are hardly longer. */
const LONGEST = 4096;
const SHORTEST = 11;
const ELLIPSES = ['…', '...'];
const ESCAPES = 'nrtbf';

/** Takes out what is left of a key at the very end of a text, and before an ellipsis. */
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
