import fc from 'fast-check';
import { expect, test } from 'vitest';
import { InternedMap } from '../../../src/wire/scanner/beside.ts';
import { decodedOf, type Interned, intern, internInside, tokenOf } from '../../../src/wire/scanner/interned.ts';

const inside = (id: string): Interned => {
  const token = Buffer.from(`"${id}"`);
  return internInside(token, 0, token.length) as Interned;
};

test('whatever came before, bytes are told by what they are: ids that begin alike, of any length, more of them than are kept', () => {
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
        if (intern(bytes, start, end) !== bytes.toString('utf8', start, end)) return false;
      }
      return true;
    }),
    { numRuns: 20 },
  );
});

test('a longer text that has got the place of a shorter one, with which it begins, is not taken for it', () => {
  const short = 'begin';
  intern(Buffer.from(short), 0, 5);
  for (let n = 0; n < 40_000; n++) intern(Buffer.from(`${short}${n}`), 0, 5 + String(n).length);
  expect(intern(Buffer.from(short), 0, 5)).toBe(short);
});

test('an id is decoded and written down once, and is then the same string', () => {
  const entry = inside('s\\u0041');
  expect(decodedOf(entry)).toBe('sA');
  expect(tokenOf(entry)).toBe('"s\\u0041"');
  expect(inside('s\\u0041')).toBe(entry);
  expect(internInside(Buffer.from(`"${'x'.repeat(65)}"`), 0, 67)).toBeUndefined();
});

test('what is kept beside an id is found as long as the id is known, and never for another that has got its place', () => {
  const beside = new InternedMap<string>();
  const first = inside('first');
  expect(beside.get(first)).toBeUndefined();
  beside.set(first, 'of first');
  expect(beside.get(inside('first'))).toBe('of first');
  for (let n = 0; n < 40_000; n++) {
    const entry = inside(`other-${n}`);
    expect(beside.get(entry)).toBeUndefined();
    if (n % 3 === 0) beside.set(entry, String(n));
  }
  beside.clear();
  expect(beside.get(first)).toBeUndefined();
});
