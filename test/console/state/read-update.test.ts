// Conversion of agent updates: altered content is marked, binary content is kept.
import { expect, test } from 'vitest';
import { cleanUpdate } from '../../../src/console/state/clean-text.ts';
import { chunkOf, eventOf, isPlaceholder, withPrints } from '../../../src/console/state/read-update.ts';

const redact = (text: string) => text.replaceAll('sesame', '[redacted]');
const shown = (update: object) => {
  const clean = cleanUpdate({ ...update }, redact);
  const event = eventOf(clean);
  return event && withPrints(event, { ...update });
};
const change = (diff: object) => ({ sessionUpdate: 'tool_call', toolCallId: 't', content: [{ type: 'diff', path: '/a', ...diff }] });

test.each<[string, object, boolean]>([
  ['plain', { oldText: 'a\n', newText: 'b\n' }, true],
  ['a new file', { oldText: null, newText: 'b\n' }, true],
  ['with line ends of Windows', { oldText: 'a\r\n', newText: 'b\r\n' }, true],
  ['with a secret', { oldText: 'a', newText: 'open sesame' }, false],
  ['with a character that turns text around', { oldText: 'a\u202e', newText: 'b' }, false],
  ['with an order to a terminal', { newText: '\u001b[31mred' }, false],
  ['with a return in the middle', { newText: 'a\rb' }, false],
  ['with such a name', { path: '/a\u202e', newText: 'b' }, false],
])('a change %s', (_, diff, hasPrint) => {
  expect(shown(change(diff))).toMatchObject({
    content: [hasPrint ? { print: expect.any(String) } : expect.not.objectContaining({ print: expect.anything() })],
  });
});

test('what an agent sends for a message without text is no message, and a user may write it', () => {
  const chunk = (kind: string, text: string) => chunkOf({ sessionUpdate: kind, content: { type: 'text', text } });
  const isShown = (kind: string, text: string) => !isPlaceholder(chunk(kind, text) as NonNullable<ReturnType<typeof chunk>>);
  expect(isShown('agent_message_chunk', '(no content)')).toBe(false);
  expect(isShown('user_message_chunk', '(no content)')).toBe(true);
  expect(isShown('agent_message_chunk', 'it has (no content)')).toBe(true);
});

test('each change has its own fingerprint', () => {
  const print = (diff: object) => JSON.stringify(shown(change(diff))).match(/"print":"([^"]+)"/)?.[1];
  const all = [
    { oldText: 'a', newText: 'b' },
    { oldText: 'b', newText: 'a' },
    { newText: 'b' },
    { oldText: '', newText: 'b' },
    { path: '/g', newText: 'b' },
  ];
  expect(new Set(all.map(print)).size).toBe(all.length);
  expect(print({ newText: 'b' })).toBe(print({ newText: 'b' }));
});

test.each(['constructor', '__proto__', 'toString'])('an update named %s is shown as unknown', (kind) => {
  expect(eventOf({ sessionUpdate: kind, content: { type: 'text', text: 'x' } })).toMatchObject({ e: 'unknown', name: kind });
  expect(chunkOf({ sessionUpdate: kind, content: { type: 'text', text: 'x' } })).toBeUndefined();
});

test('images and audio are kept wherever they stand; text next to them is cleaned, and so is what only claims to be one', () => {
  const image = { type: 'image', mimeType: 'image/png', data: 'sesame+/' };
  const update = {
    ...{ sessionUpdate: 'tool_call', toolCallId: 't', title: 'open sesame' },
    content: [
      { type: 'content', content: image },
      { type: 'content', content: { type: 'text', text: 'sesame' } },
    ],
    rawOutput: {
      deep: [
        { type: 'audio', data: 'AAAA', note: 'sesame' },
        { type: 'image', data: 'sesame <not base64>' },
      ],
    },
  };
  expect(cleanUpdate(update, redact)).toEqual({
    ...{ sessionUpdate: 'tool_call', toolCallId: 't', title: 'open [redacted]' },
    content: [
      { type: 'content', content: image },
      { type: 'content', content: { type: 'text', text: '[redacted]' } },
    ],
    rawOutput: {
      deep: [
        { type: 'audio', data: 'AAAA', note: '[redacted]' },
        { type: 'image', data: '' },
      ],
    },
  });
});
