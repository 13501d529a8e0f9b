// The queue of frames that a session does not admit yet, without a session.
import { expect, test } from 'vitest';
import { FrameQueue, type Step } from '../../../src/proxy/sessions/frame-queue.ts';

const overtakes = (method: string) => method === 'close';

/** A queue whose steps note that they ran. `held` says which methods must wait. */
function setUp() {
  const queue = new FrameQueue();
  const ran: string[] = [];
  const held = new Set<string>();
  const step = (name: string, run = () => {}): Step => ({
    method: name.replace(/\d+$/, ''),
    request: { idText: name, isAnswered: false } as never,
    bytes: 10,
    run() {
      ran.push(name);
      run();
    },
  });
  const resume = () => queue.run(({ method }) => !held.has(method), overtakes);
  const names = (requests: readonly { idText: string }[]) => requests.map(({ idText }) => idText);
  return { queue, ran, held, step, resume, names };
}

test('steps that run the queue again run in order, however many there are', () => {
  const { queue, ran, step, resume } = setUp();
  for (let n = 0; n < 20_000; n++) queue.wait(step(`prompt${n}`, resume), false);
  resume();
  expect(ran).toEqual(Array.from({ length: 20_000 }, (_, n) => `prompt${n}`));
  expect(queue.isEmpty).toBe(true);
  expect(queue.bytes).toBe(0);
});

test('behind a step that must wait, only those run that overtake it', () => {
  const { queue, ran, held, step, resume } = setUp();
  held.add('prompt');
  for (const name of ['prompt1', 'load1', 'close1', 'load2']) queue.wait(step(name), false);
  resume();
  expect(ran).toEqual(['close1']);
  held.clear();
  resume();
  expect(ran).toEqual(['close1', 'prompt1', 'load1', 'load2']);
});

test('a step that makes the next one wait stops the queue', () => {
  const { queue, ran, held, step, resume } = setUp();
  queue.wait(
    step('load1', () => held.add('prompt')),
    false,
  );
  queue.wait(step('prompt1'), false);
  resume();
  expect(ran).toEqual(['load1']);
  expect(queue.bytes).toBe(10);
});

test('a request that was answered while it waited does not run', () => {
  const { queue, ran, step, resume } = setUp();
  const withdrawn = step('prompt1');
  queue.wait(withdrawn, false);
  queue.wait(step('prompt2'), false);
  (withdrawn.request as { isAnswered: boolean }).isAnswered = true;
  resume();
  expect(ran).toEqual(['prompt2']);
});

test('the end of a session takes the requests that came before it, and leaves those behind it', () => {
  const { queue, step, names } = setUp();
  queue.wait(step('prompt1'), true); // behind an earlier close that failed
  queue.markEnd();
  queue.wait(step('prompt2'), true);
  expect(names(queue.takeBeforeEnd())).toEqual(['prompt1']);
  expect(queue.bytes).toBe(10);
  expect(names(queue.withdraw(() => true))).toEqual(['prompt2']);
  expect(queue.isEmpty).toBe(true);
});

test('a close that waited itself tells the frames before it from those behind it by their order', () => {
  const { queue, held, step, resume, names } = setUp();
  held.add('prompt');
  queue.wait(step('prompt1'), true);
  queue.wait(
    step('close1', () => queue.markEnd()),
    true,
  );
  queue.wait(step('prompt2'), true);
  resume();
  expect(names(queue.takeBeforeEnd())).toEqual(['prompt1']);
});

test('one step can be removed, once', () => {
  const { queue, step } = setUp();
  const mine = step('prompt1');
  queue.waitFirst(mine);
  expect(queue.remove(mine)).toBe(true);
  expect(queue.remove(mine)).toBe(false);
});
