// The numbered event feed that a page reads again after a reconnect.
import { expect, test } from 'vitest';
import { createFeed } from '../../../src/console/state/feed.ts';

const note = (text: string) => ({ e: 'note' as const, text });

test('events after a number can be read again', () => {
  const feed = createFeed();
  feed.listen(() => {});
  for (const text of ['a', 'b', 'c']) feed.publish(note(text), 's');
  expect(feed.since(1)?.map(({ seq, text }) => [seq, JSON.parse(text).event.text])).toEqual([
    [2, 'b'],
    [3, 'c'],
  ]);
  expect(feed.since(3)).toEqual([]);
});

test('events that were dropped or never existed are reported as missing', () => {
  const feed = createFeed(8);
  feed.publish(note('before a page listened'));
  feed.listen(() => {});
  for (let n = 0; n < 20; n++) feed.publish(note(String(n)));
  expect(feed.since(0)).toBeUndefined();
  expect(feed.since(5)).toBeUndefined();
  expect(feed.since(99)).toBeUndefined();
  expect(feed.since(feed.seq - 3)).toHaveLength(3);
});
