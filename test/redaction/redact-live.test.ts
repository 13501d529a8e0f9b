// Live redaction: an observer sees messages at once and without secrets.
import { expect, test } from 'vitest';
import { createSecrets } from '../../src/redaction/redact.ts';
import { createLiveCleaner } from '../../src/redaction/redact-stream.ts';

const KNOWN = 'cnry-4f1d8a77b3e2c90516aa';

function observing() {
  const secrets = createSecrets();
  secrets.add('GIVEN', KNOWN);
  const clean = createLiveCleaner(secrets);
  const message = (update: object, sessionId = 's') => ({ method: 'session/update', params: { sessionId, update } });
  const chunk = (text: string, more: object = {}, sessionId?: string) => {
    const shown = clean(message({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text }, ...more }, sessionId));
    return (shown as { params: { update: { content: { text: string } } } }).params.update.content.text;
  };
  return { clean, chunk };
}

test('chunks without a secret are shown unchanged, one by one', () => {
  const { chunk } = observing();
  const chunks = ['Look', ' at', ' https://example.org/a', ', sk-learn', ' and', ' cnry-pick', ' it.'];
  expect(chunks.map((text) => chunk(text))).toEqual(chunks);
});

test.each([1, 2, 3, 7, 11])('at most five characters of a secret in chunks of %i characters are shown', (length) => {
  const { chunk } = observing();
  const words = `The key is ${KNOWN}, keep it.`;
  const shown = (words.match(new RegExp(`.{1,${length}}`, 'gs')) as string[]).map((text) => chunk(text)).join('');
  expect(shown).toMatch(/^The key is .*\[redacted:GIVEN\], keep it\.$/);
  for (let at = 0; at + 6 <= KNOWN.length; at++) expect(shown).not.toContain(KNOWN.slice(at, at + 6));
});

test('messages and sessions are kept apart, and all other frames are redacted on their own', () => {
  const { clean, chunk } = observing();
  expect(chunk('export API_KEY=')).toBe('export API_KEY=');
  expect(chunk('hunter2-hunter2', { messageId: 'other' })).toBe('hunter2-hunter2');
  expect(chunk('export API_KEY=', {}, 'two')).toBe('export API_KEY=');
  expect(chunk('hunter2-hunter2', {}, 'two')).toBe('[redacted]');
  expect(clean({ id: 1, result: { text: KNOWN } })).toEqual({ id: 1, result: { text: '[redacted:GIVEN]' } });
  const plain = { id: 2, result: { text: 'nothing' } };
  expect(clean(plain)).toBe(plain);
});
