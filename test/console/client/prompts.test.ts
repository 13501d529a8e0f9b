// Prompts that a page sends during a turn: which of them the conversation shows, and when.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createPrompts } from '../../../src/console/client/prompts.ts';
import type { StateKeeper } from '../../../src/console/state/state.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A console client whose proxy the test plays. */
function createConsole() {
  const events: string[] = [];
  const answers: ((answer: unknown) => void)[] = [];
  const proxy = { waiting: 0, running: 0 };
  const state = {
    event: (_: string, event: { e: string; text?: string; stopReason?: string }) =>
      events.push([event.e, event.text ?? event.stopReason ?? ''].join(' ').trim()),
    agents: () => [],
  } as unknown as StateKeeper;
  const prompts = createPrompts({
    state,
    redact: (text: string) => text,
    queue: {
      queuedPrompts: () => Array.from({ length: proxy.waiting }, (_, n) => ({ sessionId: 's', id: String(n), text: '' })),
      runningPrompts: () => proxy.running,
      changeQueued: () => false,
    },
    send: () => new Promise((resolve) => answers.push(resolve)),
  });
  const send = (text: string) => prompts.prompt('s', [{ type: 'text', text }]);
  return { events, answers, proxy, send };
}

test('a prompt that is cancelled while it waits is not shown, even if its answer comes after the proxy has removed it', async () => {
  const { events, answers, proxy, send } = createConsole();
  send('running');
  send('waiting');
  Object.assign(proxy, { running: 1, waiting: 0 }); // the proxy has removed it; its answer is on the way
  await vi.advanceTimersByTimeAsync(1000);
  answers[1]?.({ stopReason: 'cancelled' });
  await vi.advanceTimersByTimeAsync(0);
  expect(events).toEqual(['prompt running']);
});

test('a prompt that the agent takes during a turn is shown at once', async () => {
  const { events, proxy, send } = createConsole();
  send('running');
  send('taken');
  Object.assign(proxy, { running: 2, waiting: 0 });
  await vi.advanceTimersByTimeAsync(1000);
  expect(events).toEqual(['prompt running', 'prompt taken']);
});

test('a prompt that waits is shown when the turn before it ends', async () => {
  const { events, answers, proxy, send } = createConsole();
  send('running');
  send('waiting');
  Object.assign(proxy, { running: 1, waiting: 1 });
  await vi.advanceTimersByTimeAsync(1000);
  expect(events).toEqual(['prompt running']);
  answers[0]?.({ stopReason: 'end_turn' });
  await vi.advanceTimersByTimeAsync(0);
  expect(events).toEqual(['prompt running', 'end end_turn', 'prompt waiting']);
});
