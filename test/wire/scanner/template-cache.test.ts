import { describe, expect, test } from 'vitest';
import type { Frame } from '../../../src/wire/frame.ts';
import { scan } from '../../../src/wire/scanner/scanner.ts';
import { strictParse } from '../../../src/wire/scanner/strict-parse.ts';
import { likeBefore } from '../../../src/wire/scanner/template-cache.ts';
import fc from '../../generated.ts';
import { damaged, seeded } from '../odd-json.ts';

const line = (text: string) => Buffer.from(`${text}\n`);
const chunk = (sessionId: string, text: string) =>
  `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":${sessionId},"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":${text}}}}}`;

/** Scans a frame until its shape is known; one of many that fit none is learned. */
function learned(text: string): boolean {
  const bytes = line(text);
  for (let n = 0; n < 100; n++) {
    if (likeBefore(bytes, 0)) return true;
    scan(bytes, 0);
  }
  return false;
}
/** What a frame says, wherever it lies. */
function said({ bytes, start, end, id, sessionId, body, shape: _, text: __, ...rest }: Frame) {
  const text = (span: { start: number; end: number } | undefined) => span && bytes.toString('utf8', span.start, span.end);
  return { ...rest, whole: text({ start, end }), id: text(id), sessionId: text(sessionId), body: text(body) };
}

describe('a frame like one before', () => {
  test('says the same as it would to the careful path, at any place in a chunk', () => {
    expect(learned(chunk('"s1"', '"first"'))).toBe(true);
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), fc.nat({ max: 9 }), (id, text, shift) => {
        const frame = chunk(JSON.stringify(id), JSON.stringify(text));
        const bytes = Buffer.from(`${'\n'.repeat(shift)}${frame}\n${frame}`);
        const decided = strictParse(bytes, shift, bytes.indexOf('\n', shift));
        const found = likeBefore(bytes, shift);
        if (/["\\\p{Cc}]/u.test(id)) return; // escaped session ids are for the careful path
        expect(found && said(found)).toEqual(said(decided as Frame));
        expect(found && JSON.parse(bytes.toString('utf8', found.text?.start, found.text?.end))).toBe(text);
      }),
    );
  });

  test('has the shape of that one, and a frame with other words around them has another', () => {
    const thought = (text: string) => chunk('"s1"', text).replace('message', 'thought');
    // The oldest shape gives way to the newest, so that the first may have to be learned again.
    for (const text of [thought('"first"'), chunk('"s1"', '"first"'), thought('"first"')]) expect(learned(text)).toBe(true);
    const shapeOf = (text: string) => likeBefore(line(text), 0)?.shape;
    expect(shapeOf(chunk('"s1"', '"a"'))).toBeDefined();
    expect(shapeOf(chunk('"s1"', '"a"'))).toBe(shapeOf(chunk('"s2"', '"b"')));
    expect(shapeOf(thought('"a"'))).not.toBe(shapeOf(chunk('"s1"', '"a"')));
  });

  test('is not one when it differs anywhere else, or is broken', () => {
    expect(learned(chunk('"s1"', '"first"'))).toBe(true);
    let taken = 0;
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const random = seeded(seed);
        for (let n = 0; n < 20; n++) {
          const bytes = Buffer.concat([
            damaged(random, Buffer.from(chunk('"s1"', '"a few words, \\u00e9 \\"and\\" more\\n than 32 bytes"'))),
            line(''),
          ]);
          const end = bytes.indexOf('\n');
          const found = likeBefore(bytes, 0);
          if (!found) continue;
          taken++;
          expect(found.end).toBe(end);
          // Text that is not UTF-8 is kept from the scanner before; JSON.parse reads it, with U+FFFD.
          expect(JSON.parse(bytes.toString('utf8', 0, end))).toMatchObject({ method: 'session/update' });
          const decided = strictParse(bytes, 0, end);
          if (!('why' in decided)) expect(said(found)).toEqual(said(decided));
        }
      }),
    );
    expect(taken).toBeGreaterThan(0);
  });

  test.each([
    ['cut off in the text', chunk('"s1"', '"first"').slice(0, -8)],
    ['an escape in the session id', chunk('"s\\u0031"', '"first"')],
    ['an escape that is none', chunk('"s1"', '"\\x"')],
    ['a raw tab in a long text', chunk('"s1"', `"${'a'.repeat(100)}\t${'b'.repeat(100)}"`)],
    ['a session id that is no string', chunk('7', '"first"')],
    ['a text that is no string', chunk('"s1"', '7')],
    ['something behind the text', chunk('"s1"', '"first","more":1')],
  ])('%s: it is not', (_, text) => {
    expect(learned(chunk('"s1"', '"first"'))).toBe(true);
    expect(likeBefore(line(text), 0)).toBeUndefined();
  });
});

describe('what is never learned', () => {
  test.each([
    ['a request', '{"id":1,"method":"m","params":{"sessionId":"s","t":"x"}}'],
    ['a last string that is the session id', '{"method":"n","params":{"t":"x","sessionId":"s"}}'],
    ['a last string that is a key, which another could double', '{"method":"n","params":{"sessionId":"s","t":1}}'],
    ['a last string that is the method', '{"params":{"sessionId":"s","t":1},"method":"n"}'],
    ['a last string outside the params', '{"method":"n","params":{"sessionId":"s"},"result":{"x":"y"}}'],
    ['no session', '{"method":"n","params":{"t":"x"}}'],
    ['a frame that is mostly something else', `{"method":"n","params":{"sessionId":"s","n":[${'1,'.repeat(400)}1],"t":"x"}}`],
  ])('%s', (_, text) => {
    expect(scan(line(text), 0)).toBeDefined();
    expect(learned(text)).toBe(false);
  });

  test('more shapes than are kept still read as they should', () => {
    const frames = Array.from({ length: 12 }, (_, n) => `{"method":"n${n}","params":{"sessionId":"s","t${n}":["x"]}}`);
    for (let round = 0; round < 50; round++)
      for (const [n, text] of frames.entries()) {
        const frame = scan(line(text), 0);
        expect(frame && said(frame)).toMatchObject({ method: `n${n}`, sessionId: '"s"', body: text.slice(text.indexOf(':{') + 1, -1) });
      }
  });
});
