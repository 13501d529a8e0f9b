// What a permission request asks for, in the words that `run`, `mcp` and the console share.
import { expect, test } from 'vitest';
import { describePermission, permissionLines } from '../../src/client/describe-permission.ts';

const lines = (toolCall: object, context = {}) => permissionLines(describePermission({ toolCall, options: [] }, context));

test('agent, directory, command, files and the policy are named', () => {
  const toolCall = { title: 'Tidy up', rawInput: { command: ['rm', '-rf', 'my dir'] }, locations: [{ path: '/a' }, { path: '/a' }, {}] };
  const policy = { verdict: 'ask', why: 'no rule matches' };
  expect(lines(toolCall, { agent: 'claude', cwd: '/work', policy })).toEqual([
    'Agent claude asks for permission: Tidy up',
    'Directory: /work',
    'Command:',
    "  rm -rf 'my dir'",
    'Files: /a',
    'Policy: ask, no rule matches',
  ]);
});

test.each([
  ['a command with separate arguments', { rawInput: { command: 'git', args: ['commit', '-m', "it's"] } }, "  git commit -m 'it'\\''s'"],
  ['input without a command', { rawInput: { url: 'https://example.com' } }, 'Input: {"url":"https://example.com"}'],
  ['input besides a command', { rawInput: { command: 'ls', cwd: '/etc' } }, 'Input: {"cwd":"/etc"}'],
  ['a text of the agent', { content: [{ type: 'content', content: { type: 'text', text: 'Trust me' } }] }, '  Trust me'],
])('%s is shown', (_, toolCall, line) => {
  expect(lines(toolCall)).toContain(line);
});

test('texts cannot imitate other lines or hide characters', () => {
  const toolCall = { title: 'x\nDirectory: /safe', rawInput: { command: 'ls\nPolicy: allow\u202e' }, locations: [{ path: '/a\n/b' }] };
  expect(lines(toolCall)).toEqual([
    'The agent asks for permission: x\\u{a}Directory: /safe',
    'Command:',
    '  ls',
    '  Policy: allow\ufffd',
    'Files: /a\\u{a}/b',
  ]);
});

test('what is shortened says so', () => {
  const newText = Array.from({ length: 100 }, (_, n) => `line ${n}`).join('\n');
  const shown = lines({ title: 't'.repeat(3000), content: [{ type: 'diff', path: '/a', oldText: null, newText }] });
  expect(shown[0]).toMatch(/t{2000} \[1000 more characters are not shown\]$/);
  expect(shown[1]).toBe('Changes to /a (the first 60 of 101 lines):');
  expect(shown.at(-1)).toBe('  [41 more lines are not shown]');
});

test('what an earlier update reported is known; fields that are absent or null do not hide it', () => {
  const known = { title: 'Run', rawInput: { command: 'make' } };
  expect(lines({ toolCallId: 't1', title: null }, { known })).toEqual(['The agent asks for permission: Run', 'Command:', '  make']);
});

test('a request of any shape is described', () => {
  expect(describePermission(null)).toMatchObject({ title: 'an action without a title', options: [] });
  expect(describePermission({ toolCall: 7, options: [null, { optionId: 'a' }] }).options).toEqual([
    { optionId: 'undefined', name: '', kind: '' },
    { optionId: 'a', name: '', kind: '' },
  ]);
});
