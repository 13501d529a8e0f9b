// Matching a request that arrived with the one that was forwarded.
import { expect, test } from 'vitest';
import { createFramePairs } from '../../../src/store/frame-log/frame-pairs.ts';
import type { Frame } from '../../../src/wire/frame.ts';
import { Scanner } from '../../../src/wire/scanner/scanner.ts';

const scanner = new Scanner();

const frame = (message: object): Frame => scanner.scan(Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`), 0) as Frame;

test('a request that is forwarded under another id is matched, with the time it spent in the proxy', () => {
  let now = 0;
  const pairs = createFramePairs(() => now);
  const asked = frame({ id: 7, method: 'session/prompt', params: { sessionId: 's' } });
  pairs.received('editor', asked);
  now = 1.5;
  expect(pairs.sent('mime', asked, [{ span: asked.id as { start: number; end: number }, text: '30' }])).toBe(1.5);
  const came = pairs.take('editor', true, 7);
  expect(pairs.take('mime', false, 30)).toEqual({ pair: came?.pair, addedMs: 1.5 });
  expect(came?.addedMs).toBeUndefined();
  expect(pairs.take('editor', true, 7)).toBeUndefined(); // each request is matched once
});

test('an unknown request and a notification have no match', () => {
  const pairs = createFramePairs(() => 0);
  expect(pairs.sent('mime', frame({ id: 1, result: {} }), [])).toBeUndefined();
  const note = frame({ method: 'session/cancel', params: { sessionId: 's' } });
  pairs.received('editor', note);
  expect(pairs.sent('mime', note, [])).toBeUndefined();
});
