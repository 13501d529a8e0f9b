// What the user's approval of a permission request covers, and what it does not although it looks alike.
import { describe, expect, test } from 'vitest';
import type { Place } from '../../../src/policy/actions/action.ts';
import { covers, fileUse, grantsIn, terminalUse } from '../../../src/policy/actions/grant.ts';
import { pathAction } from '../../../src/policy/actions/surfaces.ts';

const LINKS: Readonly<Record<string, string>> = { '/w/link.ts': '/w/a.ts', '/w/other': '/etc' };
const place: Place = { agent: 'agent', cwd: '/w', canonical: (path) => LINKS[path] ?? path };

type Call = Record<string, unknown>;
const edit = (rawInput: unknown, more: Call = {}): Call => ({ toolCallId: 't', kind: 'edit', rawInput, ...more });
const diff = (path: string, newText: string, oldText: string | null = null) => ({ type: 'diff', path, oldText, newText });
const run = (rawInput: unknown, more: Call = {}): Call => ({ toolCallId: 't', kind: 'execute', title: 'Run', rawInput, ...more });

const covered = (toolCall: Call, use: ReturnType<typeof fileUse>): boolean =>
  use !== undefined && grantsIn(place, { toolCall }).some((grant) => covers(grant, use));
const writes = (toolCall: Call, path: string, text: string) =>
  covered(toolCall, fileUse('edit', pathAction(place, 'edit', path).paths[0], text));
const runs = (toolCall: Call, request: Parameters<typeof terminalUse>[1]) => covered(toolCall, terminalUse(place, request));

describe('a file', () => {
  test.each<[string, Call, string, string]>([
    ['named by the input alone', edit({ file_path: '/w/a.ts' }), '/w/a.ts', 'x'],
    ['named by the input with its text', edit({ file_path: '/w/a.ts', content: 'x' }), '/w/a.ts', 'x'],
    ['by another name of the same file', edit({ file_path: '/w/link.ts' }), '/w/a.ts', 'x'],
    ['with the text of the diff', edit(undefined, { content: [diff('/w/a.ts', 'x')] }), '/w/a.ts', 'x'],
    ['of several in diffs', edit(undefined, { content: [diff('/w/a.ts', 'x'), diff('/w/b.ts', 'y')] }), '/w/b.ts', 'y'],
  ])('is covered %s', (_, call, path, text) => expect(writes(call, path, text)).toBe(true));

  test.each<[string, Call, string, string]>([
    ['another file', edit({ file_path: '/w/a.ts' }), '/w/b.ts', 'x'],
    ['a file known by its location alone', edit(undefined, { locations: [{ path: '/w/a.ts' }] }), '/w/a.ts', 'x'],
    ['a file named in the title alone', edit(undefined, { title: 'Edit /w/a.ts' }), '/w/a.ts', 'x'],
    ['one of two that the input names', edit({ path: '/w/a.ts', target: '/w/b.ts' }), '/w/a.ts', 'x'],
    ['an input that a location contradicts', edit({ path: '/w/a.ts' }, { locations: [{ path: '/w/b.ts' }] }), '/w/a.ts', 'x'],
    ['a file of the input next to a diff of another', edit({ path: '/w/a.ts' }, { content: [diff('/w/b.ts', 'x')] }), '/w/a.ts', 'x'],
    ['another text than that of the diff', edit({ path: '/w/a.ts' }, { content: [diff('/w/a.ts', 'x')] }), '/w/a.ts', 'x, and more'],
    ['another text than that of the input', edit({ path: '/w/a.ts', content: 'x' }), '/w/a.ts', 'y'],
    ['a replacement of which the rest was not shown', edit({ path: '/w/a.ts', old_string: 'a', new_string: 'b' }), '/w/a.ts', 'b'],
    ['edits in a list', edit({ path: '/w/a.ts', edits: [{ newText: 'b' }] }), '/w/a.ts', 'b'],
    ['a file with two diffs', edit(undefined, { content: [diff('/w/a.ts', 'x'), diff('/w/link.ts', 'y')] }), '/w/a.ts', 'x'],
    ['a diff behind a step upwards', edit(undefined, { content: [diff('/w/other/../a.ts', 'x')] }), '/w/a.ts', 'x'],
    ['a file that was to be read', { kind: 'read', rawInput: { path: '/w/a.ts' } }, '/w/a.ts', 'x'],
    ['a file that a command names', run({ command: 'touch /w/a.ts' }), '/w/a.ts', 'x'],
    ['a file that was to be deleted', { kind: 'delete', rawInput: { path: '/w/a.ts' } }, '/w/a.ts', 'x'],
  ])('is not covered: %s', (_, call, path, text) => expect(writes(call, path, text)).toBe(false));

  test('that was to be read may be read, and one that was to be edited not', () => {
    const use = fileUse('read', pathAction(place, 'read', '/w/a.ts').paths[0]);
    expect(covered({ kind: 'read', rawInput: { path: '/w/a.ts' } }, use)).toBe(true);
    expect(covered(edit({ path: '/w/a.ts' }), use)).toBe(false);
  });

  test('that cannot be followed is never covered', () => {
    const lost: Place = {
      ...place,
      canonical() {
        throw new Error('a circle');
      },
    };
    const call = edit(undefined, { content: [diff('/w/a.ts', 'x')] });
    expect(grantsIn(lost, { toolCall: call })).toEqual([]);
    expect(fileUse('edit', pathAction(lost, 'edit', '/w/a.ts').paths[0], 'x')).toBeUndefined();
  });
});

describe('a command', () => {
  test.each<[string, Call, Parameters<typeof terminalUse>[1]]>([
    ['line for line', run({ command: 'make x > out' }), { command: 'make x > out' }],
    ['word for word', run({ command: ['sh', '-c', 'a | b'] }), { command: 'sh', args: ['-c', 'a | b'] }],
    ['a line of plain words as words', run({ command: 'make -j4 x=1' }), { command: 'make', args: ['-j4', 'x=1'] }],
    ['in the directory that was shown', run({ command: 'make', cwd: '/w/sub' }), { command: 'make', cwd: '/w/sub' }],
    ['in the directory of the session', run({ command: 'make' }), { command: 'make', cwd: '/w' }],
  ])('is covered %s', (_, call, request) => expect(runs(call, request)).toBe(true));

  test.each<[string, Call, Parameters<typeof terminalUse>[1]]>([
    ['with more words', run({ command: 'make' }), { command: 'make', args: ['install'] }],
    ['in another directory', run({ command: 'make' }), { command: 'make', cwd: '/w/sub' }],
    ['with variables', run({ command: 'make' }), { command: 'make', env: [{ name: 'CC' }] }],
    ['shown in the title alone', run(undefined, { title: '`make`' }), { command: 'make' }],
    ['one of several', run({ commands: ['make', 'make install'] }), { command: 'make' }],
    ['a line whose words a shell reads', run({ command: 'echo $HOME' }), { command: 'echo', args: ['$HOME'] }],
    ['a setting that would be a program', run({ command: 'A=b make' }), { command: 'A=b', args: ['make'] }],
    ['one word with spaces, as a line', run({ command: ['make install'] }), { command: 'make install' }],
    ['in one of two directories', run({ command: 'make', cwd: '/w', workdir: '/w/sub' }), { command: 'make' }],
  ])('is not covered: %s', (_, call, request) => expect(runs(call, request)).toBe(false));
});

test.each([undefined, null, 7, {}, { toolCall: [] }, { toolCall: { kind: 'edit', content: [null, { type: 'diff' }] } }])(
  'a request that says nothing grants nothing (%j)',
  (request) => expect(grantsIn(place, request)).toEqual([]),
);

test.each<[string, Call]>([
  [
    'a call to a tool of an MCP server',
    { name: 'mcp__db__edit', kind: 'edit', rawInput: { path: '/w/a.ts' }, content: [diff('/w/a.ts', 'x')] },
  ],
  ['a command inside a call to a tool of an MCP server', { name: 'mcp__db__run', kind: 'execute', rawInput: { command: 'make' } }],
  ['a line that is nested too deep to be read', run({ command: `make ${'$(make '.repeat(40)}${')'.repeat(40)}` })],
  ['two commands', run({ commands: ['make', 'make install'] })],
  ['no command', run({ description: 'nothing' })],
  ['a directory that cannot be known', run({ command: 'make', cwd: '/w', workdir: '/w/sub' })],
  ['an edit of two files', edit({ path: '/w/a.ts', target: '/w/b.ts' })],
  ['an edit known by its location alone', edit(undefined, { locations: [{ path: '/w/a.ts' }] })],
  ['an edit known by a location and its text', edit({ content: 'x' }, { locations: [{ path: '/w/a.ts' }] })],
  ['a deletion', { kind: 'delete', rawInput: { path: '/w/a.ts' } }],
  ['a diff of a file without a name', edit(undefined, { content: [{ type: 'diff', newText: 'x' }] })],
  ['a diff of a file without a directory', edit(undefined, { content: [diff('a.ts', 'x')] })],
  ['a diff without its text', edit(undefined, { content: [{ type: 'diff', path: '/w/a.ts' }] })],
  ['an edit by replacement', edit({ path: '/w/a.ts', old_string: 'a', new_string: 'b' })],
  ['an edit whose text is no text', edit({ path: '/w/a.ts', content: { html: 'x' } })],
])('%s grants nothing at all', (_, toolCall) => expect(grantsIn({ ...place, family: 'claude' }, { toolCall })).toEqual([]));

test('only diffs among the content count, and flags next to the path say nothing about the text', () => {
  const text = { type: 'content', content: { type: 'text', text: 'see below' } };
  const granted = (call: Call) => grantsIn(place, { toolCall: call });
  expect(granted(edit(undefined, { content: [text, diff('/w/a.ts', 'x')] }))).toEqual([{ of: 'edit', path: '/w/a.ts', text: 'x' }]);
  expect(granted(edit({ path: '/w/a.ts' }, { content: [text] }))).toEqual([{ of: 'edit', path: '/w/a.ts', text: undefined }]);
  expect(granted(edit({ path: '/w/a.ts', overwrite: true, mode: 7 }))).toEqual([{ of: 'edit', path: '/w/a.ts', text: undefined }]);
  expect(granted({ kind: 'read', rawInput: { path: '/w/link.ts' } })).toEqual([{ of: 'read', path: '/w/a.ts' }]);
});
