// An action in one line.
import { expect, test } from 'vitest';
import { summaryOf } from '../../../src/policy/actions/summary.ts';
import { commandAction, pathAction } from '../../../src/policy/actions/surfaces.ts';

const PLACE = {
  ...{ agent: 'a', family: undefined, session: 's', cwd: '/work', home: '/home', interactive: true, shell: 'posix' as const },
  canonical: (path: string) => path,
};

test.each([
  ['echo x > .env', 'execute: echo x > /work/.env'],
  ['sort < in.txt', 'execute: sort < /work/in.txt'],
  ['touch a && ls', 'execute: touch a ; ls'],
])('of %s names the files that the shell opens', (line, expected) => {
  expect(summaryOf(commandAction(PLACE as never, line))).toBe(expected);
});

test('of a command with paths that its agent reports does not make them words of the command', () => {
  const action = { ...commandAction(PLACE as never, 'touch a'), paths: pathAction(PLACE as never, 'edit', '/work').paths };
  expect(summaryOf(action)).toBe('execute: touch a (paths: /work)');
});
