// Members, elements and strings read from JSON bytes without a parse.
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import type { Span } from '../../src/wire/frame.ts';
import { elements, member, memberAt, members, stringAt, stringEnd } from '../../src/wire/json-path.ts';
import fc from '../generated.ts';
import { jsonValue, seeded } from './odd-json.ts';

const textAt = (bytes: Buffer, span: Span | undefined) => span && bytes.toString('utf8', span.start, span.end);

/** The value at `span`, rebuilt from the spans that json-path finds. */
function rebuilt(bytes: Buffer, span: Span): unknown {
  switch (String.fromCharCode(bytes[span.start] as number)) {
    case '{':
      return Object.fromEntries(members(bytes, span.start).map(({ key, value }) => [key, rebuilt(bytes, value)]));
    case '[':
      return elements(bytes, span.start).map((element) => rebuilt(bytes, element));
    case '"':
      return stringAt(bytes, span);
    default:
      return JSON.parse(textAt(bytes, span) as string);
  }
}

describe('against JSON.parse', () => {
  test('a string of any length ends at its closing quote', () => {
    const text = fc.string({ unit: fc.constantFrom('a', '"', '\\', 'é', '\n', 'long words '), maxLength: 400 });
    fc.assert(
      fc.property(text, fc.nat({ max: 7 }), (value, shift) => {
        const token = JSON.stringify(value);
        const bytes = Buffer.from(`${' '.repeat(shift)}${token},"\\""`);
        expect(stringEnd(bytes, shift)).toBe(shift + Buffer.byteLength(token));
      }),
    );
    expect(stringEnd(Buffer.from(`"${'a'.repeat(100)}`), 0)).toBe(101); // no closing quote: the end of the bytes
  });

  test('a value rebuilt from its members and elements is the same value', () => {
    let containers = 0;
    fc.assert(
      fc.property(fc.integer(), fc.nat({ max: 7 }), (seed, shift) => {
        const random = seeded(seed);
        for (let n = 0; n < 20; n++) {
          const text = jsonValue(random);
          const bytes = Buffer.from(`${'x'.repeat(shift)}${text}\n`);
          const span = { start: shift, end: bytes.length - 1 };
          if (/^[[{]/.test(text)) containers++;
          expect(isDeepStrictEqual(rebuilt(bytes, span), JSON.parse(text)), text).toBe(true);
        }
      }),
      { numRuns: 1000 },
    );
    expect(containers).toBeGreaterThan(5000);
  });

  test('spans cover exactly the tokens', () => {
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const bytes = Buffer.from(jsonValue(seeded(seed)));
        for (const span of [...elements(bytes, 0), ...members(bytes, 0).map(({ value }) => value)])
          expect(textAt(bytes, span)).toBe(textAt(bytes, span)?.trim());
      }),
    );
  });

  test('values of another generator', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(undefined, 1, '\t', '  '), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        const bytes = Buffer.from(text);
        expect(isDeepStrictEqual(rebuilt(bytes, { start: 0, end: bytes.length }), JSON.parse(text))).toBe(true);
      }),
    );
  });
});

describe('members', () => {
  const bytes = Buffer.from('{"a":1,"\\u0061":2,"b":{"a":"}"},"a":[3]}');

  test('are listed in order with decoded keys, duplicates included', () => {
    expect(members(bytes, 0).map(({ key, value }) => [key, textAt(bytes, value)])).toEqual([
      ['a', '1'],
      ['a', '2'],
      ['b', '{"a":"}"}'],
      ['a', '[3]'],
    ]);
  });

  test('member returns the first of several', () => {
    expect(textAt(bytes, member(bytes, 0, 'a'))).toBe('1');
    expect(member(bytes, 0, 'c')).toBeUndefined();
  });

  test('a path goes through objects only', () => {
    const whole = { start: 0, end: bytes.length };
    expect(textAt(bytes, memberAt(bytes, whole, 'b', 'a'))).toBe('"}"');
    expect(memberAt(bytes, whole, 'a', 'a')).toBeUndefined();
    expect(memberAt(bytes, whole, 'b', 'x', 'a')).toBeUndefined();
    expect(memberAt(bytes, undefined, 'b')).toBeUndefined();
    expect(memberAt(bytes, whole)).toBe(whole);
  });

  test.each(['[]', '"{}"', '1', 'null', 'true'])('%s has none', (text) => {
    expect(members(Buffer.from(text), 0)).toEqual([]);
    expect(member(Buffer.from(text), 0, 'a')).toBeUndefined();
  });

  test('a name that every object inherits is not a member', () => {
    expect(member(Buffer.from('{"a":1}'), 0, 'constructor')).toBeUndefined();
    expect(textAt(Buffer.from('{"__proto__":{}}'), member(Buffer.from('{"__proto__":{}}'), 0, '__proto__'))).toBe('{}');
  });
});

describe('elements and strings', () => {
  test.each(['{}', '"[1]"', '1', 'null'])('%s has no elements', (text) => {
    expect(elements(Buffer.from(text), 0)).toEqual([]);
  });

  test('a value nested a hundred thousand levels deep is read', () => {
    const deep = Buffer.from(`{"a":${'[{"b":'.repeat(50_000)}1${'}]'.repeat(50_000)},"c":2}`);
    expect(textAt(deep, member(deep, 0, 'c'))).toBe('2');
  });

  test.each([
    ['"a"', 'a'],
    ['""', ''],
    ['"\\"\\\\\\/\\b\\f\\n\\r\\t"', '"\\/\b\f\n\r\t'],
    ['"\\u00e9é\\ud83d\\ude00"', 'éé\u{1f600}'],
    ['"\\ud800"', '\ud800'],
    ['1', undefined],
    ['{}', undefined],
    ['null', undefined],
  ])('%s reads as %j', (token, expected) => {
    expect(stringAt(Buffer.from(token), { start: 0, end: Buffer.byteLength(token) })).toBe(expected);
  });

  test('stringAt without a span is undefined', () => {
    expect(stringAt(Buffer.from('"a"'), undefined)).toBeUndefined();
  });
});
