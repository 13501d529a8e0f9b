// File and terminal requests as actions, and as the user sees them.
import { expect, test } from 'vitest';
import type { Place } from '../../../../src/policy/actions/action.ts';
import { isEvaluated, surfaceOfMethod } from '../../../../src/proxy/enforcement/surfaces/file-actions.ts';

const PLACE: Place = {
  ...{ agent: 'agent', session: 's', cwd: '/work', home: '/home', interactive: true, canonical: (path) => path },
};
const actionOf = (method: string, params: object) => surfaceOfMethod(method, params as never)?.ask(PLACE);
const shownOf = (method: string, params: object) => surfaceOfMethod(method, params as never)?.shown;
const useOf = (method: string, params: object) => {
  const surface = surfaceOfMethod(method, params as never);
  return surface?.use?.(PLACE, surface.ask(PLACE));
};

test.each([
  'fs/read_text_file',
  'fs/write_text_file',
  'terminal/create',
  'fs/unknown',
  '_fs/list',
  '_terminal/attach',
  'FS/read_text_file',
])('%s is evaluated', (method) => {
  expect(isEvaluated(method)).toBe(true);
});

test.each([
  'terminal/output',
  'terminal/wait_for_exit',
  'terminal/kill',
  'terminal/release',
  'session/update',
  '_vendor/fs/read',
  'fsx/read',
  '__fs/read',
])('%s is not', (method) => {
  expect(isEvaluated(method)).toBe(false);
});

test('a read is an action on its file, which the user sees by name, and needs a grant for that file', () => {
  const params = { path: '/work/a.ts' };
  expect(actionOf('fs/read_text_file', params)).toMatchObject({ kind: 'read', paths: [{ path: '/work/a.ts', access: 'read' }] });
  expect(shownOf('fs/read_text_file', params)).toEqual({
    ...{ title: 'Read /work/a.ts', kind: 'read', locations: [{ path: '/work/a.ts' }], rawInput: { path: '/work/a.ts' } },
  });
  expect(useOf('fs/read_text_file', params)).toEqual({ of: 'read', path: '/work/a.ts', text: undefined });
});

test('a write is an edit, shown with its text, and needs a grant for exactly that text', () => {
  const params = { path: '/work/a.ts', content: 'new' };
  expect(actionOf('fs/write_text_file', params)).toMatchObject({ kind: 'edit', paths: [{ path: '/work/a.ts', access: 'write' }] });
  expect(shownOf('fs/write_text_file', params)).toMatchObject({
    ...{ title: 'Write /work/a.ts', kind: 'edit', locations: [{ path: '/work/a.ts' }], rawInput: { path: '/work/a.ts' } },
    content: [{ type: 'diff', path: '/work/a.ts', newText: 'new' }],
  });
  expect(useOf('fs/write_text_file', params)).toEqual({ of: 'edit', path: '/work/a.ts', text: 'new' });
});

test('of a very long text the user sees the beginning and the length', () => {
  const limit = 64 * 1024;
  const content = (length: number) => shownOf('fs/write_text_file', { path: '/a', content: 'x'.repeat(length) })?.content;
  expect(content(limit)).toMatchObject([{ type: 'diff', newText: 'x'.repeat(limit) }]);
  expect(content(limit + 1)).toEqual([
    { type: 'content', content: { type: 'text', text: `The first ${limit} of ${limit + 1} characters:\n\n${'x'.repeat(limit)}` } },
  ]);
});

test('a terminal is a command with its words, variables and directory', () => {
  const params = { command: 'npm', args: ['run', 'build'], env: [{ name: 'CI', value: '1' }], cwd: '/work/sub' };
  expect(actionOf('terminal/create', params)).toMatchObject({
    kind: 'execute',
    commands: [{ argv: ['npm', 'run', 'build'], cwds: ['/work/sub'] }],
    opaque: [],
  });
  expect(shownOf('terminal/create', params)).toEqual({
    title: 'Run CI=1 npm run build',
    kind: 'execute',
    rawInput: { command: ['npm', 'run', 'build'], cwd: '/work/sub', env: ['CI=1'] },
  });
  expect(useOf('terminal/create', params)).toBeUndefined();
});

test('a terminal without arguments, variables and directory shows none', () => {
  for (const params of [{ command: 'ls' }, { command: 'ls', args: null, env: null, cwd: null }])
    expect(shownOf('terminal/create', params)).toEqual({ title: 'Run ls', kind: 'execute', rawInput: { command: ['ls'] } });
  expect(useOf('terminal/create', { command: 'make', args: ['all'], cwd: '/work/sub' })).toEqual({
    ...{ of: 'execute', words: 'make all', cwd: '/work/sub' },
  });
});

test('a variable that could change what a program does makes the terminal opaque', () => {
  const env = [{ name: 'LD_PRELOAD', value: '/x' }];
  expect(actionOf('terminal/create', { command: 'ls', env })?.opaque).toEqual(['variables of the environment are set']);
});

test('a method that nobody knows is an action by its name', () => {
  expect(actionOf('fs/copy', { from: '/a' })).toMatchObject({ kind: 'other', tool: 'fs/copy' });
  expect(shownOf('fs/copy', { from: '/a' })).toEqual({ title: 'Call fs/copy', kind: 'other', rawInput: { from: '/a' } });
  expect(shownOf('toString', {})).toMatchObject({ title: 'Call toString' });
});

test.each([
  ['fs/read_text_file', {}],
  ['fs/read_text_file', { path: 'relative' }],
  ['fs/read_text_file', { path: ['/a'] }],
  ['fs/read_text_file', { path: '/a\0b' }],
  ['fs/read_text_file', { path: '/a/../b' }],
  ['fs/read_text_file', { path: '/a\\..\\b' }],
  ['fs/write_text_file', { path: '/a' }],
  ['fs/write_text_file', { content: 'x' }],
  ['fs/write_text_file', { path: '/a', content: 7 }],
  ['terminal/create', {}],
  ['terminal/create', { command: ['ls'] }],
  ['terminal/create', { command: 'ls', args: 'x' }],
  ['terminal/create', { command: 'ls', args: ['x', 1] }],
  ['terminal/create', { command: 'ls', env: {} }],
  ['terminal/create', { command: 'ls', env: [null] }],
  ['terminal/create', { command: 'ls', env: [{ name: 'A' }] }],
  ['terminal/create', { command: 'ls', env: [{ value: 'A' }] }],
  ['terminal/create', { command: 'ls', cwd: 'sub' }],
  ['terminal/create', { command: 'ls', cwd: 7 }],
])('%s with %j is in no form that the policy reads', (method, params) => {
  expect(surfaceOfMethod(method, params as never)).toBeUndefined();
});

test('two dots inside a name are no way up', () => {
  expect(actionOf('fs/read_text_file', { path: '/a/b..c/d' })).toMatchObject({ paths: [{ path: '/a/b..c/d' }] });
});
