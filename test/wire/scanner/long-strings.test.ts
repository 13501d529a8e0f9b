import { expect, test } from 'vitest';
import { stringEnd } from '../../../src/wire/json-path.ts';
import { forgetStrings, knownEnd } from '../../../src/wire/scanner/long-strings.ts';
import { scan } from '../../../src/wire/scanner/scanner.ts';
import { forgetView } from '../../../src/wire/scanner/view.ts';
import fc from '../../generated.ts';

const frameOf = (texts: readonly string[]) => {
  const bytes = Buffer.from(`{"method":"m","params":{"t":[${texts.map((text) => JSON.stringify(text)).join(',')}]}}\n`);
  const strings: { start: number; end: number }[] = [];
  for (let i = bytes.indexOf('[') + 1; bytes[i] === 0x22; i = (strings.at(-1)?.end ?? 0) + 1) {
    // As JSON.parse would have it: the end is where the token can be parsed.
    let end = bytes.indexOf('"', i + 1) + 1;
    while (!isString(bytes.toString('utf8', i, end))) end = bytes.indexOf('"', end) + 1;
    strings.push({ start: i, end });
  }
  return { bytes, strings };
};
const isString = (token: string): boolean => {
  try {
    return typeof JSON.parse(token) === 'string';
  } catch {
    return false;
  }
};

test('a string ends where it ends, known or walked through', () => {
  const text = fc.string({ unit: fc.constantFrom('a', '"', '\\', 'é', '\n', 'long words '), maxLength: 400 });
  fc.assert(
    fc.property(fc.array(text, { maxLength: 20 }), (texts) => {
      const { bytes, strings } = frameOf(texts);
      expect(scan(bytes, 0)).toBeDefined();
      for (const { start, end } of strings) {
        expect(knownEnd(bytes, start) ?? end).toBe(end);
        expect(stringEnd(bytes, start)).toBe(end);
      }
      forgetView();
      for (const { start, end } of strings) expect(stringEnd(bytes, start)).toBe(end);
    }),
  );
});

test('a long string is known after the scan, in that buffer alone', () => {
  const { bytes, strings } = frameOf(['x'.repeat(5000)]);
  scan(bytes, 0);
  const [{ start, end }] = strings as [{ start: number; end: number }];
  expect(knownEnd(bytes, start)).toBe(end);
  expect(knownEnd(bytes, start + 1)).toBeUndefined();
  expect(knownEnd(Buffer.from(bytes), start)).toBeUndefined();
  forgetStrings();
  expect(knownEnd(bytes, start)).toBeUndefined();
});

test('of very many, the last few are known', () => {
  const { bytes, strings } = frameOf(Array.from({ length: 40 }, (_, n) => String(n % 10).repeat(600)));
  scan(bytes, 0);
  for (const { start, end } of strings.slice(-8)) expect(knownEnd(bytes, start)).toBe(end);
  for (const { start, end } of strings) expect(stringEnd(bytes, start)).toBe(end);
});
