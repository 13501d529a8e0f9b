// Splitting and joining shell words.
import { expect, test } from 'vitest';
import { joinWords, splitWords } from '../../src/agents/shell-words.ts';
import fc from '../generated.ts';

test.each([
  ['a b  c', ['a', 'b', 'c']],
  [`npx -y '@x/y z' "q \\"r\\" $s"`, ['npx', '-y', '@x/y z', 'q "r" $s']],
  [`a\\ b ''`, ['a b', '']],
  ['', []],
])('%j splits into %j', (line, words) => {
  expect(splitWords(line)).toEqual(words);
});

test('an unclosed quote is not a command', () => {
  expect(splitWords(`a 'b`)).toBeUndefined();
});

test('joined words split into the same words', () => {
  fc.assert(
    fc.property(fc.array(fc.string()), (words) => {
      expect(splitWords(joinWords(words))).toEqual(words);
    }),
  );
});
