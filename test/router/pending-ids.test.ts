// Requests in flight under the proxy's ids.
import { expect, test } from 'vitest';
import { canonicalId, createPendingIds } from '../../src/router/pending-ids.ts';

test('ids count up from the first, and each finds its own entry', () => {
  const pending = createPendingIds<string>(7);
  expect([pending.open('a'), pending.open('b')]).toEqual(['7', '8']);
  expect([pending.find('7'), pending.find('8'), pending.find('9')]).toEqual(['a', 'b', undefined]);
  expect(pending.size()).toBe(2);
});

test('a response settles its request once, and the id is not used again', () => {
  const pending = createPendingIds<string>(0);
  pending.open('a');
  expect([pending.settle('0'), pending.settle('0')]).toEqual(['a', undefined]);
  expect(pending.size()).toBe(0);
  expect(pending.open('b')).toBe('1');
});

test('all open requests are drained once, in order', () => {
  const pending = createPendingIds<string>(0);
  for (const entry of ['a', 'b', 'c']) pending.open(entry);
  pending.settle('1');
  expect(pending.drain()).toEqual(['a', 'c']);
  expect([pending.drain(), pending.size(), pending.find('0')]).toEqual([[], 0, undefined]);
});

test('an id that is nested too deep to serialise keeps its own text', () => {
  const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
  expect(canonicalId(deep)).toBe(deep);
});
