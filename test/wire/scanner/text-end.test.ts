// The WebAssembly search for the end of a string.
import { describe, expect, test } from 'vitest';
import { inJavaScript, inWebAssembly, TEXT_END_MODULE, type TextScanner, WINDOW_BYTES } from '../../../src/wire/scanner/text-end.ts';
import fc from '../../generated.ts';

/** Where the text of a string ends, by the grammar: one character at a time. */
function byGrammar(bytes: Buffer, from: number, to: number): number {
  const text = bytes.toString('latin1', 0, to);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what must not be in a string
  const pattern = /(?:[^"\\\u0000-\u001f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*/y;
  pattern.lastIndex = from;
  pattern.exec(text);
  return pattern.lastIndex;
}

// Plain JavaScript without types, so it is imported by its address.
const { textEndModule } = await import(new URL('../../../scripts/text-end-module.mjs', import.meta.url).href);

test('the module is the one that scripts/text-end-module.mjs makes', () => {
  expect(TEXT_END_MODULE).toBe(Buffer.from(textEndModule()).toString('base64'));
});

const scanners: [string, () => TextScanner | undefined][] = [
  ['WebAssembly', inWebAssembly],
  ['JavaScript', inJavaScript],
];

describe.each(scanners)('the end of the text of a string, in %s', (_, make) => {
  const scanner = make();
  const end = (bytes: Buffer, from = 0, to = bytes.length) => {
    scanner?.look(bytes);
    return scanner?.textEnd(from, to);
  };

  test('is available', () => expect(scanner).toBeDefined());

  test.each([
    ['', 0],
    ['plain', 5],
    ['a"b', 1],
    ['\\"a"', 3],
    ['\\\\"', 2],
    ['tab\there', 3],
    ['line\n', 4],
    ['\\u00e9\\uD83D"', 12],
    ['\\u00g9', 0],
    ['ab\\x', 2],
    ['a\\', 1],
    ['a\\u12', 1],
    ['0123456789abcdef0123456789abcdef"', 32],
    ['0123456789abcdef\\n0123456789abcde"', 33],
    ['\u007f\u00e9\u20ac\u{1f600}"', 10],
  ])('%j', (text, expected) => expect(end(Buffer.from(text))).toBe(expected));

  test('agrees with the grammar for any bytes', () => {
    const part = fc.oneof(
      {
        weight: 6,
        arbitrary: fc.constantFrom('plain text, ', 'x', '\\n', '\\"', '\\\\', '\\/', '\\u00Ab', '\u00fc', '\u{1f600}', '0123456789abcdef'),
      },
      { weight: 1, arbitrary: fc.constantFrom('"', '\n', '\u0001', '\\x', '\\', '\\u12', '\\u12g4', '\u007f') },
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 40 }), fc.nat(20), fc.nat(20), (parts, skipped, cut) => {
        const bytes = Buffer.from(parts.join(''));
        const from = Math.min(skipped, bytes.length);
        const to = Math.max(from, bytes.length - cut);
        expect(end(bytes, from, to)).toBe(byGrammar(bytes, from, to));
      }),
      { numRuns: 3000 },
    );
  });

  test('is found in a full window', () => {
    const bytes = Buffer.alloc(WINDOW_BYTES, 'a');
    expect(end(bytes)).toBe(WINDOW_BYTES);
    bytes[WINDOW_BYTES - 1] = 0x22;
    expect(end(bytes)).toBe(WINDOW_BYTES - 1);
  });
});
