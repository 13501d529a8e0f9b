// What the comparison with real shells has found: lines that another shell reads as something else.
import { describe, expect, test } from 'vitest';
import { analyseLine } from '../../../src/policy/commands/analyse.ts';
import { PLACE } from '../support.ts';

const opaqueIn = (line: string): readonly string[] => analyseLine(line, '/work/project', PLACE, 'raw').opaque;

describe('a line that shells read differently is opaque', () => {
  test.each([
    // dash: starts `echo a` in the background, then runs `rm -rf src`.
    'echo a &>/dev/null rm -rf src',
    '&>/dev/null echo a',
    // fish: .env
    'cat \\x2eenv',
    'cat src\\u002f..\\x2f..',
    'echo a\\nb',
    // zsh: the home directory
    'cat ""~/.netrc',
    "cat ''~",
    `cat ''""~/x`,
  ])('%s', (line) => {
    expect(opaqueIn(line)).not.toEqual([]);
  });
});

describe('similar harmless lines are not opaque', () => {
  test.each([
    'npm test &>/dev/null',
    'npm test &> /dev/null && echo ok',
    'find . -name a -o \\( -name b \\)',
    'cat a~',
    "grep 'a\\nb' c",
    'echo a\\ b',
  ])('%s', (line) => {
    expect(opaqueIn(line)).toEqual([]);
  });
});

test('after a cd in a pipeline, a later part may be in the other directory: fish keeps it', () => {
  const { commands } = analyseLine('cd src | cat a', '/work/project', PLACE, 'raw');
  expect(commands[1]?.cwds).toEqual(['/work/project', '/work/project/src']);
});
