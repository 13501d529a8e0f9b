// The generic extractor: everything in a tool's input counts, under any name, and unreadable input is never allowed.
import { describe, expect, test } from 'vitest';
import { permissionAction } from '../../../src/policy/actions/permission.ts';
import { decide } from '../../../src/policy/decide.ts';
import { combine } from '../../../src/policy/rules/layers.ts';
import { keyOf } from '../../../src/policy/rules/remembered.ts';
import { fileText, PLACE, policyFile, policyOf } from '../support.ts';

const standard = combine([{ name: 'user', policy: policyFile(fileText('config/policies/standard.yaml'), 'standard.yaml') }]);
const action = (rawInput: unknown, more: object = {}) => permissionAction(PLACE, { toolCall: { toolCallId: '1', rawInput, ...more } });
const verdict = (rawInput: unknown, more?: object) => decide(standard, action(rawInput, more)).verdict;
const IN = '/work/project/src/a.ts';

describe('everything next to a command counts as much as the command', () => {
  test.each([
    ['a file outside', { command: 'ls', path: '/etc/passwd' }, {}],
    ['a text for a file outside', { command: 'ls', file_path: '/srv/x', content: 'y' }, {}],
    ['a diff outside', { command: 'ls' }, { content: [{ type: 'diff', path: '/srv/x', newText: 'y' }] }],
    ['a location outside', { command: 'ls' }, { locations: [{ path: '/srv/x' }] }],
    ['an address', { command: 'ls', url: 'https://example.com/' }, {}],
    ['a second command', { command: 'ls', cmd: 'rm x' }, {}],
    ['a second directory to run in', { command: 'ls', cwd: '/work/project', workdir: '/srv' }, {}],
  ])('%s is not allowed along with it', (_, rawInput, more) => {
    expect(verdict({ command: 'ls' })).toBe('allow');
    expect(verdict(rawInput, more)).toBe('ask');
  });

  test.each([
    ['the directory of the session', { locations: [{ path: '/work/project' }] }],
    ['a file of the project', { locations: [{ path: IN }] }],
  ])('%s among its locations changes nothing, even if no rule mentions files', (_, more) => {
    expect(decide(policyOf('allow: [execute(ls ...)]'), action({ command: 'ls' }, more)).verdict).toBe('allow');
  });

  test('text to write needs a rule that allows writing', () => {
    const both = { command: 'ls', path: IN, content: 'x' };
    expect(decide(policyOf('allow: [execute(ls ...)]'), action(both)).verdict).toBe('ask');
    expect(decide(policyOf('allow: [execute(ls ...), read($cwd/**)]'), action(both)).verdict).toBe('ask');
    expect(decide(policyOf('allow: [execute(ls ...), edit($cwd/**)]'), action(both)).verdict).toBe('allow');
  });

  test('a URL inside the command is evaluated with the command', () => {
    const policy = policyOf('allow: [{ command: "curl ...", host: example.com }]');
    expect(decide(policy, action({ command: 'curl https://example.com/x' })).verdict).toBe('allow');
    expect(decide(policy, action({ command: 'curl https://example.com/x', url: 'https://other.example/' })).verdict).toBe('ask');
  });

  test.each(['stdin', 'input', 'standard_input'])('text for its standard input (%s) makes it another action', (key) => {
    const given = action({ command: 'git apply', [key]: 'one patch' });
    expect(decide(policyOf('allow: [execute(git apply)]'), action({ command: 'git apply' })).verdict).toBe('allow');
    expect(decide(policyOf('allow: [execute(git apply)]'), given).verdict).toBe('ask');
    expect(keyOf(given)).toBeUndefined();
  });
});

describe('a command is recognised under any name and spelling', () => {
  test.each(['Command', 'CMD', 'shellCommand', 'script', 'run', 'exec', 'bash', 'cmdline', 'commandLine', 'argv'])('%s', (key) => {
    expect(verdict({ path: IN }, { kind: 'read' })).toBe('allow');
    expect(verdict({ path: IN, [key]: key === 'argv' ? ['sudo', 'x'] : 'sudo x' }, { kind: 'read' })).toBe('deny');
    expect(verdict({ path: IN, [key]: key === 'argv' ? ['touch', 'x'] : 'touch x' }, { kind: 'read' })).toBe('ask');
  });
  test.each([[5], [true], [[1, 2]], [[{ a: 1 }]], [{ a: 'ls' }], [[['ls']]]])('an unreadable command (%j) is never allowed', (command) => {
    expect(verdict({ path: IN, command }, { kind: 'read' })).toBe('ask');
  });
  test('an empty command is no command', () => {
    for (const command of [null, undefined, '', []]) expect(verdict({ path: IN, command }, { kind: 'read' })).toBe('allow');
  });
  test('lists may mix lines and argvs', () => {
    expect(verdict({ commands: ['ls', ['ls', '-l'], { command: 'ls' }, { command: ['ls'] }] })).toBe('allow');
    expect(verdict({ commands: ['ls', { command: ['sudo', 'x'] }] })).toBe('deny');
    expect(verdict({ commands: ['ls', { command: ['touch', 'x'] }] })).toBe('ask');
  });
});

describe('a path counts as anywhere a tool could go with it', () => {
  test.each([
    ['an address of a file', 'file:///etc/passwd'],
    ['with a host', 'file://localhost/etc/passwd'],
    ['with another host', 'file://server/share/x'],
    ['in capitals', 'FILE:///etc/passwd'],
    ['with one slash', 'file:/etc/passwd'],
    ['with escapes', 'file:///work/project/%2e%2e/x'],
    ['with a broken escape', 'file:///work/project/%zz'],
    ['the home of another user', '~root/x'],
    ['a variable', '$HOME/x'],
    ['a variable in braces', '$' + '{HOME}/x'],
    ['a variable of Windows', '%USERPROFILE%\\x'],
    ['a step upwards as Windows writes it', '..\\..\\x'],
    ['a character that ends it elsewhere', '/work/project/a\0b'],
    ['nothing', ''],
  ])('%s', (_, path) => {
    for (const kind of ['read', 'edit']) expect(verdict({ path }, { kind })).toBe('ask');
    expect(verdict({ uri: path }, { kind: 'read' })).toBe('ask');
  });

  test.each(['file:///work/project/src/a%20b.ts', 'src/$id.tsx', 'src/a$b.ts', 'src/~tmp', 'src/100%.md'])(
    '%s is one of the project',
    (path) => {
      expect(verdict({ path }, { kind: 'read' })).toBe('allow');
    },
  );
});

describe('a search goes where its pattern leads', () => {
  test.each(['/etc/**/*.conf', '~/.config/*', '../*', 'src/../../x*', '*/../../x'])('%s leads out of the project', (pattern) => {
    expect(verdict({ pattern }, { kind: 'search' })).toBe('ask');
    expect(verdict({ pattern, path: '/work/project' }, { kind: 'search' })).toBe('ask');
  });
  test.each(['**/*.ts', 'src/*.ts', '/work/project/src/**', 'foo|bar'])('%s does not', (pattern) => {
    expect(verdict({ pattern }, { kind: 'search' })).toBe('allow');
  });
  test('text to search for is not a path', () => {
    expect(verdict({ pattern: '/api/users', path: '/work/project' }, { kind: 'search', name: 'Grep' })).toBe('ask');
    const place = { ...PLACE, agent: 'claude' };
    const grep = (name: string) =>
      decide(
        standard,
        permissionAction(place, { toolCall: { toolCallId: '1', kind: 'search', name, rawInput: { pattern: '/api/users' } } }),
      ).verdict;
    expect(grep('Grep')).toBe('allow');
    expect(grep('Glob')).toBe('ask');
  });
});
