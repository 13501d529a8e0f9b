// How much there is to read, and in which words.
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { RETIRED_WORDS } from '../retired-words.ts';
import { decisions, frontPages, pages, proseOf, root, textOf } from './pages.ts';

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

// Of documents alone: in code, some of these have another meaning.
const RETIRED_HERE =
  /\b(?:set-aside|greetings?|named-twice|by hand|the desk|hearth|our own kind|anew|the switchboard(?! (?:process|command|entry)\b))\b/gi;

const guides = ['src', 'test', 'bench'].flatMap((folder) =>
  readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('README.md'))
    .map((file) => path.join(folder, file)),
);

test.each([...frontPages, 'CHANGELOG.md', ...pages, ...decisions, ...guides])('%s uses the words of the field', (file) => {
  const prose = proseOf(file).replace(/`[^`]*`/g, '');
  expect([RETIRED_WORDS, RETIRED_HERE].flatMap((words) => prose.match(words) ?? [])).toEqual([]);
});
