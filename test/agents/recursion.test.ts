// Recognising switchboard itself among the configured agents.
import { expect, test } from 'vitest';
import { depthOf, isOurProxy } from '../../src/agents/recursion.ts';

test.each([
  ['switchboard', []],
  ['switchboard', ['acp']],
  ['/usr/local/bin/switchboard', ['--config', 'x.jsonc', 'acp']],
  ['/usr/bin/node', ['/opt/acp-switchboard/bin/switchboard.js', 'acp']],
  ['node', ['--max-old-space-size=4096', '/opt/acp-switchboard/bin/switchboard.js']],
  ['C:\\Program Files\\nodejs\\node.exe', ['C:\\x\\bin\\switchboard.js', 'acp']],
  ['npx', ['-y', 'acp-switchboard@0.1.0', 'acp']],
  ['switchboard.cmd', ['acp', '--agent', 'claude']],
])('%s %j is switchboard itself', (command, args) => {
  expect(isOurProxy(command, args)).toBe(true);
});

test.each([
  ['switchboard', ['replay', 'recording.jsonl']],
  ['claude-agent-acp', []],
  ['our-agent', ['--mode', 'switchboard']],
  ['git', ['clone', 'acp-switchboard']],
  ['/home/me/switchboard/agent', ['acp']],
  ['node', ['agent.js', '/x/bin/switchboard.js']],
])('%s %j is not switchboard', (command, args) => {
  expect(isOurProxy(command, args)).toBe(false);
});

test('an invalid depth counts as zero', () => {
  expect([undefined, '', '2', '-1', 'x'].map((value) => depthOf(value === undefined ? {} : { SWITCHBOARD_DEPTH: value }))).toEqual([
    0, 0, 2, 0, 0,
  ]);
});
