// JSON that nests deep is recognised without parsing it.
import { expect, test } from 'vitest';
import { isTooDeep, MAX_NESTING, withoutDepths } from '../src/json-nesting.ts';
import { strictParse } from '../src/wire/scanner/strict-parse.ts';

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);

test.each([
  [nested(MAX_NESTING), false],
  [nested(MAX_NESTING + 1), true],
  [JSON.stringify('['.repeat(MAX_NESTING + 1)), false],
  [JSON.stringify(`"\\${'{'.repeat(MAX_NESTING + 1)}`), false],
  [`[${'{},'.repeat(MAX_NESTING)}{}]`, false],
])('%#', (text, expected) => {
  expect(isTooDeep(Buffer.from(text))).toBe(expected);
});

test('deep values become 0, and the rest stays', () => {
  const text = `{"id":7,"a":"]}","deep":${nested(50)},"b":{"c":[1]}}`;
  const read = JSON.parse(String(withoutDepths(Buffer.from(text), 0, text.length)));
  expect(read).toMatchObject({ id: 7, a: ']}', b: { c: [1] } });
  expect(JSON.stringify(read.deep)).toBe('[[[[[[[[[[[[[[0]]]]]]]]]]]]]]');
});

test('a request that nests deep is refused at once, under its own id', () => {
  const line = `{"jsonrpc":"2.0","id":"x","method":"session/prompt","params":{"prompt":${nested(2_000_000)}}}\n`;
  const bytes = Buffer.from(line);
  const from = performance.now();
  expect(strictParse(bytes, 0, bytes.length - 1)).toMatchObject({
    ...{ why: 'ambiguous', kind: 'request', idText: '"x"', method: 'session/prompt' },
    reason: `nested deeper than ${MAX_NESTING} levels`,
  });
  expect(performance.now() - from).toBeLessThan(2000); // JSON.parse takes ten times as long
});
