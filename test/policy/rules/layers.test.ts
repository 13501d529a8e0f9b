// Several policy layers combined into one policy.
import { describe, expect, test } from 'vitest';
import { commandAction, pathAction } from '../../../src/policy/actions/surfaces.ts';
import { decide } from '../../../src/policy/decide.ts';
import { combine, type Layer } from '../../../src/policy/rules/layers.ts';
import { arePinned, isExposed, isModeAllowed, limitsOf, modesOf, onViolation, rememberOf } from '../../../src/policy/rules/settings.ts';
import { PLACE, policyFile } from '../support.ts';

const layer = (name: Layer['name'], text: string, isTrusted?: boolean): Layer => ({
  name,
  policy: policyFile(`version: 1\n${text}`, `/policies/${name}.yaml`),
  ...(isTrusted !== undefined && { isTrusted }),
});
const verdict = (layers: Layer[], command = 'make test') => decide(combine(layers), commandAction(PLACE, command)).verdict;
const ALLOW = 'allow: [ "execute(make test)" ]';

describe('of several layers', () => {
  test.each<[string, string, Layer[]]>([
    ['a deny below beats an allow above', 'deny', [layer('user', ALLOW), layer('project', 'deny: [ "execute(make ...)" ]')]],
    ['a deny above beats an allow below', 'deny', [layer('managed', 'deny: [ "execute(make ...)" ]'), layer('user', ALLOW)]],
    ['an ask above beats an allow below', 'ask', [layer('user', 'ask: [ execute ]'), layer('remembered', ALLOW)]],
    ['an allow below decides if no rule above does', 'allow', [layer('user', 'default: ask'), layer('remembered', ALLOW)]],
    ['an allow below does not open a layer above that is closed', 'deny', [layer('managed', 'default: deny'), layer('user', ALLOW)]],
    ['a closed layer keeps its own allow', 'allow', [layer('user', `default: deny\n${ALLOW}`)]],
    ['a closed file keeps the allow of another file of its layer', 'allow', [layer('user', 'default: deny'), layer('user', ALLOW)]],
    ['a closed layer keeps the allow above it', 'allow', [layer('managed', ALLOW), layer('user', 'default: deny')]],
    ['the strictest default counts', 'deny', [layer('user', 'default: allow'), layer('command-line', 'default: deny')]],
    ['a default below does not loosen one above', 'ask', [layer('user', 'default: ask'), layer('command-line', 'default: allow')]],
    ['without any default it is ask', 'ask', [layer('user', 'deny: [ fetch ]')]],
    ['without any layer it is ask', 'ask', []],
    ['an untrusted project allows nothing', 'ask', [layer('project', ALLOW)]],
    ['an untrusted project opens nothing', 'ask', [layer('project', 'default: allow')]],
    ['an untrusted project may tighten', 'deny', [layer('user', ALLOW), layer('project', 'deny: [ execute ]')]],
    ['an untrusted project may close', 'deny', [layer('user', 'default: allow'), layer('project', 'default: deny')]],
    ['a trusted project may allow', 'allow', [layer('project', ALLOW, true)]],
    ['a bundle denies what others allow', 'deny', [layer('bundle', 'deny: [ execute ]'), layer('user', ALLOW)]],
    ['a bundle asks about what others allow', 'ask', [layer('bundle', 'ask: [ execute ]'), layer('user', ALLOW)]],
    ['a bundle allows nothing by itself', 'ask', [layer('bundle', ALLOW)]],
    ['a bundle does not open what others close', 'deny', [layer('bundle', ALLOW), layer('user', 'default: deny')]],
    ['an ask of a bundle opens nothing that others close', 'deny', [layer('bundle', 'ask: [ execute ]'), layer('user', 'default: deny')]],
    ['a bundle does not loosen the default', 'ask', [layer('bundle', 'default: allow'), layer('user', 'default: ask')]],
    ['a bundle tightens the default', 'ask', [layer('bundle', 'default: ask'), layer('user', 'default: allow')]],
    ['an allow below needs the allow of a closed bundle', 'deny', [layer('bundle', 'default: deny'), layer('user', ALLOW)]],
    ['an allow below passes a closed bundle that allows it', 'allow', [layer('bundle', `default: deny\n${ALLOW}`), layer('user', ALLOW)]],
    ['a closed bundle leaves the question to others', 'ask', [layer('bundle', `default: deny\n${ALLOW}`), layer('user', 'default: ask')]],
    ['a closed bundle may ask', 'ask', [layer('bundle', 'default: deny\nask: [ execute ]'), layer('user', ALLOW)]],
    [
      'a file of a closed bundle keeps the allow of another',
      'allow',
      [layer('bundle', 'default: deny'), layer('bundle', ALLOW), layer('user', ALLOW)],
    ],
    ['their order does not matter', 'deny', [layer('user', ALLOW), layer('managed', 'default: deny')]],
  ])('%s', (_, expected, layers) => {
    expect(verdict(layers)).toBe(expected);
    expect(verdict(layers.toReversed())).toBe(expected);
  });

  test('the decision names the layer', () => {
    expect(decide(combine([layer('project', 'deny: [ execute ]')]), commandAction(PLACE, 'ls'))).toMatchObject({
      layer: 'project',
      rule: { file: '/policies/project.yaml' },
    });
  });

  test('a denial by a closed bundle names the bundle, and the rules that were not enough', () => {
    const layers = [layer('bundle', 'default: deny\nallow: [ "execute(ls)" ]'), layer('user', 'allow: [ "execute(make|ls ...)" ]')];
    expect(decide(combine(layers), commandAction(PLACE, 'make test'))).toMatchObject({
      why: 'no rule allows it; the default is deny, in the policy bundle',
      matches: [{ verdict: 'allow', layer: 'user' }],
    });
    expect(decide(combine(layers), commandAction(PLACE, 'ls')).matches.map(({ layer: name }) => name)).toEqual(['user', 'bundle']);
  });

  test('the files of the layers and the given protected files are never written without asking', () => {
    const policy = combine([layer('user', 'default: allow\nallow: [ edit ]')], { protect: ['/var/state dir'] });
    for (const path of ['/policies/user.yaml', '/var/state dir', '/var/state dir/deep/x'])
      expect(decide(policy, pathAction(PLACE, 'edit', path))).toMatchObject({ verdict: 'ask', layer: 'built-in' });
    expect(decide(policy, pathAction(PLACE, 'edit', '/var/state')).verdict).toBe('allow');
  });
});

test('settings of a bundle count only where they narrow', () => {
  const text =
    'agents: { claude: { mode: { pin: [plan], refuse: [yolo] }, on_violation: log } }\nmcp: { expose: ["a:*"] }\nremember: { allow_always: workspace }';
  const policy = combine([layer('bundle', text)]);
  expect(modesOf(policy, 'claude')).toEqual({ pin: ['plan'], refuse: ['yolo'] });
  expect([onViolation(policy, 'claude'), isExposed(policy, 'b', 'x'), rememberOf(policy).allowAlways]).toEqual([
    'notify',
    false,
    'session',
  ]);
});

describe('the strictest settings of several layers win', () => {
  const policy = combine([
    layer(
      'user',
      'agents: { "*": { mode: { refuse: [yolo] } }, claude: { mode: { pin: [plan, default] }, on_violation: notify } }\nmcp: { expose: ["a:*", "b:x"] }\nremember: { allow_always: workspace, ttl: 8h }\nlimits: { max_pending_permissions: 32 }',
    ),
    layer(
      'project',
      'agents: { claude: { mode: { pin: [plan, yolo] }, on_violation: cancel } }\nmcp: { expose: ["a:x"], pin: true }\nremember: { allow_always: once, ttl: 30m }\nlimits: { max_pending_permissions: 64, permission_timeout: 30s }',
      true,
    ),
  ]);
  test('modes', () => {
    expect(modesOf(policy, 'claude')).toEqual({ pin: ['plan'], refuse: ['yolo'] });
    expect(modesOf(policy, 'codex')).toEqual({ pin: undefined, refuse: ['yolo'] });
    expect([
      isModeAllowed(policy, 'claude', 'plan'),
      isModeAllowed(policy, 'claude', 'default'),
      isModeAllowed(policy, 'codex', 'yolo'),
    ]).toEqual([true, false, false]);
  });
  test('the rest', () => {
    expect([onViolation(policy, 'claude'), onViolation(policy, 'codex')]).toEqual(['cancel', 'notify']);
    expect([isExposed(policy, 'a', 'x'), isExposed(policy, 'a', 'y'), isExposed(policy, 'b', 'x')]).toEqual([true, false, false]);
    expect(arePinned(policy)).toBe(true);
    expect(rememberOf(policy)).toEqual({ allowAlways: 'once', ttlMs: 1_800_000 });
    expect(limitsOf(policy)).toEqual({ permissionTimeoutMs: 30_000, maxPendingPermissions: 32 });
  });
});

test('the settings of an untrusted project narrow and choose nothing', () => {
  const loose = layer(
    'project',
    'agents: { "*": { mode: { pin: [yolo], refuse: [auto] }, on_violation: log } }\nremember: { allow_always: workspace }',
  );
  const policy = combine([loose]);
  expect(modesOf(policy, 'claude')).toEqual({ pin: undefined, refuse: ['auto'] });
  expect(onViolation(policy, 'claude')).toBe('notify');
  expect(rememberOf(policy).allowAlways).toBe('session');
  const strict = combine([layer('project', 'agents: { "*": { on_violation: kill } }\nremember: { allow_always: once }')]);
  expect([onViolation(strict, 'claude'), rememberOf(strict).allowAlways]).toEqual(['kill', 'once']);
  expect(onViolation(combine([layer('project', 'agents: { "*": { on_violation: cancel } }')]), 'claude')).toBe('cancel');
});
