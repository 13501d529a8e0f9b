// The diff that `run` shows for an edit.
import { expect, test } from 'vitest';
import { diffLines } from '../../src/client/diff-lines.ts';
import fc from '../generated.ts';

const MARKS = { same: ' ', added: '+', removed: '-', hunk: '' };
const shown = (before: string, after: string) => diffLines(before, after).map(({ kind, text }) => `${MARKS[kind]}${text}`);

test('a changed line is shown with its context and its position', () => {
  const lines = Array.from({ length: 12 }, (_, i) => `line ${i + 1}`);
  expect(shown(lines.join('\n'), lines.with(5, 'other').join('\n'))).toEqual([
    '@@ -3,7 +3,7 @@',
    ' line 3',
    ' line 4',
    ' line 5',
    '-line 6',
    '+other',
    ' line 7',
    ' line 8',
    ' line 9',
  ]);
});

test.each([
  ['a new file', '', 'a\nb\n', ['@@ -0,0 +1,2 @@', '+a', '+b']],
  ['a file that is emptied', 'a\n', '', ['@@ -1 +0,0 @@', '-a']],
  ['no change', 'a\nb', 'a\nb', []],
  ['nothing at all', '', '', []],
  ['a line in between', 'a\nc', 'a\nb\nc', ['@@ -1,2 +1,3 @@', ' a', '+b', ' c']],
])('%s', (_, before, after, lines) => {
  expect(shown(before, after)).toEqual(lines);
});

test('distant changes are separate hunks', () => {
  const lines = Array.from({ length: 30 }, (_, i) => `${i}`);
  const hunks = shown(lines.join('\n'), lines.with(2, 'x').with(25, 'y').join('\n')).filter((line) => line.startsWith('@@'));
  expect(hunks).toEqual(['@@ -1,6 +1,6 @@', '@@ -23,7 +23,7 @@']);
});

test('unchanged plus added lines are in the new text, unchanged plus removed lines in the old text', () => {
  const text = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 7 }).map((lines) => lines.map((line) => `${line}\n`).join(''));
  fc.assert(
    fc.property(text, text, (before, after) => {
      fc.pre(before !== after);
      // With more than one hunk, the lines between the hunks are left out.
      const lines = diffLines(before, after);
      const side = (kind: string) => lines.filter((line) => line.kind === kind || line.kind === 'same').map((line) => `${line.text}\n`);
      const isPart = (whole: string, part: string) => whole.includes(part);
      if (lines.filter(({ kind }) => kind === 'hunk').length > 1) return;
      expect(isPart(before, side('removed').join(''))).toBe(true);
      expect(isPart(after, side('added').join(''))).toBe(true);
    }),
  );
});
