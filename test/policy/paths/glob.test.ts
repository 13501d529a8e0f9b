// Path globs: linear time, and the same answers as picomatch.
import fc from 'fast-check';
import picomatch from 'picomatch';
import { describe, expect, test } from 'vitest';
import { compileGlob } from '../../../src/policy/paths/path-glob.ts';

const matches = (glob: string, path: string, ignoreCase = false): boolean => {
  const compiled = compileGlob(glob, { ignoreCase });
  if (typeof compiled !== 'function') throw new Error(`${glob}: ${compiled.wrong}`);
  return compiled(path);
};

describe('a glob with many wildcards takes linear time', () => {
  const LONG = `${'a'.repeat(254)}b`;
  const DEEP = `${'a/'.repeat(1500)}b`;
  test.each([
    ['*a*a*a*a*a*a*a*a*c', LONG],
    [`${'*a'.repeat(60)}*c`, LONG],
    [`${'**/a/'.repeat(20)}x`, DEEP],
    [`${'**/*a*/'.repeat(20)}x`, DEEP],
    ['[ab]*[ab]*[ab]*[ab]*[ab]*c', LONG],
    ['{*a*a*,*aa*a*}{*a*a*c,*aa*c}', LONG],
  ])('%s', (glob, path) => expect(matches(glob, path)).toBe(false)); // by a regular expression: minutes, or never
});

test.each([
  ['+(a|aa)b', 'repeats'],
  ['x/*(a*)b', 'repeats'],
  [`${'{a,aa}'.repeat(9)}b`, 'alternatives'],
  [`${'?(a)'.repeat(2)}*b`, 'no glob'],
  ['*a*[b', 'no glob'],
  ['*a*(b)*', 'repeats'],
])('%s is refused', (glob, why) => expect(compileGlob(glob)).toMatchObject({ wrong: expect.stringContaining(why) }));

test.each([
  ['*.test.*', 'a.test.ts', true],
  ['*.test.*', 'a/b.test.ts', false],
  ['**/*.{test,spec}.*', 'a/b.spec.ts', true],
  ['**/a/**/b/**', 'x/a/y/z/b/c', true],
  ['**/a/**/b/**', 'a/b', true],
  ['/etc/**/*a*b*', '/etc/x/.aXb', true],
  ['**/*a*b*', '/A/xAyB', false],
  ['*[0-9]*.log', 'app1.log', true],
  ['*[^0-9]*.log', '1.log', false],
  ['$*a*', '$xa', true],
])('%s on %s: %s', (glob, path, expected) => expect(matches(glob, path)).toBe(expected));

test('ignores case on request', () => expect(matches('**/*S*CRET*', 'x/my-secret', true)).toBe(true));

test('matches what picomatch matches', { timeout: 300_000 }, () => {
  const tokens = fc.array(fc.constantFrom('a', 'b', '.', '*', '?', '[ab]', '[^a]'), { minLength: 1, maxLength: 5 });
  const part = fc.oneof(
    fc.constant('**'),
    tokens.map((found) => found.join('').replace(/\*+/g, '*')),
  );
  const glob = fc
    .array(part, { minLength: 1, maxLength: 4 })
    .map((parts) => parts.join('/'))
    // There picomatch 4.0.7 does not always let `**` stand for nothing.
    .filter((text) => !/(^|\/)\.{1,2}(\/|$)|\*\*\/\*\*|\/\*\*$/.test(text));
  const name = fc.string({ unit: fc.constantFrom('a', 'b', 'B', '.'), minLength: 1, maxLength: 5 }).filter((text) => !text.endsWith('.'));
  const path = fc.array(name, { minLength: 1, maxLength: 5 }).map((parts) => parts.join('/'));
  fc.assert(
    fc.property(glob, path, fc.boolean(), (source, text, ignoreCase) => {
      const expected = picomatch.makeRe(source, { dot: true, nocase: ignoreCase, nonegate: true, strictBrackets: true }).test(text);
      expect(matches(source, text, ignoreCase)).toBe(expected);
    }),
    { numRuns: 20_000 },
  );
});
