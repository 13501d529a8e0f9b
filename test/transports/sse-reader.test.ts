// Events of a remote agent, as lines.
import { expect, test } from 'vitest';
import { createSseReader } from '../../src/transports/sse-reader.ts';

function read(maxBytes: number, chunks: readonly string[]) {
  const got = { lines: [] as string[], tooLong: 0 };
  const reader = createSseReader(maxBytes, {
    line: (line) => void got.lines.push(String(line)),
    comment() {},
    tooLong: () => void got.tooLong++,
  });
  for (const chunk of chunks) reader.push(Buffer.from(chunk));
  return got;
}

test('lines of one event are joined, and comments are left out', () => {
  expect(read(100, ['data: {"a":\r\n', ':\n', 'data: 1}\n\n'])).toEqual({ lines: ['{"a": 1}\n'], tooLong: 0 });
});

test.for([
  ['one long line', ['data: ', 'x'.repeat(60), 'x'.repeat(60)]],
  ['many lines', Array.from({ length: 20 }, () => 'data: 1234567\n')],
  ['many empty lines', Array.from({ length: 200 }, () => 'data:\n')],
] as const)('an event that never ends is given up: %s', ([, chunks]) => {
  expect(read(100, chunks)).toEqual({ lines: [], tooLong: 1 });
});
