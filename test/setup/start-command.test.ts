// How an agent of the catalogue is started, and how a command is matched to an agent.
import { expect, test } from 'vitest';
import { agentBehind, type CatalogueAgent, findAgent, packageName, suitsNode } from '../../src/agents/catalogue.ts';
import { type Here, resolveStart } from '../../src/setup/start-command.ts';

const here: Here = { env: { PATH: '/nowhere' }, platform: 'linux', node: { path: '/n/node', version: 'v20.20.2' } };
const agent = (more: Partial<CatalogueAgent>): CatalogueAgent => ({
  id: 'one-agent',
  name: 'One',
  version: '1.0.0',
  checked: true,
  distribution: { npx: { package: '@x/one@1.0.0', bin: 'one', args: ['--acp'] } },
  ...more,
});

test('a package that is not installed is started with npx, pinned to a version, with a warning', () => {
  expect(resolveStart(agent({ node: '>=22' }), here)).toEqual({
    command: 'npx',
    args: ['-y', '@x/one@1.0.0', '--acp'],
    how: 'runner',
    warnings: [
      'using npx: one of @x/one@1.0.0 is not installed. npx fetches @x/one@1.0.0 on first use',
      'the agent needs Node >=22, but this is v20.20.2',
      'npx is not on your PATH',
    ],
  });
});

test('a Python package is started with uvx', () => {
  expect(resolveStart(agent({ distribution: { uvx: { package: 'two==2.1', args: ['acp'], env: { A: 'b' } } } }), here)).toMatchObject({
    command: 'uvx',
    args: ['two==2.1', 'acp'],
    env: { A: 'b' },
    how: 'runner',
  });
});

test('an agent is found by its id, and by the names that editors use', () => {
  const all = [agent({ id: 'claude-agent' }), agent({ id: 'qwen-code' })];
  expect(['claude-agent', 'claude', 'Claude Code', 'claude-acp', 'qwen', 'claud'].map((name) => findAgent(all, name)?.id)).toEqual([
    'claude-agent',
    'claude-agent',
    'claude-agent',
    'claude-agent',
    'qwen-code',
    undefined,
  ]);
});

test.each([
  ['@x/one@1.0.0', '@x/one'],
  ['@x/one', '@x/one'],
  ['two==2.1', 'two'],
  ['three@latest', 'three'],
])('the package of %s is %s', (pinned, name) => {
  expect(packageName(pinned)).toBe(name);
});

test('the agent behind a command is recognised by its package, its program or a former package name', () => {
  const all = [agent({ replaces: ['@old/one'] })];
  for (const words of [['npx', '-y', '@x/one@latest'], ['/opt/bin/one'], ['npx', '@old/one']])
    expect(agentBehind(words, all)?.id).toBe('one-agent');
  expect(agentBehind(['another', 'one@2'], all)).toBeUndefined();
});

test("the Node version is checked against the agent's requirement", () => {
  expect(['v20.1.0', 'v22.0.0', 'v24.0.0'].map((version) => suitsNode(agent({ node: '>=22' }), version))).toEqual([false, true, true]);
});
