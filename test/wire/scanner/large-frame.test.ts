// A large frame in many chunks behaves like the same frame in one piece.
import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { createConnection } from '../../../src/wire/connection.ts';
import { detach, type Frame, type Span, textOf } from '../../../src/wire/frame.ts';
import { createElider } from '../../../src/wire/scanner/elide.ts';
import { briefOf, idTextOf, isLarge, sessionIdOf, stringIn } from '../../../src/wire/scanner/large-frame.ts';
import { Scanner } from '../../../src/wire/scanner/scanner.ts';
import { inJavaScript } from '../../../src/wire/scanner/text-end.ts';
import { createWriter, type Patch } from '../../../src/wire/writer.ts';
import fc from '../../generated.ts';
import { createRecorder } from '../outputs.ts';

const scanner = new Scanner();
const LIMIT = 8 * 1024 * 1024;
const CODE = '  const ü = items.filter((item) => item.name !== \\"\\" && item.size > 0); // → \\u2192 keep\\n\\t';

const text = (bytes: number, of = CODE): string => of.repeat(Math.ceil(bytes / Buffer.byteLength(of)));
const update = (inside: string, session = '"s-1"'): string =>
  `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":${session},"update":{"sessionUpdate":"tool_call_update","toolCallId":"call-1",${inside}}}}\n`;
const diff = (bytes: number): string => update(`"content":[{"type":"diff","path":"/a.ts","oldText":"","newText":"${text(bytes)}"}]`);

type Seen = { readonly frames: Frame[]; readonly refused: string[]; readonly oversized: number[] };

function read(chunks: readonly Buffer[], maxFrameBytes = LIMIT): Seen {
  const seen: Seen = { frames: [], refused: [], oversized: [] };
  const input = new PassThrough();
  createConnection(
    input,
    createRecorder().output,
    { scanner, maxFrameBytes },
    {
      frame: (frame) => void seen.frames.push(frame),
      refused: ({ why }, line) => void seen.refused.push(`${why} ${line.length}`),
      oversized: ({ bytes }) => void seen.oversized.push(bytes),
      end: () => {},
    },
  );
  for (const chunk of chunks) input.emit('data', chunk);
  return seen;
}

function cut(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const chunks: Buffer[] = [];
  for (let at = 0, k = 0; at < bytes.length; k++) {
    const size = sizes[k % sizes.length] as number;
    chunks.push(Buffer.from(bytes.subarray(at, at + size)));
    at += size;
  }
  return chunks;
}

/** All that a frame says of itself, with what lies at its places. */
function described(frame: Frame) {
  const { kind, method, outcome, start, end } = frame;
  const at = (span: Span | undefined) => span && [span.start - start, span.end - start];
  return { kind, method, outcome, bytes: end - start, id: at(frame.id), sessionId: at(frame.sessionId), body: at(frame.body) };
}

describe('a large frame in many chunks', () => {
  test('is forwarded without joining', async () => {
    const line = Buffer.from(diff(300_000));
    const chunks = cut(line, [65_536]);
    const [frame] = read(chunks).frames as [Frame];
    const recorder = createRecorder();
    createWriter(recorder.output).frame(frame);
    await new Promise(setImmediate);
    expect(recorder.calls.flat().map((part) => part.buffer)).toEqual(chunks.map((chunk) => chunk.buffer));
    expect(recorder.bytes().equals(line)).toBe(true);
  });

  test('is written with its patches, also across chunks', async () => {
    const line = Buffer.from(`{"id":"a-long-one","params":{"text":"${text(200_000)}","sessionId":"s-1"},"method":"m"}\n`);
    const [frame] = read(cut(line, [65_537])).frames as [Frame];
    const patches: Patch[] = [
      { span: frame.id as Span, text: '7' },
      { span: frame.sessionId as Span, text: '"other"' },
    ];
    const recorder = createRecorder();
    createWriter(recorder.output).frame(frame, patches);
    await new Promise(setImmediate);
    expect(recorder.text()).toBe(line.toString().replace('"a-long-one"', '7').replace('"s-1"', '"other"'));
  });

  test.each([
    ['a diff', diff(200_000)],
    ['base64', update(`"data":"${text(200_000, 'QUJDREVGR0g+/')}"`)],
    ['several long strings', update(`"a":"${text(90_000)}","b":{"c":["${text(90_000)}",1,null,{"d":"${text(9000)}"}]}`)],
    ['a long key', update(`"${text(200_000)}":1`)],
    ['nothing but escapes', update(`"t":"${text(200_000, '\\u00e9\\\\')}"`)],
    ['four bytes a letter', update(`"t":"${text(200_000, '\u{1f600}')}"`)],
    ['an answer', `{"jsonrpc":"2.0","id":12,"result":{"content":"${text(200_000)}","sessionId":"s"}}\n`],
    ['a request with its id behind', `{"method":"m","params":{"x":"${text(200_000)}"},"id":"x"}  \r\n`],
    ['a session id behind', `{"method":"m","params":{"x":"${text(200_000)}","sessionId":"s-9"}}\n`],
    ['many short strings', update(`"list":[${text(200_000, '"ab",')}"c"]`)],
    ['a long session id', update(`"t":"${text(200_000)}"`, `"${'s'.repeat(5000)}"`)],
  ])('equals the frame in one piece: %s', (_, line) => {
    const whole = Buffer.from(line);
    const expected = described(scanner.scan(whole, 0) as Frame);
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 70_000 }), { minLength: 1, maxLength: 6 }),
        fc.integer({ min: 7, max: 999 }),
        (sizes, small) => {
          const chunks = cut(whole, [...sizes, 60_000 + small]);
          const [frame, ...others] = read(chunks).frames as [Frame];
          expect(others).toEqual([]);
          expect(described(frame)).toEqual(expected);
          expect(frame.bytes.equals(whole)).toBe(true);
        },
      ),
      { numRuns: 15 },
    );
  });

  test('is elided in the same way without WebAssembly', () => {
    const whole = Buffer.from(diff(300_000));
    const elided = [scanner.createElider(), createElider(inJavaScript)].map((elider) => {
      for (const chunk of cut(whole, [65_536, 100, 7])) elider.push(chunk);
      return elider.end();
    });
    expect(elided[0]).toBeDefined();
    expect(elided[1]).toEqual(elided[0]);
  });

  test.each([
    ['a control character in a string', diff(200_000).replace('item.name', '\u0001')],
    ['an escape that is none', diff(200_000).replace(/\\n(?=[^n]*$)/, '\\x')],
    ['a string without an end', diff(200_000).replace('"}]}}}', '')],
    ['a bracket too few', diff(200_000).replace('}]}}}', '}]}}')],
    ['a session id twice', update(`"t":"${text(200_000)}"`).replace('"update"', '"sessionId":"s-2","update"')],
  ])('is refused as in one piece: %s', (_, line) => {
    const whole = Buffer.from(line);
    const inOne = read([whole]);
    expect(inOne.frames).toEqual([]);
    expect(inOne.refused).toHaveLength(1);
    for (const size of [65_536, 30_001, 4099]) expect(read(cut(whole, [size]))).toEqual(inOne);
  });

  test('is refused for invalid UTF-8 at any offset', () => {
    const whole = Buffer.from(diff(300_000));
    for (const at of [70_000, 131_071, 131_072, 250_001]) {
      const broken = Buffer.from(whole);
      broken[at] = 0xff;
      const seen = read(cut(broken, [65_536]));
      expect(seen.frames).toEqual([]);
      expect(seen.refused).toHaveLength(1);
    }
  });

  test('is refused when eliding would complete half a character', () => {
    const whole = Buffer.from(update(`"x":"${'a'.repeat(300_000)}"`));
    // The last byte that stays of the second chunk, and the first ones of the third.
    whole[65_536 + 133] = 0xe2;
    whole.set([0x82, 0xac], 131_072);
    expect(read([whole]).refused).toHaveLength(1);
    expect(read(cut(whole, [65_536]))).toEqual(read([whole]));
  });

  test('keeps a very long method', () => {
    const method = `_${'long'.repeat(30_000)}`;
    const [frame] = read(cut(Buffer.from(`{"method":"${method}","params":{"x":"${'x'.repeat(200_000)}"}}\n`), [65_536])).frames;
    expect(frame?.method).toBe(method);
  });

  test('does not affect the frames after it', () => {
    const lines = [diff(200_000), '{"method":"a"}\n{"method":"b"}\n', diff(150_000), update(`"x":"${text(200_000)}`), diff(140_000)];
    const seen = read(cut(Buffer.from(lines.join('')), [65_536]));
    expect(seen.frames.map(({ end, start }) => end - start)).toEqual(
      [lines[0], '{"method":"a"} ', '{"method":"b"} ', lines[2], lines[4]].map((line) => Buffer.byteLength(line as string) - 1),
    );
    expect(seen.refused).toHaveLength(1);
  });

  test('over the limit is skipped without a trace', () => {
    const seen = read(cut(Buffer.from(diff(400_000) + diff(150_000)), [65_536]), 300_000);
    expect(seen.oversized).toEqual([Buffer.byteLength(diff(400_000)) - 1]);
    expect(seen.frames).toHaveLength(1);
    expect(seen.frames[0]?.bytes.toString()).toBe(diff(150_000));
  });

  test('can be detached', () => {
    const whole = Buffer.from(diff(200_000));
    const [frame] = read(cut(whole, [65_536])).frames as [Frame];
    const kept = detach(frame);
    expect(isLarge(frame)).toBe(true);
    expect(isLarge(kept)).toBe(false);
    expect(described(kept)).toEqual(described(frame));
    expect(kept.bytes.equals(whole)).toBe(true);
  });
});

describe('the short form of a large frame', () => {
  const long = (line: string): Frame => (read(cut(Buffer.from(line), [65_536])).frames as [Frame])[0];

  test('is short and has all short values', () => {
    const frame = long(update(`"status":"completed","x":"${text(1_000_000)}"`));
    const brief = briefOf(frame);
    expect(brief.end).toBeLessThan(20_000);
    expect(sessionIdOf(frame)).toBe('s-1');
    expect(stringIn(frame, 'update', 'toolCallId')).toBe('call-1');
    expect(stringIn(frame, 'update', 'status')).toBe('completed');
    expect(stringIn(frame, 'update', 'missing')).toBeUndefined();
    expect(idTextOf(long(`{"id":"x","result":"${text(200_000)}"}\n`))).toBe('"x"');
  });

  test('never turns a long string into a keyword', () => {
    const frame = long(update(`"status":"comp${'x'.repeat(200_000)}leted"`));
    expect(stringIn(frame, 'update', 'status')).toBe(`comp${'x'.repeat(200_000)}leted`);
    const { bytes, body } = briefOf(frame);
    expect(textOf(bytes, body as Span)).not.toContain('"completed"');
  });
});
