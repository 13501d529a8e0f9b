// The retained output of a terminal.
import { expect, test } from 'vitest';
import { createOutput } from '../../src/workspace/terminal-output.ts';
import fc from '../generated.ts';

function printed(limitBytes: number, ...chunks: readonly (Buffer | string)[]) {
  const output = createOutput(limitBytes);
  const stream = output.stream();
  for (const chunk of chunks) stream.take(Buffer.from(chunk));
  return { text: output.text(), isTruncated: output.isTruncated, output, stream };
}

test.each([
  ['all of it while it fits', 10, ['abc', 'def'], 'abcdef', false],
  ['exactly as much as fits', 6, ['abc', 'def'], 'abcdef', false],
  ['the end when it does not', 4, ['abc', 'def'], 'cdef', true],
  ['the end of one piece', 3, ['abcdef'], 'def', true],
  ['nothing at all', 0, ['a'], '', true],
  ['nothing of nothing', 0, [], '', false],
  ['no half character: two bytes', 3, ['éé'], 'é', true],
  ['no half character: three bytes', 5, ['日本'], '本', true],
  ['no half character: four bytes', 7, ['😀😀'], '😀', true],
  ['no character when none fits', 3, ['😀'], '', true],
  ['no half character over pieces', 4, ['a日', '日'], '日', true],
] as const)('what is kept is %s', (_, limit, chunks, text, isTruncated) => {
  expect(printed(limit, ...chunks)).toMatchObject({ text, isTruncated });
});

test('a character that arrives in pieces is shown once it is complete', () => {
  const [a, b] = [Buffer.from('x😀').subarray(0, 3), Buffer.from('x😀').subarray(3)];
  const { output, stream, text } = printed(100, a);
  expect(text).toBe('x');
  stream.take(b);
  expect(output.text()).toBe('x😀');
});

test('two streams are not mixed within a character', () => {
  const output = createOutput(100);
  const [one, two] = [output.stream(), output.stream()];
  const smile = Buffer.from('😀');
  one.take(smile.subarray(0, 2));
  two.take(smile.subarray(0, 1));
  one.take(smile.subarray(2));
  two.take(smile.subarray(1));
  expect(output.text()).toBe('😀😀');
});

test('invalid text is shown as such, within the limit too', () => {
  expect(printed(100, Buffer.from([0x61, 0xff, 0x62])).text).toBe('a\ufffdb');
  const { output, stream } = printed(7, Buffer.from([0xff, 0xfe, 0xf0, 0x9f]));
  stream.end();
  expect(output.text()).toBe('\ufffd\ufffd');
});

test('however it is split into chunks, the output is the longest end that fits, in whole characters', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'é', '日', '😀'), maxLength: 60 });
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 7 }), fc.nat(80), (all, size, limit) => {
      const bytes = Buffer.from(all);
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) => bytes.subarray(n * size, (n + 1) * size));
      let kept = '';
      for (const character of [...all].reverse()) {
        if (Buffer.byteLength(character + kept) > limit) break;
        kept = character + kept;
      }
      const { text: shown, isTruncated } = printed(limit, ...chunks);
      expect(shown).toBe(kept);
      expect(isTruncated).toBe(bytes.length > limit);
    }),
  );
});
