// The table of interned ids.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodedOf, type Interned, InternedMap, InternTable, tokenOf } from '../../../src/wire/scanner/interned.ts';

const table = new InternTable();

const inside = (id: string): Interned => {
  const token = Buffer.from(`"${id}"`);
  return table.ofToken(token, 0, token.length) as Interned;
};

test('returns the right text for ids of any length that share prefixes, also when the table overflows', () => {
  const ids = fc.array(fc.tuple(fc.constantFrom('', 's', 'sess_', 'a0-session-', 'é'), fc.nat(40_000), fc.constantFrom('', 'x', '00')), {
    minLength: 2000,
    maxLength: 20_000,
  });
  fc.assert(
    fc.property(ids, (parts) => {
      const bytes = Buffer.from(parts.map(([head, n, tail]) => `${head}${n}${tail}`).join('\n'));
      for (let start = 0, end = 0; start < bytes.length; start = end + 1) {
        end = bytes.indexOf(0x0a, start);
        if (end < 0) end = bytes.length;
        if (table.textOf(bytes, start, end) !== bytes.toString('utf8', start, end)) return false;
      }
      return true;
    }),
    { numRuns: 20 },
  );
});

test('does not confuse a text with a longer one that took over its index and begins with it', () => {
  const short = 'begin';
  table.textOf(Buffer.from(short), 0, 5);
  for (let n = 0; n < 40_000; n++) table.textOf(Buffer.from(`${short}${n}`), 0, 5 + String(n).length);
  expect(table.textOf(Buffer.from(short), 0, 5)).toBe(short);
});

test('decodes an id once and returns the same entry afterwards', () => {
  const entry = inside('s\\u0041');
  expect(decodedOf(entry)).toBe('sA');
  expect(tokenOf(entry)).toBe('"s\\u0041"');
  expect(inside('s\\u0041')).toBe(entry);
  expect(table.ofToken(Buffer.from(`"${'x'.repeat(65)}"`), 0, 67)).toBeUndefined();
});

test('an InternedMap finds the value of an id, and never that of an id that had the same index before', () => {
  const map = new InternedMap<string>();
  const first = inside('first');
  expect(map.get(first)).toBeUndefined();
  map.set(first, 'of first');
  expect(map.get(inside('first'))).toBe('of first');
  for (let n = 0; n < 40_000; n++) {
    const entry = inside(`other-${n}`);
    expect(map.get(entry)).toBeUndefined();
    if (n % 3 === 0) map.set(entry, String(n));
  }
  map.clear();
  expect(map.get(first)).toBeUndefined();
});
