// Reading the kind of a session/update.
import { expect, test } from 'vitest';
import { kindActedOn } from '../../../src/proxy/turns/session-update.ts';
import type { Frame } from '../../../src/wire/frame.ts';
import { Scanner } from '../../../src/wire/scanner/scanner.ts';

const scanner = new Scanner();

const frameOf = (update: string): Frame =>
  scanner.scan(Buffer.from(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":${update}}}\n`), 0) as Frame;
/** Often enough for the template cache to learn the shape. */
const kindsOf = (...updates: readonly string[]) =>
  Array.from({ length: 40 }, () => updates.map((update) => kindActedOn(frameOf(update)))).at(-1);

test('frames of one shape have the same kind, and different shapes different kinds', () => {
  const chunk = '{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"words"}}';
  const call = '{"sessionUpdate":"tool_call","toolCallId":"1","title":"reads"}';
  expect(kindsOf(chunk, call, chunk.replace('words', 'more'), call.replace('reads', 'writes'))).toEqual([
    ...[undefined, 'tool_call', undefined, 'tool_call'],
  ]);
});

test('if the kind is the last string of a frame, frames of that shape may differ in it', () => {
  const kinds = ['plan', 'tool_call', 'session_info_update', 'current_mode_update'];
  expect(kindsOf(...kinds.map((kind) => `{"sessionUpdate":"${kind}"}`))).toEqual([
    undefined,
    'tool_call',
    undefined,
    'current_mode_update',
  ]);
  expect(kindsOf(...kinds.map((kind) => `{"x":[],"sessionUpdate":"${kind}"}`))).toEqual([
    undefined,
    'tool_call',
    undefined,
    'current_mode_update',
  ]);
});

test('a kind that is spelled with escapes is found too', () => {
  expect(kindsOf('{"title":"x","sessionUpdate":"tool_call"}', '{"sessionUpdate":"tool\\u005fcall","title":"x"}')).toEqual([
    'tool_call',
    'tool_call',
  ]);
});
