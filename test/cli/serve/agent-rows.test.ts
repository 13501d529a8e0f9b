// Agents in the console's table.
import { expect, test } from 'vitest';
import { agentRows } from '../../../src/cli/serve/agent-rows.ts';
import type { Connection } from '../../../src/proxy/api.ts';

test('capabilities are listed by path, and those nested too deep are left out', () => {
  const endless = JSON.parse(`${'{"a":'.repeat(20_000)}true${'}'.repeat(20_000)}`);
  const answer = { agentCapabilities: { loadSession: true, promptCapabilities: { image: true, audio: false }, endless } };
  const connection = {
    health: () => ({ one: { state: 'ready', restarts: 0, sessions: 0, inFlight: 0, stderrTail: [] } }),
    described: () => ({ one: { name: 'one', title: 'One', answer } }),
  } as unknown as Connection;
  const [row] = agentRows(
    connection,
    { defaultAgent: 'one' },
    (text) => text,
    () => 'workspace, listed',
  );
  expect(row?.sandbox).toBe('workspace, listed');
  expect(row?.capabilities).toEqual(['loadSession', 'promptCapabilities.image']);
});
