// Markdown is cut into blocks as it grows, with the same result as at once.
import path from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';

type Block = {
  readonly at: number;
  readonly text: string;
  readonly code: { readonly language: string; readonly text: string } | undefined;
};
type Read = object;

// By path: the page's code is typed for the browser.
const {
  NOTHING,
  readMore,
  blocksIn,
}: { NOTHING: Read; readMore: (before: Read, text: string) => Read; blocksIn: (read: Read) => Block[] } = await import(
  path.resolve(import.meta.dirname, '../../console/components/conversation/blocks.ts')
);

const cut = (text: string): (string | readonly [string, string])[] =>
  blocksIn(readMore(NOTHING, text)).map((block) => (block.code ? ([block.code.language, block.code.text] as const) : block.text));

test.each([
  ['', []],
  ['one\ntwo\n\n\nthree', ['one\ntwo', 'three']],
  ['text\n```ts x\na\n\nb\n```\nmore', ['text', ['ts', 'a\n\nb'], 'more']],
  ['```\na', [['', 'a']]],
  ['```js\n', [['js', '']]],
  ['```', [['', '']]],
  ['```\n```', [['', '']]],
  ['~~~~py\na\n~~~\nb\n~~~~\n', [['py', 'a\n~~~\nb']]],
  ['- item\n  ```\n  a\n\n  b\n  ```\n\nafter', ['- item\n  ```\n  a\n\n  b\n  ```', 'after']],
  ['no ```fence` here', ['no ```fence` here']],
])('%j', (text, blocks) => {
  expect(cut(text)).toEqual(blocks);
});

test('a text that grows is cut as at once, and complete blocks stay the same objects', () => {
  const piece = fc.constantFrom('a', ' ', '\n', '\n\n', '```', '```ts\n', '~~~', '  ```', '- b', '> c');
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      let read = NOTHING;
      let text = '';
      let complete: readonly Block[] = [];
      for (const one of pieces) {
        text += one;
        read = readMore(read, text);
        const { blocks } = read as { blocks: readonly Block[] };
        complete.forEach((block, index) => {
          expect(blocks[index]).toBe(block);
        });
        complete = blocks;
        expect(blocksIn(read)).toEqual(blocksIn(readMore(NOTHING, text)));
      }
      for (const { at, text: its } of blocksIn(read)) expect(text.startsWith(its, at)).toBe(true);
    }),
  );
});

test('a text that is replaced is read anew', () => {
  const before = readMore(NOTHING, 'one\n\ntwo\n\n');
  expect(blocksIn(readMore(before, 'other\n\ntwo')).map(({ text }) => text)).toEqual(['other', 'two']);
  expect(blocksIn(readMore(before, 'one')).map(({ text }) => text)).toEqual(['one']);
});
