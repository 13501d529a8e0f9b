// What the person who is asked is shown: what the request does, before what the agent says about it.
import { describe, expect, test } from 'vitest';
import { permissionAction } from '../../../src/policy/actions/permission.ts';
import { shownTitleOf } from '../../../src/policy/actions/shown-title.ts';
import { PLACE } from '../support.ts';

const asked = (toolCall: object) => {
  const call = { toolCallId: 't', ...toolCall };
  return shownTitleOf(permissionAction(PLACE, { toolCall: call }), call);
};

describe('a title that says what the request does stays as it is', () => {
  test.each([
    ['the command', { title: 'git status', rawInput: { command: 'git status' } }],
    ['the command in backticks', { title: '`npm test -- -t x`', rawInput: { command: 'npm test -- -t x' } }],
    ['the words of an argv', { title: 'Run cat a b', rawInput: { command: ['cat', 'a', 'b'] } }],
    ['a file in the project', { kind: 'edit', title: 'Edit `src/a.ts`', rawInput: { file_path: '/work/project/src/a.ts' } }],
    ['a file at home', { kind: 'read', title: 'Read ~/notes', rawInput: { path: '/home/user/notes' } }],
    ['an address', { kind: 'fetch', title: 'Fetch https://a.example/x', rawInput: { url: 'https://a.example/x' } }],
    ['a tool', { title: 'get_issue (github MCP Server)', rawInput: { server: 'github', tool: 'get_issue' } }],
    ['nothing else is known', { kind: 'execute', title: 'git status' }],
  ])('%s', (_, call) => {
    expect(asked(call)).toBeUndefined();
  });
});

describe('a title that leaves it out comes second', () => {
  test.each([
    ['a description', { title: 'Run the tests', rawInput: { command: 'npm test' } }, 'Run npm test (“Run the tests”)'],
    ['no title', { rawInput: { command: 'npm test' } }, 'Run npm test'],
    ['a part of the command', { title: 'git status', rawInput: { command: 'git status; id' } }, 'Run git status; id (“git status”)'],
    ['one of two commands', { title: 'ls', rawInput: { commands: ['ls', 'id'] } }, 'Run ls; Run id (“ls”)'],
    [
      'one of two files',
      { kind: 'read', title: 'Read a', rawInput: { paths: ['a', '/etc/x'] } },
      'Read /work/project/a; Read /etc/x (“Read a”)',
    ],
    ['the directory', { title: 'make', rawInput: { command: 'make', cwd: '/tmp' } }, 'Run make (in /tmp) (“make”)'],
    [
      'the input of a command',
      { title: 'cat', rawInput: { command: 'cat', stdin: 'x' } },
      'Run cat (also: text on its standard input) (“cat”)',
    ],
    [
      'an input of an unknown name',
      { title: 'ls', rawInput: { command: 'ls', hook: 'x' } },
      'Run ls (also: an input that is not known (hook)) (“ls”)',
    ],
    ['a second line', { title: 'ls', rawInput: { command: 'ls\nid' } }, 'Run ls ⏎ id (“ls”)'],
    ['an invisible character', { title: 'List', rawInput: { command: 'ls\u202eid' } }, 'Run ls\\u{202e}id (“List”)'],
  ])('%s', (_, call, title) => {
    expect(asked(call)).toEqual({ title, isContradicted: false });
  });
});

describe('a title that says something else is called so first', () => {
  test('another file of a project at the root of the file system', () => {
    const call = { toolCallId: 't', kind: 'read', title: 'Read 1x', rawInput: { path: '/2x' } };
    const asked = shownTitleOf(permissionAction({ ...PLACE, cwd: '/' }, { toolCall: call }), call);
    expect(asked?.title).toContain('Read /2x');
  });

  test.each([
    ['another command', { title: 'git status', rawInput: { command: 'rm -rf src' } }, 'Run rm -rf src. Title: “git status”'],
    ['another command, run', { title: 'Run `npm test`', rawInput: { command: 'id' } }, 'Run id. Title: “Run `npm test`”'],
    [
      'another file',
      { kind: 'edit', title: 'Edit README.md', rawInput: { file_path: '/etc/x', content: '' } },
      'Edit /etc/x. Title: “Edit README.md”',
    ],
    ['another path', { kind: 'read', title: 'Read src/a', rawInput: { path: '~/.netrc' } }, 'Read /home/user/.netrc. Title: “Read src/a”'],
    ['a diff of another file', { title: 'Edit a.md', content: [{ type: 'diff', path: '/x', newText: '' }] }, 'Edit /x. Title: “Edit a.md”'],
  ])('%s', (_, call, rest) => {
    expect(asked(call)).toEqual({ title: `The title is not what this does. ${rest}`, isContradicted: true });
  });
});

test('a link is shown with where it leads', () => {
  const place = { ...PLACE, canonical: (path: string) => path.replace('/work/project/link', '/etc') };
  const call = { toolCallId: 't', kind: 'read', title: 'Read link/x', rawInput: { path: 'link/x' } };
  expect(shownTitleOf(permissionAction(place, { toolCall: call }), call)?.title).toBe('Read /work/project/link/x (/etc/x) (“Read link/x”)');
});

test('a long command is cut, and the rest counted', () => {
  const { title } = asked({ title: 'x', rawInput: { command: `echo ${'a'.repeat(1000)}` } }) ?? { title: '' };
  expect(title).toContain('… (505 more characters)');
});
