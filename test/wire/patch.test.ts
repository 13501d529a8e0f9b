// Patching a frame.
import { expect, test } from 'vitest';
import type { Frame, Span } from '../../src/wire/frame.ts';
import { memberAt } from '../../src/wire/json-path.ts';
import { patched } from '../../src/wire/patch.ts';
import { strictParse } from '../../src/wire/scanner/strict-parse.ts';

function frameOf(line: string): Frame {
  const bytes = Buffer.from(`${line}\n`);
  return strictParse(bytes, 0, bytes.length - 1) as Frame;
}

test.each([
  ['plain text', '{"id":1,"method":"m","params":{"sessionId":"s1","a":1}}', '{"id":1,"method":"m","params":{"sessionId":"s1","a":2}}'],
  [
    'an escape in its session id',
    '{"id":1,"method":"m","params":{"sessionId":"\\u00731","a":1}}',
    '{"id":1,"method":"m","params":{"sessionId":"\\u00731","a":2}}',
  ],
  ['an escape in its method', '{"id":1,"method":"\\u006d","params":{"a":1}}', '{"id":1,"method":"\\u006d","params":{"a":2}}'],
  ['an escape in a key', '{"id":1,"method":"m","params":{"\\u0062":0,"a":1}}', '{"id":1,"method":"m","params":{"\\u0062":0,"a":2}}'],
])('a frame with %s is patched', (_, line, expected) => {
  const frame = frameOf(line);
  const made = patched(frame, [{ span: memberAt(frame.bytes, frame.body, 'a') as Span, text: '2' }]);
  expect(made.bytes.toString('utf8', made.start, made.end)).toBe(expected);
  expect([made.kind, made.method, made.sessionId !== undefined]).toEqual([frame.kind, frame.method, frame.sessionId !== undefined]);
});
