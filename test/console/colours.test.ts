// Highlighting keeps all of the text, and no input makes it slow.
import path from 'node:path';
import { expect, test } from 'vitest';
import fc from '../generated.ts';

type Token = { readonly kind: string | undefined; readonly text: string };
const { tokensOf }: { tokensOf: (text: string, language: string) => readonly Token[] | undefined } = await import(
  path.resolve(import.meta.dirname, '../../console/components/changes/colours.ts')
);
const { piecesOf }: { piecesOf: (tokens: readonly Token[]) => readonly (readonly Token[])[] } = await import(
  path.resolve(import.meta.dirname, '../../console/components/changes/code.tsx')
);
const LANGUAGES = ['ts', 'rust', 'python', 'sh', 'yaml', 'sql', 'html', 'css'];

test.each([
  ['ts', 'const a = `x`; // so', ['keyword const', 'string `x`', 'comment // so']],
  ['go', 'func f() { return 0x1F } /* on', ['keyword func', 'keyword return', 'number 0x1F', 'comment /* on']],
  [
    'py',
    'def f():\n  """doc\n  """\n  return None # x',
    ['keyword def', 'string """doc\n  """', 'keyword return', 'keyword None', 'comment # x'],
  ],
  ['sh', 'if true; then echo "a#b" # c', ['keyword if', 'keyword true', 'keyword then', 'string "a#b"', 'comment # c']],
  ['json', '{"a": [1, true]}', ['string "a"', 'number 1', 'keyword true']],
  ['SQL', 'SELECT 1 -- x', ['keyword SELECT', 'number 1', 'comment -- x']],
  ['html', '<b class="x">', ['keyword <b', 'string "x"', 'keyword >']],
])('%s', (language, text, expected) => {
  const tokens = (tokensOf(text, language) ?? []).filter(({ kind }) => kind !== undefined);
  expect(tokens.map((token) => `${token.kind} ${token.text}`)).toEqual(expected);
});

test('an unknown language is not highlighted', () => {
  for (const language of ['', 'brainfuck', '__proto__', 'constructor']) expect(tokensOf('const', language)).toBeUndefined();
});

test('the tokens join to the whole text, in order', () => {
  const text = fc.string({ unit: fc.constantFrom('"', "'", '`', '/', '*', '#', '-', '\\', '\n', '<', '!', '>', 'a', '1', ' ', ':', '😀') });
  fc.assert(
    fc.property(text, fc.constantFrom(...LANGUAGES), (code, language) => {
      expect((tokensOf(code, language) ?? []).map((token) => token.text).join('')).toBe(code);
    }),
    { numRuns: 500 },
  );
});

test.each(['a', '"', "'", '`', '/*', '//', '#', '--', '<!--', '"""', '\\', '"\\', '- ', 'a-', ' '])(
  'sixty thousand of %j are handled quickly',
  (piece) => {
    const text = piece.repeat(60_000 / piece.length);
    for (const language of LANGUAGES) expect((tokensOf(text, language) ?? []).map((token) => token.text).join('')).toBe(text);
  },
);

test('long code is drawn in pieces of whole lines, which join to all of it and stay as they are while more arrives', () => {
  const lines = Array.from({ length: 400 }, (_, n) =>
    n % 50 === 49 ? '\n/* a comment\n\n over lines */\n' : `const line${n} = "text";\n`,
  );
  const text = lines.join('');
  const pieces = (until: number) => piecesOf(tokensOf(text.slice(0, until), 'ts') ?? []);
  const texts = (until: number) => pieces(until).map((piece) => piece.map((token) => token.text).join(''));
  const all = texts(text.length);
  expect(all.join('')).toBe(text);
  expect(all.length).toBeGreaterThan(2);
  // As a block, a piece ends its last line by itself; an empty line at its end would be lost.
  for (const piece of all.slice(0, -1)) expect(piece).toMatch(/[^\n]\n$/);
  for (let until = 1; until <= text.length; until += 97) expect(all.slice(0, texts(until).length - 1)).toEqual(texts(until).slice(0, -1));
});
