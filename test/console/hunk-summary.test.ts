// The summary above the hunks of a change.
import { expect, test } from 'vitest';
import { applySummary, standingOf } from '../../console/components/changes/hunk-summary.ts';
import type { HunkState } from '../../src/console/protocol/chat.ts';

const STATES: Readonly<Record<string, HunkState>> = {
  o: { state: 'open' },
  a: { state: 'applied' },
  x: { state: 'conflict', why: 'changed', found: 'other' },
};
const statesOf = (letters: string) => [...letters].map((letter) => STATES[letter] as HunkState);

test.each([
  ['oo', ''],
  ['aa', 'The file already has all of it.'],
  ['x', 'It conflicts with the file.'],
  ['xx', 'All of it conflicts with the file.'],
  ['ao', 'The file has 1 of 2 hunks; 1 can still be applied.'],
  ['ax', 'The file has 1 of 2 hunks; 1 is in conflict.'],
  ['ox', '1 of 2 hunks can be applied; 1 is in conflict.'],
  ['aaoxx', 'The file has 2 of 5 hunks; 1 can still be applied; 2 are in conflict.'],
])('the summary of the hunks %s is: %s', (letters, words) => {
  expect(standingOf(statesOf(letters))).toBe(words);
});

test.each([
  ['o', 1, 'Apply'],
  ['ooo', 3, 'Apply 3 hunks'],
  ['ooo', 2, 'Apply 2 of 3 hunks'],
  ['aox', 1, 'Apply 1 hunk'],
  ['aoo', 0, 'Apply 0 of 2 hunks'],
])('of the hunks %s with %i chosen, those that can be applied are counted: %s', (letters, chosen, words) => {
  expect(applySummary(statesOf(letters), chosen)).toBe(words);
});
