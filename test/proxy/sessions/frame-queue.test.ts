// The frame queue of a session, without a session.
import { expect, test } from 'vitest';
import { createFrameQueue } from '../../../src/proxy/sessions/frame-queue.ts';

test('steps that hold the queue and release it at once run in order, however many there are', () => {
  const queue = createFrameQueue();
  const ran: number[] = [];
  queue.hold();
  for (let n = 0; n < 50_000; n++)
    queue.wait({
      request: undefined,
      run() {
        queue.hold();
        ran.push(n);
        queue.release();
      },
    });
  queue.release();
  expect(ran).toEqual(Array.from({ length: 50_000 }, (_, n) => n));
  expect(queue.isHeld).toBe(false);
});
