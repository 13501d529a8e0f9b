// Lines that wait to be written, by session.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { PendingBlocks, PendingLines } from '../../../src/store/transcripts/pending-lines.ts';

const SESSIONS = 3;
const BLOCK_BYTES = 64 * 1024;

/** Adds to a session, as text or as bytes, or takes what it has. */
const step = fc.record({
  session: fc.nat(SESSIONS - 1),
  what: fc.constantFrom('text', 'bytes', 'take', 'clear'),
  text: fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.constantFrom(...[299, 300, 301, 30_000, BLOCK_BYTES - 1, BLOCK_BYTES, BLOCK_BYTES + 1].map((length) => 'x'.repeat(length))),
    fc.constantFrom('é—', '漢'.repeat(300), '🦊'.repeat(30_000)),
  ),
});

test('for any sequence of additions, each session has what was added since it was last taken, in order', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const all = new PendingBlocks();
      const sessions = Array.from({ length: SESSIONS }, () => ({ lines: new PendingLines(all), expected: '' }));
      for (const { session, what, text } of steps) {
        const one = sessions[session] as (typeof sessions)[0];
        if (what === 'text') one.lines.text(text);
        if (what === 'bytes') one.lines.bytes(Buffer.from(`>${text} and more`), 1, 1 + Buffer.byteLength(text));
        if (what === 'text' || what === 'bytes') one.expected += text;
        expect(one.lines.length).toBe(Buffer.byteLength(one.expected));
        if (what === 'clear') one.lines.clear();
        if (what === 'take') expect(one.lines.take().toString()).toBe(one.expected);
        if (what === 'take' || what === 'clear') one.expected = '';
      }
      for (const { lines, expected } of sessions) expect(lines.take().toString()).toBe(expected);
    }),
    { numRuns: 200 },
  );
});

test('written lines free their space: a hundred times the block size needs two blocks', () => {
  const all = new PendingBlocks();
  const lines = new PendingLines(all);
  const seen = new Set<ArrayBufferLike>();
  const half = 'x'.repeat(BLOCK_BYTES / 2 + 1); // no two fit into one block
  for (let k = 0; k < 100; k++) {
    const other = new PendingLines(all);
    lines.text(half);
    other.text(half);
    for (const one of [lines, other]) seen.add(one.take().buffer);
  }
  expect(seen.size).toBe(2);
});
