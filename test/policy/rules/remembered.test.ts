// Remembered answers: each covers exactly the action it was given for.
import { describe, expect, test } from 'vitest';
import type { Action } from '../../../src/policy/actions/action.ts';
import { permissionAction } from '../../../src/policy/actions/permission.ts';
import { summaryOf } from '../../../src/policy/actions/summary.ts';
import { commandAction, hostAction, mcpAction, pathAction, terminalAction, toolAction } from '../../../src/policy/actions/surfaces.ts';
import { decide } from '../../../src/policy/decide.ts';
import { combine } from '../../../src/policy/rules/layers.ts';
import { keyOf, rememberedLayer } from '../../../src/policy/rules/remembered.ts';
import fc from '../../generated.ts';
import { corpus, PLACE, policyFile } from '../support.ts';

const HASH = (key: string) => `hash of ${key}`;

/** What a policy makes of `then` after the user has answered `first` with "always". */
function given(
  first: Action,
  then: Action,
  { verdict = 'allow', policy = 'default: ask' }: { verdict?: 'allow' | 'deny'; policy?: string } = {},
) {
  const key = keyOf(first);
  const answers = key === undefined ? [] : [{ id: 'a1', verdict, key: HASH(key), at: '2026-11-16' }];
  const layers = [
    { name: 'user' as const, policy: policyFile(`version: 1\n${policy}`) },
    rememberedLayer(answers, '/state/remembered.jsonl', HASH),
  ];
  return decide(combine(layers), then);
}

const command = (line: string, place = PLACE) => commandAction(place, line);

describe('an answer covers exactly the action it was given for', () => {
  test.each<[string, Action]>([
    ['a command', command('npm test -- -t "two words"')],
    ['several commands', command('npm test && git push origin main')],
    ['a command that no rule with "..." would cover', command('git -c core.pager=cat log')],
    ['a command for an interpreter', command('node scripts/build.mjs')],
    ['a terminal', terminalAction(PLACE, { command: 'npm', args: ['test'] })],
    ['a file', pathAction(PLACE, 'edit', 'src/a.ts')],
    ['a file elsewhere', pathAction(PLACE, 'read', '/etc/hosts')],
    ['a tool of an MCP server', mcpAction(PLACE, { server: 'github', tool: 'get_issue', args: { number: 1 } })],
    ['an address', hostAction(PLACE, 'fetch', 'https://example.com/a')],
    ['what an agent asked', permissionAction(PLACE, { toolCall: { toolCallId: '1', kind: 'execute', rawInput: { command: 'make all' } } })],
  ])('%s', (_, action) => {
    expect(given(action, action)).toMatchObject({ verdict: 'allow', rule: { id: 'remembered:a1', layer: 'remembered' } });
    expect(given(action, action, { verdict: 'deny' })).toMatchObject({ verdict: 'deny', layer: 'remembered' });
  });

  test('a tool may be called with other arguments', () => {
    const call = (number: number) => mcpAction(PLACE, { server: 'github', tool: 'get_issue', args: { number } });
    expect(given(call(1), call(2)).verdict).toBe('allow');
  });
});

describe('and no other', () => {
  test.each<[string, Action, Action]>([
    ['more words', command('npm test'), command('npm test -- -u')],
    ['fewer words', command('npm run build'), command('npm run')],
    ['a part of the line', command('npm test && git push'), command('git push')],
    ['the other way round', command('npm test && git push'), command('git push && npm test')],
    ['another operator', command('npm test && git push'), command('npm test ; git push')],
    ['a pipe', command('npm test ; tee log'), command('npm test | tee log')],
    ['an output that goes elsewhere', command('npm test'), command('npm test 2>&1')],
    ['another place on the line', command('cd src && make'), command('make')],
    ['another agent', command('npm test'), command('npm test', { ...PLACE, agent: 'other' })],
    ['another directory', command('npm test'), command('npm test', { ...PLACE, cwd: '/work/other' })],
    ['a program of the same name', command('make'), command('./make')],
    ['another terminal directory', terminalAction(PLACE, { command: 'make' }), terminalAction(PLACE, { command: 'make', cwd: '/tmp' })],
    ['another file', pathAction(PLACE, 'edit', 'src/a.ts'), pathAction(PLACE, 'edit', 'src/b.ts')],
    ['a file below', pathAction(PLACE, 'read', 'src'), pathAction(PLACE, 'read', 'src/a.ts')],
    ['another action', pathAction(PLACE, 'read', 'src/a.ts'), pathAction(PLACE, 'edit', 'src/a.ts')],
    [
      'a link that leads elsewhere now',
      pathAction(PLACE, 'read', 'a'),
      pathAction({ ...PLACE, canonical: (path) => path.replace(/\/a$/, '/b') }, 'read', 'a'),
    ],
    [
      'another tool',
      mcpAction(PLACE, { server: 'github', tool: 'get_issue', args: {} }),
      mcpAction(PLACE, { server: 'github', tool: 'delete_repo', args: {} }),
    ],
    [
      'a tool that has become another',
      mcpAction(PLACE, { server: 'github', tool: 'get', args: {}, schema: '1' }),
      mcpAction(PLACE, { server: 'github', tool: 'get', args: {}, schema: '2' }),
    ],
    [
      'a tool given another file',
      mcpAction(PLACE, { server: 'fs', tool: 'read', args: { path: '/work/project/a' } }),
      mcpAction(PLACE, { server: 'fs', tool: 'read', args: { path: '/work/project/b' } }),
    ],
    [
      'a tool given another command',
      mcpAction(PLACE, { server: 'host', tool: 'run', args: { command: 'make' } }),
      mcpAction(PLACE, { server: 'host', tool: 'run', args: { command: 'make install' } }),
    ],
    [
      'another address of the same host',
      hostAction(PLACE, 'fetch', 'https://x.org/a'),
      hostAction(PLACE, 'fetch', 'https://x.org/?q=secret'),
    ],
  ])('%s', (_, first, then) => {
    expect(keyOf(first)).toBeDefined();
    expect(given(first, then).verdict).toBe('ask');
    expect(given(first, then, { verdict: 'deny' }).verdict).toBe('ask');
  });

  test('for any two lines of the corpus', () => {
    const lines = corpus('benign.txt');
    fc.assert(
      fc.property(fc.constantFrom(...lines), fc.constantFrom(...lines), (first, then) => {
        const { rule } = given(command(first), command(then));
        expect(rule?.layer === 'remembered').toBe(first === then && keyOf(command(first)) !== undefined);
      }),
    );
  });
});

describe('no answer is remembered for', () => {
  test.each<[string, Action]>([
    ['a line with something opaque in it', command('echo $(id)')],
    ['a line with a variable', command('rm -rf $HOME')],
    ['nothing at all', command('')],
    ['a title alone', permissionAction(PLACE, { toolCall: { toolCallId: '1', kind: 'execute', title: 'npm test' } })],
    ['a kind alone', permissionAction(PLACE, { toolCall: { toolCallId: '1', kind: 'edit' } })],
    ['an id alone', permissionAction(PLACE, { toolCall: { toolCallId: '1' } })],
    ['an action without an object', toolAction(PLACE, 'other', 'todo_write')],
    ['a change of mode', toolAction(PLACE, 'mode', 'yolo')],
    ['a form', toolAction(PLACE, 'elicit')],
    ['a terminal that sets variables', terminalAction(PLACE, { command: 'make', env: [{ name: 'LD_PRELOAD' }] })],
    ['an address that is none', hostAction(PLACE, 'fetch', 'http://')],
    ['an agent without a name', command('npm test', { ...PLACE, agent: '' })],
  ])('%s', (_, action) => {
    expect(keyOf(action)).toBeUndefined();
  });

  test('any line of the hostile corpus that is opaque', () => {
    for (const line of corpus('hostile.txt')) {
      const action = command(line);
      if (action.opaque.length > 0 || action.isUnreadable) expect(keyOf(action)).toBeUndefined();
    }
  });
});

describe('an answer is the weakest layer', () => {
  const action = pathAction(PLACE, 'edit', 'src/a.ts');
  test.each([
    ['deny', 'deny: [ edit($cwd/src/**) ]'],
    ['ask', 'ask: [ edit($cwd/src/**) ]'],
    ['deny', 'default: deny'],
    ['allow', 'default: ask'],
  ] as const)('%s with %s', (verdict, policy) => {
    expect(given(action, action, { policy }).verdict).toBe(verdict);
  });

  test('protected files still ask', () => {
    const hook = pathAction(PLACE, 'edit', '.git/hooks/pre-commit');
    expect(given(hook, hook).verdict).toBe('ask');
  });

  test('a remembered deny wins over an allow rule', () => {
    expect(given(action, action, { verdict: 'deny', policy: 'allow: [ edit ]' }).verdict).toBe('deny');
  });
});

test.each<[string, Action]>([
  ['execute: npm test', command('npm test')],
  [`execute: git commit -m 'it'\\''s'`, command(`git commit -m "it's"`)],
  ['execute: npm test ; git push', command('npm test && git push')],
  ['edit: /work/project/a.ts', pathAction(PLACE, 'edit', 'a.ts')],
  ['mcp: github:get_issue', mcpAction(PLACE, { server: 'github', tool: 'get_issue', args: {} })],
  ['fetch: example.com', hostAction(PLACE, 'fetch', 'https://example.com/a')],
  ['mode: plan', toolAction(PLACE, 'mode', 'plan')],
  [`execute: '$(id)' (opaque: a command substitution)`, command('$(id)')],
])('in one line: %s', (expected, action) => {
  expect(summaryOf(action).replace(/\(opaque: .*/, '(opaque: a command substitution)')).toBe(expected);
});
