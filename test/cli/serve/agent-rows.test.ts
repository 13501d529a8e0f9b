// Agents in the console's table.
import { expect, test } from 'vitest';
import { agentSpec } from '../../../src/agents/defaults.ts';
import { agentRows } from '../../../src/cli/serve/agent-rows.ts';
import type { RunningProxy } from '../../../src/proxy/api.ts';

test('capabilities are listed by path, and those nested too deep are left out', () => {
  const endless = JSON.parse(`${'{"a":'.repeat(20_000)}true${'}'.repeat(20_000)}`);
  const answer = { agentCapabilities: { loadSession: true, promptCapabilities: { image: true, audio: false }, endless } };
  const connection = {
    health: () => ({ one: { state: 'ready', restarts: 0, sessions: 0, inFlight: 0, stderrTail: [] } }),
    described: () => ({ one: { name: 'one', title: 'One', answer } }),
  } as unknown as RunningProxy;
  const [row] = agentRows(
    connection,
    { agents: [], defaultAgent: 'one' },
    (text) => text,
    () => 'workspace, listed',
  );
  expect(row?.sandbox).toBe('workspace, listed');
  expect(row?.capabilities).toEqual(['loadSession', 'promptCapabilities.image']);
});

test('a remote agent has its transport, its address and, where one starts it, its command, without secrets', () => {
  const far = agentSpec('far', { command: 'https://me:hunter2@far.example/acp?key=1', url: 'https://me:hunter2@far.example/acp?key=1' });
  const pool = {
    ...agentSpec('pool', { command: 'claude', args: ['--api-key', 'k-1'] }),
    remote: { kind: 'bus' as const, agent: 'claude', labels: { gpu: 'yes' }, address: 'the bus, gpu=yes', files: 'none' as const },
  };
  const here = { state: 'ready', restarts: 0, sessions: 0, inFlight: 0, stderrTail: [] };
  const described = Object.fromEntries(['far', 'pool'].map((name) => [name, { name, title: name, answer: undefined }]));
  const connection = { health: () => ({ far: here, pool: here }), described: () => described } as unknown as RunningProxy;
  const rows = agentRows(
    connection,
    { agents: [far, pool], defaultAgent: 'far' },
    (text) => text,
    () => undefined,
  );
  expect(rows.map(({ remote }) => remote)).toEqual([
    { transport: 'http', address: 'https://far.example/acp', files: 'none' },
    { transport: 'bus', address: 'the bus, gpu=yes', command: "claude --api-key '…'", files: 'none' },
  ]);
});
