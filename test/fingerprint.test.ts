// Fingerprints of texts.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fingerprint } from '../src/fingerprint.ts';

test('texts that differ in a single character have different fingerprints', () => {
  const seen = new Map<string, string>();
  fc.assert(
    fc.property(fc.string({ maxLength: 200 }), fc.nat(199), (text, at) => {
      const changed = `${text.slice(0, at)}${text[at] === 'x' ? 'y' : 'x'}${text.slice(at + 1)}`;
      for (const one of [text, changed]) {
        expect(seen.get(fingerprint(one)) ?? one).toBe(one);
        seen.set(fingerprint(one), one);
      }
    }),
    { numRuns: 2000 },
  );
});

test('a hundred thousand similar texts have a hundred thousand different fingerprints of the same length', () => {
  const names = new Set(Array.from({ length: 100_000 }, (_, n) => fingerprint(`{"agent_servers":{"a":{"args":["${n}"]}}}`)));
  expect(names.size).toBe(100_000);
  expect(new Set([...names].map(({ length }) => length))).toEqual(new Set([22]));
});

test('fingerprints never change, because caches would lose their entries', () => {
  expect(['', 'a', 'é\u{1f600}'].map(fingerprint)).toMatchInlineSnapshot(`
    [
      "1lm98d9wnjv173pbjhlrmb",
      "08269g7o9g80gjrb0d4aeh",
      "0f8m6yka5vq1p2zsk5tzj6",
    ]
  `);
});
