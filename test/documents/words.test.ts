// How much there is to read, and in which words.
import { expect, test } from 'vitest';
import { frontPages, pages, proseOf, textOf } from './pages.ts';

// Lower these when pages get shorter. Before you raise one, cut something that no reader misses.
const MOST_IN_DOCS = 20_000;
const MOST_IN_README = 700;

/** Words of a page, with its code. Tables that are made from the code or written by a script are looked up, not read: they do not count. */
const wordsIn = (file: string) =>
  textOf(file)
    .replace(/^<!-- (?:made from|written by).*?^<!-- end -->$/gms, '')
    .split(/\s+/)
    .filter((word) => /[\p{L}\p{N}]/u.test(word)).length;

test('the pages are short', () => {
  const total = pages.map(wordsIn).reduce((sum, words) => sum + words, 0);
  process.stdout.write(`documents: ${total} words in docs/, ${wordsIn('README.md')} in the README\n`);
  expect(total).toBeLessThanOrEqual(MOST_IN_DOCS);
  expect(wordsIn('README.md')).toBeLessThanOrEqual(MOST_IN_README);
});

// Words that these pages once had in place of the protocol's or the field's own.
const RETIRED: readonly RegExp[] = [
  /\blend(?:s|ing)?\b|\blent\b|\bloans?\b/,
  /\berrands?\b/,
  /\btongues?\b/,
  /\bset-aside\b/,
  /\bgreetings?\b/,
  /\btwo-faced\b|\bnamed-twice\b/,
  /\bwhoever\b|\bbe it that\b|\bof ours\b|\bsuch a one\b/,
  /\bby hand\b/,
  /\btake back\b|\btaken back\b|\bcall(?:ed)? off\b|\bmend(?:s|ed)?\b/,
  /\boverlong\b|\babridged?\b/,
  /\bthe desk\b|\bhearth\b/,
  /\bthe switchboard\b(?! (?:process|command|entry)\b)/,
  /\bour own kind\b|\banew\b/,
];

test.each([...frontPages, ...pages])('%s uses the words of the field', (file) => {
  const prose = proseOf(file).replace(/`[^`]*`/g, '');
  const found = RETIRED.flatMap((word) => [...prose.matchAll(new RegExp(word.source, 'gi'))].map(([match]) => match));
  expect(found).toEqual([]);
});
