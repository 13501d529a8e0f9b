// Turns that pause for a permission request and resume with the next tool call.
import { afterEach, expect, test, vi } from 'vitest';
import { createPausedTurns as create, type Listener } from '../../../src/mcp/server/paused-turns.ts';

type Asked = { readonly title: string };
const ASKED: Asked = { title: 'Write a file' };
const createPausedTurns = (patienceMs: number) => create<string, Asked, string>(patienceMs, () => 'n');
const listener = (signal = new AbortController().signal, progress: (text: string) => void = () => {}): Listener => ({ signal, progress });
const yes = () => 'y';
const idOf = (step: Awaited<ReturnType<ReturnType<typeof createPausedTurns>['begin']>>): string =>
  'paused' in step ? step.paused.id : expect.unreachable('it has ended');

afterEach(() => vi.useRealTimers());

test('a turn without permission requests returns its result', async () => {
  const turns = createPausedTurns(1000);
  expect(await turns.begin(async () => 'done', listener())).toEqual({ done: 'done' });
});

test('a turn waits for each answer in order, and its text goes to the current listener', async () => {
  const turns = createPausedTurns(1000);
  const heard: string[] = [];
  const first = await turns.begin(async ({ ask, progress }) => {
    const answers = await Promise.all([ask(ASKED), ask(ASKED)]);
    progress('nearly');
    return answers.join();
  }, listener());
  const second = await turns.resume(idOf(first), yes, listener());
  if (!second) return expect.unreachable('it waits for another answer');
  const third = await turns.resume(
    idOf(second),
    () => undefined,
    listener(undefined, (words) => heard.push(words)),
  );
  expect(third).toEqual({ done: 'y,n' }); // no answer means no
  expect(heard).toEqual(['nearly']);
  expect(turns.resume(idOf(first), yes, listener())).toBeUndefined(); // an answer counts once
});

test('cancelling the request cancels the turn, even one that was resumed', async () => {
  const turns = createPausedTurns(1000);
  const enough = new AbortController();
  const first = await turns.begin(async ({ ask, signal }) => {
    await ask(ASKED);
    if (signal.aborted) return 'cancelled';
    return new Promise((resolve) => signal.addEventListener('abort', () => resolve('cancelled')));
  }, listener());
  const second = turns.resume(idOf(first), yes, listener(enough.signal));
  enough.abort();
  expect(await second).toEqual({ done: 'cancelled' });
});

test('if the client does not come back, the answer is no and the turn is cancelled', async () => {
  vi.useFakeTimers();
  const turns = createPausedTurns(1000);
  let answer: string | undefined;
  let isCancelled = false;
  const step = await turns.begin(async ({ ask, signal }) => {
    signal.addEventListener('abort', () => {
      isCancelled = true;
    });
    answer = await ask(ASKED);
    return '';
  }, listener());
  await vi.advanceTimersByTimeAsync(1000);
  expect({ answer, isCancelled }).toEqual({ answer: 'n', isCancelled: true });
  expect(turns.resume(idOf(step), yes, listener())).toBeUndefined();
});

test('a request that the agent withdraws needs no answer, and a late answer does not go to the next request', async () => {
  const turns = createPausedTurns(1000);
  const withdrawn = new AbortController();
  const first = await turns.begin(async ({ ask }) => {
    const gone = await ask(ASKED, withdrawn.signal);
    return `${gone},${await ask({ title: 'Delete a file' })}`;
  }, listener());
  withdrawn.abort();
  const second = await turns.resume(idOf(first), yes, listener());
  expect(second).toMatchObject({ paused: { request: { title: 'Delete a file' } } });
  expect(second && (await turns.resume(idOf(second), () => undefined, listener()))).toEqual({ done: 'n,n' });
});

test('a failure of the turn reaches the waiting listener', async () => {
  const turns = createPausedTurns(1000);
  const step = await turns.begin(async ({ ask }) => {
    await ask(ASKED);
    throw new Error('broken');
  }, listener());
  await expect(turns.resume(idOf(step), yes, listener())).rejects.toThrow('broken');
});
