// Splitting a command line into words without a shell.
import { expect, test } from 'vitest';
import { argvOf } from '../../src/workspace/terminal-params.ts';

test.each([
  ['a program', 'ls', [], ['ls']],
  ['words as they are given', 'echo', ['a b', '$HOME', '*', ';', ''], ['echo', 'a b', '$HOME', '*', ';', '']],
  ['a program with a space in its name, when there are args', 'my tool', ['x'], ['my tool', 'x']],
  ['what has no space is a program, whatever is in it', 'ls;pwd', [], ['ls;pwd']],
  ['a path with a space and no args is a line too, as a policy reads it', './gradlew test', [], ['./gradlew', 'test']],
  ['a line of plain words', 'npm run  test -- --reporter=dot', [], ['npm', 'run', 'test', '--', '--reporter=dot']],
] as const)('%s', (_, command, args, expected) => {
  expect(argvOf(command, args)).toEqual(expected);
});

test.each([
  'ls; pwd',
  'ls | wc',
  'ls > out',
  'echo $HOME',
  'echo `id`',
  'echo "a b"',
  "echo 'a'",
  'cat ~/x',
  'ls *',
  'A=1 ls x',
  'ls\npwd x',
  'ls &',
  'a\tb',
  'echo \\a',
  'echo {a,b}',
  'echo !x',
  'echo #x',
])('%j needs a shell', (line) => {
  expect(argvOf(line, [])).toBeUndefined();
});
