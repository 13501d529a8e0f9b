// Requests of one session run in order.
import { expect, test } from 'vitest';
import { createTurns } from '../../src/workspace/request-queue.ts';

/** Work that ends when the test says so. */
function job(log: string[], name: string) {
  let finish: (error?: Error) => void = () => {};
  const done = new Promise<void>((resolve, reject) => {
    finish = (error) => (error ? reject(error) : resolve());
  });
  const work = async () => {
    log.push(`${name} begins`);
    await done;
    log.push(`${name} ends`);
    return name;
  };
  return { work, finish: (error?: Error) => finish(error) };
}
const settle = () => new Promise((resolve) => setImmediate(resolve));

test('requests run one after the other, whatever their outcome; other sessions do not wait', async () => {
  const turns = createTurns();
  const log: string[] = [];
  const [owner, other] = [{}, {}];
  const [a, b, c, x] = ['a', 'b', 'c', 'x'].map((name) => job(log, name)) as [
    ReturnType<typeof job>,
    ReturnType<typeof job>,
    ReturnType<typeof job>,
    ReturnType<typeof job>,
  ];
  const results = [a, b, c].map(({ work }) => turns.take(owner, 'm', work));
  const concurrent = turns.take(other, 'm', x.work);
  for (const one of [c, b, x]) one.finish();
  await settle();
  expect(log).toEqual(['a begins', 'x begins', 'x ends']);
  a.finish(new Error('broke'));
  expect(await Promise.allSettled([...results, concurrent])).toMatchObject([
    { status: 'rejected' },
    { value: 'b' },
    { value: 'c' },
    { value: 'x' },
  ]);
  expect(log.slice(3)).toEqual(['b begins', 'b ends', 'c begins', 'c ends']);
});

test('waiting work is dropped when its owner ends; the owner may start again', async () => {
  const turns = createTurns();
  const log: string[] = [];
  const owner = {};
  const [first, second, third] = [job(log, 'first'), job(log, 'second'), job(log, 'third')];
  const results = [turns.take(owner, 'm', first.work), turns.take(owner, 'm', second.work)];
  await settle();
  turns.endOf(owner);
  const anew = turns.take(owner, 'm', third.work);
  for (const one of [first, second, third]) one.finish();
  expect(await Promise.allSettled([...results, anew])).toMatchObject([
    { value: 'first' },
    { reason: { key: 'CANCELLED' } },
    { value: 'third' },
  ]);
  expect(log).not.toContain('second begins');
});

test('at most a thousand requests wait, and further ones are refused', async () => {
  const turns = createTurns();
  const owner = {};
  const results = await Promise.allSettled(Array.from({ length: 1005 }, (_, n) => turns.take(owner, 'm', async () => n)));
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1000);
  expect(results.at(-1)).toMatchObject({ reason: { key: 'TOO_MANY_OPEN' } });
  expect(await turns.take(owner, 'm', async () => 'again')).toBe('again');
});
