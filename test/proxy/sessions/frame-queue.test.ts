// The lane of a session, without a session around it.
import { expect, test } from 'vitest';
import { createLane } from '../../../src/proxy/sessions/frame-queue.ts';

test('steps that hold the lane and let go of it at once run in their order, however many there are', () => {
  const lane = createLane();
  const ran: number[] = [];
  lane.hold();
  for (let n = 0; n < 50_000; n++)
    lane.wait({
      request: undefined,
      run() {
        lane.hold();
        ran.push(n);
        lane.release();
      },
    });
  lane.release();
  expect(ran).toEqual(Array.from({ length: 50_000 }, (_, n) => n));
  expect(lane.isHeld).toBe(false);
});
