// Which level an agent gets from its configuration and from the layers of a policy.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadPolicy } from '../../src/policy/format/load.ts';
import { combine, type Layer } from '../../src/policy/rules/layers.ts';
import { sandboxOf } from '../../src/policy/rules/settings.ts';
import { containmentOf, sandboxSettings } from '../../src/sandbox/settings.ts';

function layer(name: Layer['name'], agents: string): Layer {
  const { policy } = loadPolicy(`/${name}.yaml`, `version: 1\nagents: ${agents}\n`);
  if (!policy) throw new Error('the policy is wrong');
  return { name, policy };
}
const required = (...layers: Layer[]) => sandboxOf(combine(layers), 'claude');

test.each([
  ['no key', undefined, undefined, undefined],
  ['a level for all', 'workspace', undefined, 'workspace'],
  ['an agent’s own level', 'workspace', 'off', 'off'],
  ['an object under a level', { level: 'workspace', network: 'none' }, 'read-only', 'read-only'],
])('%s', (_, forAll, own, level) => {
  expect(sandboxSettings(forAll, own).level).toBe(level);
});

test('an agent that names only its level keeps the network for all', () => {
  expect(sandboxSettings({ level: 'workspace', network: 'none' }, 'read-only').network).toBe('none');
});

describe('over several layers the strictest counts', () => {
  const off = sandboxSettings(undefined, undefined);
  test('a repository can tighten what an organisation requires, and not loosen it', () => {
    const managed = layer('managed', '{"*": {sandbox: workspace, network: listed}}');
    expect(required(managed, layer('project', '{"*": {sandbox: off, network: open}}'))).toMatchObject({
      required: 'workspace',
      network: 'listed',
    });
    expect(required(managed, layer('project', '{claude: {sandbox: read-only, network: none}}'))).toMatchObject({
      required: 'read-only',
      network: 'none',
    });
  });
  test('the configuration cannot switch off what a policy requires', () => {
    const policy = required(layer('user', '{"*": {sandbox: workspace}}'));
    expect(containmentOf(sandboxSettings(undefined, 'off'), policy)).toMatchObject({ level: 'workspace', unavailable: 'fail' });
  });
  test('the configuration switches off what a policy only prefers, and that is known', () => {
    const policy = required(layer('user', '{"*": {sandbox: workspace, unavailable: warn}}'));
    expect(containmentOf(off, policy)).toMatchObject({ level: 'workspace', unavailable: 'warn', declined: undefined });
    expect(containmentOf(sandboxSettings(undefined, 'off'), policy)).toMatchObject({ level: 'off', declined: 'workspace' });
  });
  test('an agent whose own configuration names a level does not start without one, unless it says so', () => {
    expect(containmentOf(sandboxSettings(undefined, 'workspace')).unavailable).toBe('fail');
    expect(containmentOf(sandboxSettings(undefined, { level: 'workspace', unavailable: 'warn' })).unavailable).toBe('warn');
    const policy = required(layer('managed', '{"*": {sandbox: workspace}}'));
    expect(containmentOf(sandboxSettings(undefined, { level: 'workspace', unavailable: 'warn' }), policy).unavailable).toBe('fail');
  });
});

test.each([
  ['standard', { required: 'off', preferred: 'workspace', network: 'open' }],
  ['careful', { required: 'off', preferred: 'workspace', network: 'listed' }],
  ['readonly', { required: 'off', preferred: 'read-only', network: 'open' }],
  ['ci', { required: 'workspace', preferred: 'off', network: 'listed' }],
  ['console', { required: 'off', preferred: 'off', network: 'open' }],
])('the preset %s', (name, expected) => {
  const file = path.resolve(import.meta.dirname, `../../config/policies/${name}.yaml`);
  const { policy } = loadPolicy(file, readFileSync(file, 'utf8'));
  expect(policy && sandboxOf(combine([{ name: 'user', policy }]), 'claude')).toEqual(expected);
});
