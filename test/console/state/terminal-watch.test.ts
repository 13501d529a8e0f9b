// Polling the output of an agent's terminal.
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Host } from '../../../src/console/client/workspace.ts';
import type { StateKeeper } from '../../../src/console/state/state.ts';
import { createTerminalWatch } from '../../../src/console/state/terminal-watch.ts';
import { createSecrets } from '../../../src/redaction/redact.ts';

test('a secret at the cut of a long output is not shown at all', async () => {
  const secrets = createSecrets();
  secrets.add('KEY', 'hunter2-hunter2-hunter2');
  const output = `hunter2-hunter2-hunter2${'.'.repeat(64 * 1024 - 8)}`;
  const events: unknown[] = [];
  const state = { event: (_: string, event: unknown) => events.push(event) } as unknown as StateKeeper;
  const host = { serve: async () => ({ output, truncated: false, exitStatus: { exitCode: 0 } }) } as unknown as Host;
  await createTerminalWatch(state, host, secrets.redact).last('s', 't');
  expect(events).toMatchObject([{ e: 'output', output: { isTruncated: true } }]);
  expect(JSON.stringify(events)).not.toContain('hunter2');
});

test('once stopped, a poll in flight shows nothing and is not repeated', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const events: unknown[] = [];
  let [looks, answer] = [0, (_: unknown) => {}];
  const state = { event: (_: string, event: unknown) => events.push(event) } as unknown as StateKeeper;
  const serve = () => {
    looks++;
    return new Promise((resolve) => {
      answer = resolve;
    });
  };
  const watch = createTerminalWatch(state, { serve } as unknown as Host, createSecrets().redact);
  watch.begin('s', 't');
  await vi.advanceTimersByTimeAsync(1000);
  expect(looks).toBe(1);
  watch.stop();
  answer({ output: 'more', truncated: false });
  await vi.advanceTimersByTimeAsync(1000);
  expect([looks, events, vi.getTimerCount()]).toEqual([1, [], 0]);
});
