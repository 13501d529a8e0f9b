// Request ids: equal in meaning, kept as written.
import { describe, expect, test } from 'vitest';
import { canonicalId } from '../../src/router/pending-ids.ts';
import fc from '../generated.ts';

const anyText = fc.string({ unit: fc.nat({ max: 0xd7ff }).map((code) => String.fromCodePoint(code)) });

describe('ids with the same meaning are equal', () => {
  test.each([
    ['"a"', '"\\u0061"'],
    ['"é"', '"\\u00e9"'],
    ['"/"', '"\\/"'],
    ['1', '1.0'],
    ['100', '1e2'],
    ['0', '-0'],
    ['[1,"a"]', '[ 1 , "\\u0061" ]'],
    ['{"a":1}', '{ "a" : 1.0 }'],
  ])('%s and %s', (one, other) => {
    expect(canonicalId(one)).toBe(canonicalId(other));
  });
});

describe('ids with different meanings are not equal', () => {
  test.each([
    ['1', '"1"'],
    ['1', '-1'],
    ['null', '"null"'],
    ['null', '0'],
    ['true', '"true"'],
    ['""', 'null'],
    ['"a"', '"A"'],
    ['9007199254740993', '9007199254740992'],
    ['9007199254740993', '"9007199254740993"'],
    ['[1]', '1'],
    ['"\\ud800"', '"\\ud801"'],
    ['1e400', 'null'],
    ['1e400', '-1e400'],
  ])('%s and %s', (one, other) => {
    expect(canonicalId(one)).not.toBe(canonicalId(other));
  });

  test('any two strings, any two integers', () => {
    const token = fc.oneof(
      anyText.map((text) => JSON.stringify(text)),
      fc.bigInt().map(String),
    );
    fc.assert(
      fc.property(token, token, (one, other) => {
        expect(canonicalId(one) === canonicalId(other)).toBe(one === other);
      }),
    );
  });
});

test('every JSON value has a key, which does not change when read again', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const once = canonicalId(JSON.stringify(value));
      expect(canonicalId(once)).toBe(once);
    }),
  );
});
