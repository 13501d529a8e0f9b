// Work that runs one piece at a time.
import { expect, test } from 'vitest';
import { createSerialQueue } from '../src/serial-queue.ts';

test('work runs in order, and a failure reaches its caller without stopping the rest', async () => {
  const queue = createSerialQueue();
  const log: string[] = [];
  let finish = () => {};
  const first = queue.run(async () => {
    log.push('first begins');
    await new Promise<void>((resolve) => {
      finish = resolve;
    });
    throw new Error('broken');
  });
  const second = queue.run(() => {
    log.push('second');
    return 2;
  });
  const idle = queue.idle().then(() => log.push('idle'));
  await new Promise((resolve) => setImmediate(resolve));
  expect(log).toEqual(['first begins']);
  finish();
  await expect(first).rejects.toThrow('broken');
  expect(await second).toBe(2);
  await idle;
  expect(log).toEqual(['first begins', 'second', 'idle']);
});
