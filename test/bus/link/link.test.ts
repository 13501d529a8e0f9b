// A link as a byte stream with back-pressure: a writer that was told to wait is always told to go on.
import { expect, test } from 'vitest';
import type { Bus } from '../../../src/bus/bus.ts';
import { createLink } from '../../../src/bus/link/link.ts';
import { encodeMessage } from '../../../src/bus/link/messages.ts';

const EPOCH = 7;
const WINDOW = 1000;

test('a writer that waits hears `drain`, also if something else was written while acknowledgements had made some room', async () => {
  const bus = { isConnected: true, send() {}, onConnection: () => () => {} } as unknown as Bus;
  const link = createLink({
    ...{ bus, to: 'there', epoch: EPOCH, limits: { windowBytes: WINDOW, chunkBytes: 100 } },
    clock: { monotonicMs: () => 0, after: () => () => {} },
    ...{ lostAfterMs: 1000, lostReason: 'lost', on: { closed: () => {} } },
  });
  let drains = 0;
  link.sink.on('drain', () => drains++);
  const acknowledge = async (offset: number) => {
    link.receive(encodeMessage({ kind: 'ack', epoch: EPOCH, offset, credit: offset + WINDOW, hasGap: false }));
    await new Promise(setImmediate);
  };
  expect(link.sink.write(Buffer.alloc(WINDOW))).toBe(false);
  await acknowledge(300); // not yet half of the window
  expect([link.sink.write(Buffer.alloc(10)), drains]).toEqual([false, 0]);
  await acknowledge(WINDOW);
  expect(drains).toBe(1);
  expect(link.sink.write(Buffer.alloc(10))).toBe(true);
});
