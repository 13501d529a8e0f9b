// Fast reads of prompts and stop reasons from a frame.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { promptSpan, stopReasonIn } from '../../../src/store/transcripts/turn-frames.ts';
import type { Frame } from '../../../src/wire/frame.ts';
import { Scanner } from '../../../src/wire/scanner/scanner.ts';
import { strictParse } from '../../../src/wire/scanner/strict-parse.ts';

const scanner = new Scanner();

/** The frame in the middle of a chunk, where it usually is. */
function frameOf(line: string): Frame {
  const before = Buffer.from('{"jsonrpc":"2.0","method":"x"}\n');
  const bytes = Buffer.concat([before, Buffer.from(`${line}\n{"jsonrpc":"2.0","method":"y"}\n`)]);
  return scanner.scan(bytes, before.length) ?? (strictParse(bytes, before.length, bytes.indexOf('\n', before.length)) as Frame);
}
function promptIn(paramsText: string): string | undefined {
  const frame = frameOf(`{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":${paramsText}}`);
  const span = promptSpan(frame);
  return span && JSON.parse(`"${frame.bytes.toString('utf8', span.start, span.end)}"`);
}
const reasonIn = (resultText: string): string | undefined => stopReasonIn(frameOf(`{"jsonrpc":"2.0","id":1,"result":${resultText}}`));
const textBlock = (text: string) => ({ type: 'text', text });

test('a prompt with a single text is read in place', () => {
  for (const text of ['', 'words', 'two\nlines, "quotes" \\ and é—🦊'])
    expect(promptIn(JSON.stringify({ sessionId: 's', prompt: [textBlock(text)] }))).toBe(text);
});

test.each([
  ['two blocks', { sessionId: 's', prompt: [textBlock('a'), textBlock('b')] }],
  ['a text that looks like the end of it', { sessionId: 's', prompt: [textBlock('a'), { type: 'text', text: 'b"}]}' }] }],
  ['something next to the text', { sessionId: 's', prompt: [{ ...textBlock('a'), annotations: {} }] }],
  ['something next to the prompt', { sessionId: 's', prompt: [textBlock('a')], _meta: { x: [{ y: 'z' }] } }],
  ['another order', { prompt: [textBlock('a')], sessionId: 's' }],
  ['no text', { sessionId: 's', prompt: [{ type: 'resource_link', uri: 'file:///a', name: 'a' }] }],
])('%s is left to the parser', (_, params) => {
  expect(promptIn(JSON.stringify(params))).toBeUndefined();
});

test.each(['{"stopReason":"end_turn"}', '{"stopReason":"end_turn","_meta":{"bench":{"n":1}}}'])(
  'the stop reason is read from %s',
  (result) => {
    expect(reasonIn(result)).toBe('end_turn');
  },
);

test.each([
  '{"stopReason":"end_turn","usage":{"totalTokens":1}}',
  '{"stopReason":"end_turn","\\u0075sage":{"totalTokens":1}}',
  '{"stopReason":"end_turn","stopReason":"refusal"}',
  '{"usage":{},"stopReason":"end_turn"}',
  '{"stopReason":"Odd One"}',
  '{"stopReason":null}',
  '{}',
])('the stop reason is not read from %s', (result) => {
  expect(reasonIn(result)).toBeUndefined();
});

test('every fast read equals that of a full parse', () => {
  const block = fc.oneof(
    { weight: 3, arbitrary: fc.record({ type: fc.constant('text'), text: fc.string({ unit: 'grapheme' }) }) },
    fc.dictionary(fc.constantFrom('type', 'text', 'uri'), fc.string()),
  );
  fc.assert(
    fc.property(
      fc.array(block, { maxLength: 2 }),
      fc.dictionary(fc.constantFrom('usage', 'stopReason', '_meta', 'a'), fc.jsonValue()),
      (prompt, more) => {
        const read = promptIn(JSON.stringify({ sessionId: 's', prompt, ...('a' in more && { a: more.a }) }));
        if (read !== undefined) expect([textBlock(read), 'a' in more]).toEqual([...prompt, false]);
        const result = { stopReason: 'end_turn', ...more };
        const reason = reasonIn(JSON.stringify(result));
        if (reason !== undefined) expect([reason, undefined]).toEqual([result.stopReason, more.usage]);
      },
    ),
    { numRuns: 1000 },
  );
});
