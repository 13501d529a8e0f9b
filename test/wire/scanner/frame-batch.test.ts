import { describe, expect, test } from 'vitest';
import type { Frame } from '../../../src/wire/frame.ts';
import { endOf, framesOf } from '../../../src/wire/scanner/frame-batch.ts';
import { Scanner } from '../../../src/wire/scanner/scanner.ts';
import fc from '../../generated.ts';
import { damaged, seeded } from '../odd-json.ts';

const MIB = 1024 * 1024;

const chunk = (text: string, sessionId = 's1') =>
  `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"${sessionId}","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":${text}}}}}`;

/** A scanner that knows how chunks are written, and these sessions. */
function trained(sessions: readonly string[]): Scanner {
  const scanner = new Scanner();
  for (const id of sessions) scanner.scan(Buffer.from(`${chunk('"first"', id)}\n`), 0);
  return scanner;
}
/** Offsets and all, but for what the scanner keeps itself. */
const summary = ({ bytes, template: _, session, ...rest }: Frame) => ({ ...rest, session: session?.text, length: bytes.length });

/** What a batch from the first line on holds, and what each of these lines is alone. */
function read(lines: readonly string[], maxFrameBytes = MIB, sessions: readonly string[] = ['s1']) {
  const scanner = trained(sessions);
  const bytes = Buffer.from(`${lines.join('\n')}\n`);
  const first = scanner.scan(bytes, 0);
  const batch = first && scanner.batchFrom(first, bytes.length, maxFrameBytes);
  const frames = batch ? framesOf(batch) : [];
  const alone = frames.map(({ start }) => scanner.scan(bytes, start) as Frame);
  return { count: frames.length, frames: frames.map(summary), alone: alone.map(summary), batch, bytes };
}

describe('a batch', () => {
  test('holds the frames that differ in their text only, each as the scanner reads it alone', () => {
    const texts = ['"a"', '""', '"two\\nlines"', '"\\u00e9 é \u{1f600}"', '"a \\"quoted\\" word"', `"${'long '.repeat(100)}"`, '"\\\\"'];
    const { count, frames, alone, batch, bytes } = read(texts.map((text) => chunk(text)));
    expect(count).toBe(texts.length);
    expect(frames).toEqual(alone);
    expect(batch && endOf(batch)).toBe(bytes.length);
  });

  test.each([
    ['another session', chunk('"c"', 's2')],
    ['another kind', chunk('"c"').replace('message', 'thought')],
    ['another member behind the text', chunk('"c","more":1')],
    ['white space', ` ${chunk('"c"')}`],
    ['a carriage return', `${chunk('"c"')}\r`],
    ['an invalid escape', chunk('"\\x"')],
    ['an incomplete escape', chunk('"\\u12"')],
    ['a backslash at its end', chunk('"c\\')],
    ['a control character', chunk('"c\tc"')],
    ['a text without an end', chunk('"c').slice(0, -4)],
    ['a line that ends within the text', chunk('"c"').slice(0, -8)],
    ['a response', '{"jsonrpc":"2.0","id":1,"result":{}}'],
    ['nothing', ''],
  ])('ends before %s', (_, line) => {
    expect(read([chunk('"a"'), chunk('"b"'), line, chunk('"d"')]).count).toBe(2);
  });

  test('ends before a frame that is too long, and before more than a quarter of a megabyte', () => {
    expect(read([chunk('"a"'), chunk('"b"'), chunk(`"${'c'.repeat(100)}"`)], chunk('"a"').length).count).toBe(2);
    const { count, batch } = read(Array.from({ length: 3000 }, () => chunk('"words"')));
    expect(count).toBeGreaterThan(1000);
    expect(batch && endOf(batch)).toBeLessThanOrEqual(256 * 1024);
  });

  test('is none where the next frame differs, where no template matches, and where nothing follows', () => {
    expect(read([chunk('"a"'), chunk('"b"', 's2')]).batch).toBeUndefined();
    expect(read([chunk('"a"')]).batch).toBeUndefined();
    const request = '{"jsonrpc":"2.0","id":1,"method":"fs/read_text_file","params":{"sessionId":"s1","path":"/x"}}';
    expect(read([request, request]).batch).toBeUndefined();
  });

  test('agrees with the scanner on whatever stands in the texts', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' }), { minLength: 2, maxLength: 20 }), (texts) => {
        const { count, frames, alone } = read(texts.map((text) => chunk(JSON.stringify(text))));
        expect(count).toBe(texts.length);
        expect(frames).toEqual(alone);
      }),
    );
  });

  test('never holds a line that the scanner reads otherwise, also among damaged ones', () => {
    const random = seeded(16);
    for (let n = 0; n < 20_000; n++) {
      const lines = [chunk('"a"'), chunk('"words, and \\"more\\" of them"'), chunk('"b"')];
      const at = 1 + Math.floor(random() * 2);
      lines[at] = damaged(random, Buffer.from(lines[at] as string)).toString();
      const { frames, alone } = read(lines);
      expect(frames).toEqual(alone);
    }
  });

  test('goes on over sessions that alternate, and knows the session of each frame', () => {
    const ids = ['s1', 's2', 's3', 's2', 's2', 's1', 's3'];
    const { count, frames, alone, batch } = read(
      ids.map((id, k) => chunk(`"words ${k}"`, id)),
      MIB,
      ['s1', 's2', 's3'],
    );
    expect(count).toBe(ids.length);
    expect(frames).toEqual(alone);
    expect(batch?.sessions?.map(({ text }) => text)).toEqual(ids);
  });

  test.each([
    ['a session that is new', chunk('"c"', 's9')],
    ['a session with a longer id', chunk('"c"', 's10')],
    ['an id that is no whole string', chunk('"c"', '\\s')],
    ['a session in another kind of update', chunk('"c"', 's1').replace('message', 'thought')],
    ['an invalid escape', chunk('"\\x"', 's1')],
  ])('of alternating sessions ends before %s', (_, line) => {
    const lines = [chunk('"a"', 's1'), chunk('"b"', 's2'), line, chunk('"d"', 's1')];
    expect(read(lines, MIB, ['s1', 's2', 's10']).count).toBe(2);
  });

  test('of alternating sessions never holds a line that the scanner reads otherwise, also among damaged ones', () => {
    const random = seeded(17);
    for (let n = 0; n < 10_000; n++) {
      const lines = [chunk('"a"', 's1'), chunk('"words, and \\"more\\" of them"', 's2'), chunk('"b"', 's1'), chunk('"c"', 's2')];
      const at = 1 + Math.floor(random() * 3);
      lines[at] = damaged(random, Buffer.from(lines[at] as string)).toString();
      const { frames, alone } = read(lines, MIB, ['s1', 's2']);
      expect(frames).toEqual(alone);
    }
  });
});
