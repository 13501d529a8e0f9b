// Properties that hold for any policy and any action.

import { expect, test } from 'vitest';
import type { Action } from '../../src/policy/actions/action.ts';
import { commandAction, hostAction, mcpAction, pathAction, toolAction } from '../../src/policy/actions/surfaces.ts';
import { decide } from '../../src/policy/decide.ts';
import type { PolicyFile } from '../../src/policy/policy.ts';
import { combine, type Layer } from '../../src/policy/rules/layers.ts';
import { type Rule, VERDICTS, type Verdict } from '../../src/policy/rules/rule.ts';
import fc from '../generated.ts';
import { corpus, PLACE, policyFile } from './support.ts';

const SHORT = [
  'read($cwd/**)',
  'edit($cwd/**)',
  'edit($cwd/src/**)',
  'read(**/.env)',
  'execute',
  'execute(git ...)',
  'execute(git status|log ...)',
  'execute(npm test ...)',
  'execute(cat|ls ...)',
  'execute(sudo ...)',
  'execute(echo ...)',
  'mcp(a:*)',
  'mcp',
  'fetch(*.example.com)',
  'fetch',
  'other',
  'delete',
  'mode(plan)',
];
const RULES = new Map(
  VERDICTS.map((verdict) => [
    verdict,
    [
      ...policyFile(`version: 1\n${verdict}:\n${SHORT.map((text) => `  - "${text}"`).join('\n')}`).rules,
      ...policyFile(
        `version: 1\n${verdict}:\n  - { command: "cat ...", path: "$cwd/**" }\n  - { path: "**/*.pem" }\n  - { agent: other, action: read }\n  - { interactive: false }`,
      ).rules,
    ],
  ]),
);
const EMPTY = policyFile('version: 1');

const rule = (verdicts: readonly Verdict[] = VERDICTS) =>
  fc.constantFrom(...verdicts).chain((verdict) => fc.constantFrom(...(RULES.get(verdict) ?? [])));
const fallback = fc.constantFrom<Verdict | undefined>(undefined, ...VERDICTS);
const policyArb = fc
  .record({ rules: fc.array(rule(), { maxLength: 8 }), default: fallback })
  .map((part): PolicyFile => ({ ...EMPTY, ...part }));
const layerArb = fc.record({
  name: fc.constantFrom('managed', 'user', 'project', 'command-line', 'remembered'),
  policy: policyArb,
  isTrusted: fc.boolean(),
}) as fc.Arbitrary<Layer>;
const layersArb = fc.uniqueArray(layerArb, { maxLength: 4, selector: ({ name }) => name });

const COMMANDS = [...corpus('hostile.txt'), ...corpus('benign.txt').map((line) => line.replace(/^\w+ /, ''))];
const actionArb: fc.Arbitrary<Action> = fc.oneof(
  fc.constantFrom(...COMMANDS).map((line) => commandAction(PLACE, line)),
  fc
    .tuple(fc.constantFrom('read', 'edit', 'delete'), fc.constantFrom('src/a', '.env', '/etc/x', 'a.pem', '.git/hooks/x', '.'))
    .map(([action, path]) => pathAction(PLACE, action as 'read', path)),
  fc.constantFrom('a', 'b').map((server) => mcpAction(PLACE, { server, tool: 't', args: {} })),
  fc.constantFrom('docs.example.com', 'evil.net').map((host) => hostAction(PLACE, 'fetch', host)),
  fc.constantFrom('plan', 'yolo').map((mode) => toolAction(PLACE, 'mode', mode)),
);

const RUNS = { numRuns: 500 };
const looseness = (verdict: Verdict) => VERDICTS.indexOf(verdict); // deny 0, ask 1, allow 2
const verdictOf = (layers: readonly Layer[], action: Action) => decide(combine(layers), action).verdict;

test('adding a deny rule never makes a verdict looser, and an ask rule opens at most what a default has closed', () => {
  fc.assert(
    fc.property(layersArb, layerArb, rule(['deny', 'ask']), actionArb, (layers, extra, added, action) => {
      const before = [...layers.filter(({ name }) => name !== extra.name), extra];
      const after = before.map((layer) =>
        layer === extra ? { ...extra, policy: { ...extra.policy, rules: [...extra.policy.rules, added] } } : layer,
      );
      const was = decide(combine(before), action);
      const is = verdictOf(after, action);
      // An explicit ask in a policy that is closed by default is meant.
      if (added.verdict === 'ask' && was.verdict === 'deny' && was.rule === undefined) expect(is).not.toBe('allow');
      else expect(looseness(is)).toBeLessThanOrEqual(looseness(was.verdict));
    }),
    RUNS,
  );
});

test('adding a layer below never loosens what a layer above has settled', () => {
  const ORDER = ['managed', 'user', 'project', 'command-line', 'remembered'];
  fc.assert(
    fc.property(layersArb, layerArb, actionArb, (layers, below, action) => {
      const above = layers.filter(({ name }) => ORDER.indexOf(name) < ORDER.indexOf(below.name));
      const before = decide(combine(above), action);
      const after = verdictOf([...above, below], action);
      // "No rule settles it" under a default of ask is not a decision: a lower layer may decide.
      const isOpen =
        before.verdict === 'ask' &&
        before.rule === undefined &&
        above.every(({ policy }) => policy.default === undefined || policy.default !== 'deny');
      if (!isOpen) expect(looseness(after)).toBeLessThanOrEqual(looseness(before.verdict));
    }),
    RUNS,
  );
});

test('an untrusted project layer never loosens anything', () => {
  fc.assert(
    fc.property(layersArb, policyArb, actionArb, (layers, policy, action) => {
      const others = layers.filter(({ name }) => name !== 'project');
      const project: Layer = { name: 'project', policy, isTrusted: false };
      expect(looseness(verdictOf([...others, project], action))).toBeLessThanOrEqual(looseness(verdictOf(others, action)));
    }),
    RUNS,
  );
});

test('a bundle never loosens anything, and nothing is allowed that it denies by itself', () => {
  fc.assert(
    fc.property(layersArb, fc.array(policyArb, { minLength: 1, maxLength: 2 }), actionArb, (layers, policies, action) => {
      const bundle = policies.map((policy): Layer => ({ name: 'bundle', policy }));
      const verdict = verdictOf([...layers, ...bundle], action);
      expect(looseness(verdict)).toBeLessThanOrEqual(looseness(verdictOf(layers, action)));
      const closed = policies.some((policy) => policy.default === 'deny');
      const alone = verdictOf(policies.map((policy) => ({ name: 'managed', policy })) as Layer[], action);
      if (closed || alone === 'deny') expect(looseness(verdict)).toBeLessThanOrEqual(looseness(alone));
    }),
    RUNS,
  );
});

test('the order of rules and layers changes nothing', () => {
  fc.assert(
    fc.property(layersArb, actionArb, (layers, action) => {
      const turned = layers
        .map((layer) => ({ ...layer, policy: { ...layer.policy, rules: layer.policy.rules.toReversed() as readonly Rule[] } }))
        .toReversed();
      expect(verdictOf(turned, action)).toBe(verdictOf(layers, action));
    }),
    RUNS,
  );
});

test('an action that is opaque, unreadable or known only by its title is never allowed', () => {
  fc.assert(
    fc.property(layersArb, actionArb, fc.constantFrom('opaque', 'unreadable', 'title'), (layers, action, flaw) => {
      const flawed: Action =
        flaw === 'opaque'
          ? { ...action, opaque: ['a reason'] }
          : flaw === 'unreadable'
            ? { ...action, isUnreadable: true }
            : {
                ...action,
                evidence: 'title',
                paths: [],
                commands: action.commands.map((command) => ({ ...command, evidence: 'title' as const })),
              };
      expect(verdictOf(layers, flawed)).not.toBe('allow');
    }),
    RUNS,
  );
});

test('a line before or after an allowed one needs an allow of its own', { timeout: 300_000 }, () => {
  const policy = combine([{ name: 'user', policy: policyFile('version: 1\nallow: [ "execute(git status)" ]') }]);
  const joints = [';', ' ; ', '&&', ' && ', '||', '|', '\n', '\r\n', '&', ' |& ', ';\n'];
  const isNothingElse = (line: string) => /^(git status|[\s;&|])*(#.*)?$/.test(line) || /^cd \.?\/?src$/.test(line);
  const wholes = COMMANDS.filter((line) => !isNothingElse(line))
    .flatMap((line) => joints.flatMap((by) => [`git status${by}${line}`, `${line}${by}git status`]))
    .filter((whole) => !/^\s*#[^\n]*$/m.test(whole));
  expect(wholes.length).toBeGreaterThan(10_000);
  expect(wholes.filter((whole) => decide(policy, commandAction(PLACE, whole)).verdict === 'allow')).toEqual([]);
});
