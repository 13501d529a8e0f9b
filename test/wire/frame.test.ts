// Detached frames and interned text.
import { expect, test } from 'vitest';
import { detach, type Frame, type Span, textOf } from '../../src/wire/frame.ts';
import { decodedOf, InternTable, tokenOf } from '../../src/wire/scanner/interned.ts';
import { strictParse } from '../../src/wire/scanner/strict-parse.ts';
import fc from '../generated.ts';
import { message, seeded } from './odd-json.ts';

const table = new InternTable();

test('a detached frame has the same content and its own bytes', () => {
  fc.assert(
    fc.property(fc.integer(), fc.nat({ max: 50 }), (seed, before) => {
      const line = message(seeded(seed));
      const bytes = Buffer.from(`${'\n'.repeat(before)}${line}\n{"method":"next"}\n`);
      const frame = strictParse(bytes, before, before + Buffer.byteLength(line));
      if ('why' in frame) return;
      const own = detach(frame);
      const texts = ({ bytes: from, id, sessionId, body }: Frame) =>
        [id, sessionId, body].map((span: Span | undefined) => span && textOf(from, span));
      const expected = texts(frame);
      bytes.fill(0x20); // the reader may reuse the chunk
      expect(texts(own)).toEqual(expected);
      expect(own.bytes.toString()).toBe(`${line}\n`);
      expect(own.bytes[own.end]).toBe(0x0a);
      expect({ ...own, bytes: 0, start: 0, end: 0, id: 0, sessionId: 0, body: 0 }).toEqual({
        ...frame,
        bytes: 0,
        start: 0,
        end: 0,
        id: 0,
        sessionId: 0,
        body: 0,
      });
    }),
  );
});

test('interned text equals the bytes, also after many collisions', () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ maxLength: 70, unit: 'grapheme' }), { minLength: 1, maxLength: 50 }),
      fc.nat({ max: 9 }),
      (texts, shift) => {
        for (const text of [...texts, ...texts]) {
          const bytes = Buffer.from(`${'#'.repeat(shift)}${text}#`);
          expect(table.textOf(bytes, shift, bytes.length - 1)).toBe(text);
        }
      },
    ),
  );
  const ids = Array.from({ length: 5000 }, (_, n) => `session-${n}`);
  for (const id of [...ids, ...ids]) expect(table.textOf(Buffer.from(id), 0, id.length)).toBe(id);
});

test('interned text does not change when its chunk is reused', () => {
  const chunk = Buffer.alloc(12);
  for (let n = 0; n < 5000; n++) {
    chunk.write(`session-${String(n).padStart(4, '0')}`);
    expect(table.textOf(chunk, 0, 12)).toBe(chunk.toString());
  }
});

test('an interned string token decodes as JSON.parse decodes it', () => {
  const texts = ['s-1', 'a\\b', 'a\\\\b', 'é', '"', '', 'x'.repeat(100)];
  for (let round = 0; round < 3; round++)
    for (const text of texts) {
      const token = JSON.stringify(text);
      const bytes = Buffer.from(`#${token}`);
      const inside = table.ofToken(bytes, 1, bytes.length);
      expect(inside === undefined).toBe(text.length > 64);
      if (inside) expect([decodedOf(inside), tokenOf(inside)]).toEqual([text, token]);
      expect(table.textOf(bytes, 2, bytes.length - 1)).toBe(token.slice(1, -1));
    }
});
