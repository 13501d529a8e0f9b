// The template cache: frames of a known shape are read without a scan.
import { describe, expect, test } from 'vitest';
import type { Frame } from '../../../src/wire/frame.ts';
import { sessionIdOf } from '../../../src/wire/scanner/large-frame.ts';
import { Scanner } from '../../../src/wire/scanner/scanner.ts';
import { strictParse } from '../../../src/wire/scanner/strict-parse.ts';
import { factOf } from '../../../src/wire/scanner/template-cache.ts';
import fc from '../../generated.ts';
import { damaged, seeded } from '../odd-json.ts';

const scanner = new Scanner();
/** The frame at `start` if it matches a template. */
const matched = (bytes: Buffer, start: number): Frame | undefined => {
  const frame = scanner.scan(bytes, start);
  return frame?.template && frame;
};
const line = (text: string) => Buffer.from(`${text}\n`);
const chunk = (sessionId: string, text: string) =>
  `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":${sessionId},"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":${text}}}}}`;

/** Scans a frame until it matches a template. A full cache learns from every sixteenth frame that matches none. */
function learned(text: string): boolean {
  const bytes = line(text);
  for (let n = 0; n < 100; n++) {
    if (matched(bytes, 0)) return true;
  }
  return false;
}
/** A frame without its offsets. */
function summary(frame: Frame) {
  const { bytes, start, end, id, sessionId, body, session: _, template: __, text: ___, ...rest } = frame;
  const text = (span: { start: number; end: number } | undefined) => span && bytes.toString('utf8', span.start, span.end);
  return { ...rest, session: sessionIdOf(frame), whole: text({ start, end }), id: text(id), sessionId: text(sessionId), body: text(body) };
}

describe('a frame that matches a template', () => {
  test('is read as the strict parser reads it, at any offset in a chunk', () => {
    expect(learned(chunk('"s1"', '"first"'))).toBe(true);
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), fc.nat({ max: 9 }), (id, text, shift) => {
        const frame = chunk(JSON.stringify(id), JSON.stringify(text));
        const bytes = Buffer.from(`${'\n'.repeat(shift)}${frame}\n${frame}`);
        const decided = strictParse(bytes, shift, bytes.indexOf('\n', shift));
        const found = matched(bytes, shift);
        if (/["\\\p{Cc}]/u.test(id)) return; // escaped session ids are left to the strict parser
        expect(found && summary(found)).toEqual(summary(decided as Frame));
        expect(found && JSON.parse(bytes.toString('utf8', found.text?.start, found.text?.end))).toBe(text);
      }),
    );
  });

  test('shares its template with frames that differ in session id and text only', () => {
    const thought = (text: string) => chunk('"s1"', text).replace('message', 'thought');
    // The newest template replaces the oldest, so the first may have to be learned again.
    for (const text of [thought('"first"'), chunk('"s1"', '"first"'), thought('"first"')]) expect(learned(text)).toBe(true);
    const templateOf = (text: string) => matched(line(text), 0)?.template;
    expect(templateOf(chunk('"s1"', '"a"'))).toBeDefined();
    expect(templateOf(chunk('"s1"', '"a"'))).toBe(templateOf(chunk('"s2"', '"b"')));
    expect(templateOf(thought('"a"'))).not.toBe(templateOf(chunk('"s1"', '"a"')));
  });

  test('answers factOf without computing the fact again', () => {
    const frames = ['"a"', '"b"', '"c"'].map((text) => {
      expect(learned(chunk('"s1"', text))).toBe(true);
      return matched(line(chunk('"s1"', text)), 0) as Frame;
    });
    let calls = 0;
    const fact = () => ++calls;
    const another = () => 'another';
    expect(frames.map((frame) => factOf(frame, fact))).toEqual([1, 1, 1]);
    expect(frames.map((frame) => factOf(frame, another))).toEqual(['another', 'another', 'another']);
    const without = { ...(frames[0] as Frame), template: undefined };
    expect([factOf(without, fact), factOf(without, fact)]).toEqual([2, 3]);
  });

  test('is read as the strict parser reads it when it was damaged', () => {
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
          const fresh = new Scanner(); // knows one template, and learns none of the damaged frames
          fresh.scan(line(chunk('"s1"', '"first"')), 0);
          const found = fresh.scan(bytes, 0);
          if (!found?.template) continue;
          taken++;
          expect(found.end).toBe(end);
          // The connection keeps invalid UTF-8 from the scanner; JSON.parse reads it with U+FFFD.
          expect(JSON.parse(bytes.toString('utf8', 0, end))).toMatchObject({ method: 'session/update' });
          const decided = strictParse(bytes, 0, end);
          if (!('why' in decided)) expect(summary(found)).toEqual(summary(decided));
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
  ])('a frame does not match: %s', (_, text) => {
    expect(learned(chunk('"s1"', '"first"'))).toBe(true);
    expect(matched(line(text), 0)).toBeUndefined();
  });
});

describe('no template is made of', () => {
  test.each([
    ['a request', '{"id":1,"method":"m","params":{"sessionId":"s","t":"x"}}'],
    ['a last string that is the session id', '{"method":"n","params":{"t":"x","sessionId":"s"}}'],
    ['a last string that is a key, which another could double', '{"method":"n","params":{"sessionId":"s","t":1}}'],
    ['a last string that is the method', '{"params":{"sessionId":"s","t":1},"method":"n"}'],
    ['a last string outside the params', '{"method":"n","params":{"sessionId":"s"},"result":{"x":"y"}}'],
    ['no session', '{"method":"n","params":{"t":"x"}}'],
    ['a frame that is mostly something else', `{"method":"n","params":{"sessionId":"s","n":[${'1,'.repeat(400)}1],"t":"x"}}`],
  ])('%s', (_, text) => {
    expect(scanner.scan(line(text), 0)).toBeDefined();
    expect(learned(text)).toBe(false);
  });

  test('more kinds of frames than the cache holds are read correctly', () => {
    const frames = Array.from({ length: 12 }, (_, n) => `{"method":"n${n}","params":{"sessionId":"s","t${n}":["x"]}}`);
    for (let round = 0; round < 50; round++)
      for (const [n, text] of frames.entries()) {
        const frame = scanner.scan(line(text), 0);
        expect(frame && summary(frame)).toMatchObject({ method: `n${n}`, sessionId: '"s"', body: text.slice(text.indexOf(':{') + 1, -1) });
      }
  });
});
