// Requests in flight under the proxy's ids.
import { expect, test } from 'vitest';
import { canonicalId, createLedger } from '../../src/router/request-ledger.ts';

test('ids count up from the first, and each finds its own entry', () => {
  const ledger = createLedger<string>(7);
  expect([ledger.open('a'), ledger.open('b')]).toEqual(['7', '8']);
  expect([ledger.find('7'), ledger.find('8'), ledger.find('9')]).toEqual(['a', 'b', undefined]);
  expect(ledger.size()).toBe(2);
});

test('a response settles its request once, and the id is not used again', () => {
  const ledger = createLedger<string>(0);
  ledger.open('a');
  expect([ledger.settle('0'), ledger.settle('0')]).toEqual(['a', undefined]);
  expect(ledger.size()).toBe(0);
  expect(ledger.open('b')).toBe('1');
});

test('all open requests are drained once, in order', () => {
  const ledger = createLedger<string>(0);
  for (const entry of ['a', 'b', 'c']) ledger.open(entry);
  ledger.settle('1');
  expect(ledger.drain()).toEqual(['a', 'c']);
  expect([ledger.drain(), ledger.size(), ledger.find('0')]).toEqual([[], 0, undefined]);
});

test('an id that is nested too deep to serialise keeps its own text', () => {
  const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
  expect(canonicalId(deep)).toBe(deep);
});
