// The policies in config/policies.
import { describe, expect, test } from 'vitest';
import { commandAction, hostAction, pathAction } from '../../src/policy/actions/surfaces.ts';
import { decide } from '../../src/policy/decide.ts';
import { loadPolicy } from '../../src/policy/format/load.ts';
import { renderProblem } from '../../src/policy/format/problem.ts';
import { countExamples } from '../../src/policy/rules/examples.ts';
import { combine } from '../../src/policy/rules/layers.ts';
import { isModeAllowed } from '../../src/policy/rules/settings.ts';
import { corpus, fileText, PLACE, policyFile } from './support.ts';

const PRESETS = ['careful', 'standard', 'ci', 'readonly'] as const;
const preset = (name: (typeof PRESETS)[number]) =>
  combine([{ name: 'user', policy: policyFile(fileText(`config/policies/${name}.yaml`), `${name}.yaml`) }]);

describe.each(PRESETS)('the preset %s', (name) => {
  test('is valid, passes its own examples and does what its rules look like', () => {
    const { policy, problems, warnings } = loadPolicy(`${name}.yaml`, fileText(`config/policies/${name}.yaml`));
    expect(problems.map(renderProblem)).toEqual([]);
    expect(warnings.map(renderProblem)).toEqual([]);
    expect(countExamples(policy?.rules ?? [])).toBeGreaterThan(5);
  });

  test('allows none of the hostile corpus', () => {
    const policy = preset(name);
    const allowed = corpus('hostile.txt').filter((command) => decide(policy, commandAction(PLACE, command)).verdict === 'allow');
    expect(allowed).toEqual([]);
  });

  test('refuses the modes in which an agent stops asking', () => {
    const policy = preset(name);
    for (const mode of ['bypassPermissions', 'yolo', 'agent-full-access']) expect(isModeAllowed(policy, 'any', mode)).toBe(false);
    expect(isModeAllowed(policy, 'any', 'plan')).toBe(true);
  });
});

test.each([
  ['standard', 'allow', pathAction(PLACE, 'edit', 'src/a.ts')],
  ['standard', 'ask', pathAction(PLACE, 'edit', 'package.json')],
  ['standard', 'ask', pathAction(PLACE, 'edit', '.git/hooks/pre-commit')],
  ['standard', 'deny', pathAction(PLACE, 'read', '.env')],
  ['standard', 'ask', pathAction(PLACE, 'read', '/etc/passwd')],
  ['careful', 'allow', pathAction(PLACE, 'read', 'src/a.ts')],
  ['careful', 'ask', pathAction(PLACE, 'edit', 'src/a.ts')],
  ['careful', 'ask', hostAction(PLACE, 'fetch', 'https://example.com/x')],
  ['ci', 'allow', pathAction({ ...PLACE, interactive: false }, 'edit', 'src/a.ts')],
  ['ci', 'deny', pathAction({ ...PLACE, interactive: false }, 'edit', 'package.json')],
  ['ci', 'deny', hostAction(PLACE, 'fetch', 'https://example.com/x')],
  ['readonly', 'allow', pathAction(PLACE, 'read', 'src/a.ts')],
  ['readonly', 'deny', pathAction(PLACE, 'edit', 'src/a.ts')],
  ['readonly', 'deny', commandAction(PLACE, 'npm test')],
] as const)('%s: %s', (name, expected, action) => {
  expect(decide(preset(name), action).verdict).toBe(expected);
});
