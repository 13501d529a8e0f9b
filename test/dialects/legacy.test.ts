// Earlier spellings of ACP.
import { expect, test } from 'vitest';
import { answerInBoth, diffAsToolCall, modernMethod, withRationale } from '../../src/dialects/legacy.ts';

test.each([
  ['fs/readTextFile', 'fs/read_text_file'],
  ['fs.readTextFile', 'fs/read_text_file'],
  ['fs/writeTextFile', 'fs/write_text_file'],
  ['fs.writeTextFile', 'fs/write_text_file'],
  ['fs/read_text_file', undefined],
  ['constructor', undefined],
  [undefined, undefined],
])('row 25: %s is now %s', (method, today) => {
  expect(modernMethod(method)).toBe(today);
});

test('row 26: the text of a file has both names, and other fields stay', () => {
  expect(answerInBoth({ content: 'x', _meta: {} })).toEqual({ text: 'x', content: 'x', _meta: {} });
  expect(answerInBoth({ content: 'x', text: 'own' })).toEqual({ text: 'own', content: 'x' });
  expect(answerInBoth(null)).toBe(null);
});

test('row 27: a reason is shown with the tool call', () => {
  const rationale = { type: 'content', content: { type: 'text', text: 'because' } };
  expect(withRationale({ rationale: 'because', toolCall: { toolCallId: 't' }, options: [] })).toEqual({
    toolCall: { toolCallId: 't', content: [rationale] },
    options: [],
  });
  const none = { toolCall: { toolCallId: 't' } };
  expect(withRationale(none)).toBe(none);
});

test('row 28: a diff becomes a tool call', () => {
  expect(diffAsToolCall({ sessionUpdate: 'diff', path: 'a', newText: 'n', _meta: { x: 1 } }, '/w')).toEqual({
    sessionUpdate: 'tool_call',
    toolCallId: 'diff:/w/a',
    title: 'a',
    kind: 'edit',
    status: 'completed',
    content: [{ type: 'diff', path: '/w/a', newText: 'n' }],
    locations: [{ path: '/w/a' }],
    _meta: { x: 1 },
  });
});
