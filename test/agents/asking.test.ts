// The settings with which known agents start under a policy, so that they ask.
import { expect, test } from 'vitest';
import { knownAgent, startsAsking, withAsking } from '../../src/agents/asking.ts';
import { agentSpec } from '../../src/agents/defaults.ts';
import { bundledCatalogue } from '../../src/app/package-files.ts';

const catalogue = bundledCatalogue();
const started = (command: string, args: string[] = [], env: Record<string, string> = {}) => {
  const spec = agentSpec('one', { command, args, env });
  return withAsking(spec, knownAgent(catalogue, spec)?.asks);
};

test('codex starts in the mode in which it asks, whatever its entry says', () => {
  const { spec, changes } = started('codex-acp', [], { INITIAL_AGENT_MODE: 'agent-full-access', KEY: 'x' });
  expect(spec.env).toEqual({ INITIAL_AGENT_MODE: 'read-only', KEY: 'x' });
  expect(changes).toEqual(['INITIAL_AGENT_MODE=read-only']);
});

test('opencode gets permissions that ask, also when npx starts it', () => {
  const { spec } = started('npx', ['-y', 'opencode-ai@1.18.33', 'acp']);
  expect(JSON.parse(String(spec.env.OPENCODE_PERMISSION))).toMatchObject({ edit: 'ask', bash: 'ask' });
});

test.each([
  [['--acp'], ['--acp', '--approval-mode', 'default']],
  [
    ['--acp', '--yolo'],
    ['--acp', '--approval-mode', 'default'],
  ],
  [
    ['--acp', '--approval-mode', 'yolo'],
    ['--acp', '--approval-mode', 'default'],
  ],
  [
    ['--acp', '--approval-mode=auto_edit'],
    ['--acp', '--approval-mode', 'default'],
  ],
  [
    ['--acp', '--approval-mode', 'plan'],
    ['--acp', '--approval-mode', 'plan'],
  ],
])('gemini with %j starts with %j', (given, wanted) => {
  expect(started('gemini', given).spec.args).toEqual(wanted);
});

test('copilot does not inherit a variable that allows everything', () => {
  const { spec, changes } = started('/usr/bin/copilot', ['--acp', '--allow-all-tools'], { COPILOT_ALLOW_ALL: '1' });
  expect(spec).toMatchObject({ args: ['--acp'], env: {}, withheldEnv: ['COPILOT_ALLOW_ALL'] });
  expect(changes).toEqual(['without COPILOT_ALLOW_ALL', 'without --allow-all-tools']);
});

test('an agent that nothing makes ask, or that is unknown, starts as it is configured', () => {
  for (const command of ['pi-acp', 'our-agent'])
    expect(started(command, ['--yolo'])).toMatchObject({ spec: { args: ['--yolo'] }, changes: [] });
});

test('an agent is also known by the name it gives itself', () => {
  const spec = { command: 'wrapper', args: [] };
  expect(
    ['gemini-cli', 'OpenCode', 'Copilot', '@agentclientprotocol/codex-acp'].map((name) => knownAgent(catalogue, spec, name)?.id),
  ).toEqual(['gemini', 'opencode', 'copilot', 'codex']);
});

test('the change is reported once', () => {
  const reports: string[] = [];
  const prepared = startsAsking(catalogue, (text) => reports.push(text));
  for (let n = 0; n < 2; n++) prepared(agentSpec('mine', { command: 'codex-acp' }));
  expect(reports).toEqual([
    'switchboard changed the start settings of agent "mine" so that it asks for permission: INITIAL_AGENT_MODE=read-only',
  ]);
});
