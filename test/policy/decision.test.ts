// What a decision says besides its verdict: the rule, the reason in one sentence, the doubts, and whether a user could be asked.
import { describe, expect, test } from 'vitest';
import type { Action } from '../../src/policy/actions/action.ts';
import { permissionAction } from '../../src/policy/actions/permission.ts';
import { commandAction, pathAction, toolAction } from '../../src/policy/actions/surfaces.ts';
import { decide } from '../../src/policy/decide.ts';
import { combine } from '../../src/policy/rules/layers.ts';
import { PLACE, policyFile, policyOf } from './support.ts';

const INTERACTIVE = { ...PLACE, interactive: true };
const run = (line: string) => commandAction(INTERACTIVE, line);
const titled = (toolCall: object) => permissionAction(INTERACTIVE, { toolCall: { toolCallId: 't', ...toolCall } });

describe('the reason', () => {
  test.each<[string, string, () => Action, object]>([
    ['a rule', 'deny: [ { id: no, action: execute } ]', () => run('ls'), { verdict: 'deny', why: 'deny by rule no (/etc/policy.yaml:2)' }],
    [
      'a rule that gives its own',
      'deny: [ { id: no, action: execute, reason: because } ]',
      () => run('ls'),
      { verdict: 'deny', why: 'deny by rule no (/etc/policy.yaml:2): because' },
    ],
    ['an allow', 'allow: [ execute(ls) ]', () => run('ls'), { verdict: 'allow', why: 'allow by rule allow[0] (/etc/policy.yaml:2)' }],
    ['a default that asks', '', () => run('ls'), { verdict: 'ask', why: 'no rule settles it', rule: undefined, layer: undefined }],
    ['a default that denies', 'default: deny', () => run('ls'), { verdict: 'deny', why: 'no rule allows it; the default is deny' }],
    ['a default that allows', 'default: allow', () => run('ls'), { verdict: 'allow', why: 'no rule matches; the default is allow' }],
    [
      'a part that is not understood',
      'default: allow\nallow: [ "execute(ls ...)" ]',
      () => run('ls $HOME'),
      { verdict: 'ask', why: expect.stringMatching(/^no rule settles it, and it contains ./), opaque: [expect.any(String)] },
    ],
    [
      'too little detail',
      'default: allow',
      () => titled({ kind: 'execute', title: 'ls' }),
      { verdict: 'ask', why: 'no rule settles it, and the agent gives too little detail to allow it' },
    ],
    [
      'nothing said at all',
      'default: deny',
      () => titled({}),
      { verdict: 'deny', why: 'no rule allows it, and the agent gives too little detail to allow it; the default is deny' },
    ],
    [
      'a line that is nested too deep',
      'default: allow',
      () => run(`${'$(ls '.repeat(60)}${')'.repeat(60)}`),
      { verdict: 'deny', why: 'too long or nested too deeply to be evaluated', rule: undefined, matches: [] },
    ],
  ])('names %s', (_, policy, action, expected) => {
    expect(decide(policyOf(policy), action())).toMatchObject({ wasAsk: false, ...expected });
  });

  test('names what makes an allowed command dangerous', () => {
    const { verdict, why } = decide(policyOf('allow: [ "execute(git ...)" ]'), run('git -c core.pager=x log'));
    expect([verdict, why]).toEqual(['ask', expect.stringMatching(/^no rule settles it \(.+\)$/)]);
  });
});

describe('where no user can be asked', () => {
  const alone = { ...PLACE, interactive: false };
  test('an ask becomes a deny that says so, and keeps its rule', () => {
    const policy = policyOf('ask: [ { id: careful, action: execute } ]');
    expect(decide(policy, commandAction(alone, 'ls'))).toMatchObject({
      ...{ verdict: 'deny', wasAsk: true, layer: 'user', rule: { id: 'careful', verdict: 'ask' } },
      why: 'ask by rule careful (/etc/policy.yaml:2); no user can be asked',
    });
  });

  test('a deny and an allow stay as they are', () => {
    const policy = policyOf('allow: [ execute(ls) ]\ndeny: [ execute(rm) ]');
    expect(decide(policy, commandAction(alone, 'ls'))).toMatchObject({ verdict: 'allow', wasAsk: false });
    expect(decide(policy, commandAction(alone, 'rm'))).toMatchObject({ verdict: 'deny', wasAsk: false });
  });
});

describe('an error of the engine', () => {
  const broken = (interactive: boolean) =>
    ({
      interactive,
      get commands(): never {
        throw new Error('a bug');
      },
    }) as unknown as Action;

  test('asks, and is no rule', () => {
    expect(decide(policyOf('default: allow'), broken(true))).toEqual({
      ...{ verdict: 'ask', rule: undefined, layer: undefined, matches: [], opaque: ['an error'], wasAsk: false },
      why: 'an error while the request was evaluated',
    });
  });

  test('denies where no user can be asked, or where that is unknown', () => {
    const expected = { verdict: 'deny', wasAsk: true, why: 'an error while the request was evaluated; no user can be asked' };
    expect(decide(policyOf('default: allow'), broken(false))).toMatchObject(expected);
    expect(decide(policyOf('default: allow'), undefined as unknown as Action)).toMatchObject(expected);
  });
});

test('all rules that match are named, the strictest first, each with its layer and reason', () => {
  const policy = policyOf(
    'allow: [ { id: a, action: execute, command: ls } ]\nask: [ { id: b, action: execute, reason: look } ]\ndeny: [ { id: c, action: execute } ]',
  );
  expect(decide(policy, run('ls')).matches).toEqual([
    { verdict: 'deny', id: 'c', file: '/etc/policy.yaml', line: 4, layer: 'user', reason: undefined },
    { verdict: 'ask', id: 'b', file: '/etc/policy.yaml', line: 3, layer: 'user', reason: 'look' },
    { verdict: 'allow', id: 'a', file: '/etc/policy.yaml', line: 2, layer: 'user', reason: undefined },
  ]);
});

describe('a default that allows', () => {
  const policy = policyOf('default: allow');
  test.each(['think', 'mode', 'switch_mode', 'elicit'] as const)('covers %s, of which there is no more to know', (kind) => {
    expect(decide(policy, toolAction(INTERACTIVE, kind, 'x')).verdict).toBe('allow');
  });
  test.each(['other', 'execute', 'fetch', 'edit'] as const)('does not cover %s without a subject', (kind) => {
    expect(decide(policy, toolAction(INTERACTIVE, kind, 'x')).verdict).toBe('ask');
  });
  test('covers a file', () => {
    expect(decide(policy, pathAction(INTERACTIVE, 'edit', 'a.ts')).verdict).toBe('allow');
  });
});

describe('a change of directory before an allowed command', () => {
  const policy = policyOf('allow: [ "execute(npm test)" ]');
  test.each([
    ['allow', 'cd src && npm test'],
    ['allow', 'cd /work/project/src && npm test'],
    ['ask', 'cd /etc && npm test'],
    ['ask', 'cd .. && npm test'],
    ['ask', 'cd && npm test'],
    ['ask', 'cd src lib && npm test'],
    ['ask', 'cd $DIR && npm test'],
    ['ask', 'pushd src && npm test'],
    ['ask', 'cd src'],
  ])('%s: %s', (expected, line) => {
    expect(decide(policy, run(line)).verdict).toBe(expected);
  });
});

describe('an ask where the default is deny', () => {
  const layer = (name: 'managed' | 'user' | 'project', text: string) => ({
    name,
    policy: policyFile(`version: 1\n${text}`, `/${name}.yaml`),
  });
  const ASK = 'ask: [ { id: mine, action: execute } ]';

  test('of the layer that denies by default asks', () => {
    expect(decide(policyOf(`default: deny\n${ASK}`), run('make'))).toMatchObject({ verdict: 'ask', rule: { id: 'mine' } });
  });

  test('of a layer that may only tighten opens nothing that is closed, and asks about what is allowed', () => {
    const policy = combine([layer('managed', 'default: deny\nallow: [ "execute(ls ...)" ]'), layer('user', ASK)]);
    expect(decide(policy, run('make'))).toMatchObject({ verdict: 'deny', rule: undefined });
    expect(decide(policy, run('ls $HOME'))).toMatchObject({ verdict: 'deny', rule: undefined });
    expect(decide(policy, run('ls'))).toMatchObject({ verdict: 'ask', rule: { id: 'mine' }, layer: 'user' });
  });

  test('is named as the reason where nothing is closed', () => {
    expect(decide(combine([layer('project', ASK)]), run('make'))).toMatchObject({ verdict: 'ask', rule: { id: 'mine' }, layer: 'project' });
  });
});
