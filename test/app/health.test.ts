// The health file that `agents list` reads is written when an agent's state changes, not only periodically.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { publishHealth } from '../../src/app/serve-client.ts';
import type { AgentHealth } from '../../src/proxy/agents/agent.ts';
import { open } from '../e2e/harness.ts';
import { able, CWD, connection } from '../proxy/actors.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const READY: AgentHealth = {
  ...{ state: 'ready', pid: 1, uptimeMs: undefined, restarts: 0, sessions: 0, inFlight: 0 },
  ...{ lastError: undefined, unavailable: undefined, stderrTail: [] },
};

test('changes that come together are written once, at once; otherwise every two seconds; after the end, nothing', () => {
  const healthIs = vi.fn();
  const health = publishHealth(
    () => ({ health: () => ({ one: READY }), queuedPrompts: () => [{ sessionId: 's', id: '1', text: 'next' }] }),
    (text) => text,
    { childStarted: () => {}, healthIs, clear: () => {} },
  );
  for (let change = 0; change < 5; change++) health.changed();
  expect(healthIs).not.toHaveBeenCalled();
  vi.advanceTimersByTime(100);
  expect(healthIs.mock.calls).toEqual([[{ one: expect.objectContaining({ state: 'ready', pid: 1 }) }, [{ sessionId: 's', text: 'next' }]]]);
  health.changed();
  vi.advanceTimersByTime(100);
  expect(healthIs).toHaveBeenCalledTimes(2);
  vi.advanceTimersByTime(1800);
  expect(healthIs).toHaveBeenCalledTimes(3);
  health.changed();
  health.stop();
  health.changed();
  vi.advanceTimersByTime(10_000);
  expect(healthIs).toHaveBeenCalledTimes(3);
});

test('an agent that is ready, has exited, or was stopped by the user counts as changed', async () => {
  vi.useRealTimers();
  const [left, right] = [able('left'), able('right')];
  const states: (string | undefined)[] = [];
  let look = () => {};
  const made = await connection([left, right], {}, { onStateChange: () => look() });
  look = () => void states.push(made.connection.health().left?.state);
  await open(made.client, CWD, 'left');
  left.exit({ kind: 'exited', code: 1, signal: null });
  expect(states.at(-1)).toBe('idle');
  made.connection.restart('left');
  await expect.poll(() => states).toContain('ready');
  states.length = 0;
  made.connection.stopAgent('left', 'now');
  expect(states.at(-1)).toMatch(/draining|stopped/);
  await made.connection.stop();
});
