// Newline-delimited JSON: splitting chunks into lines in bounded memory.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { createLineSplitter, type Oversized } from '../../../src/wire/framing/ndjson.ts';
import fc from '../../generated.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

function split(chunks: readonly Buffer[], maxFrameBytes = MIB) {
  const lines: string[] = [];
  const oversized: Oversized[] = [];
  const splitter = createLineSplitter({
    maxFrameBytes,
    onLines(bytes, start, end) {
      expect(bytes[end - 1]).toBe(0x0a);
      lines.push(
        ...bytes
          .toString('latin1', start, end - 1)
          .split('\n')
          .map((line) => Buffer.from(line, 'latin1').toString('utf8')),
      );
    },
    onOversized: (line) => oversized.push(line),
  });
  for (const chunk of chunks) splitter.push(chunk);
  splitter.end();
  return { lines, oversized };
}

/** The text cut at `places`, each of them taken modulo its length. */
function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const edges = [0, ...places.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return edges.slice(1).map((edge, k) => Buffer.from(bytes.subarray(edges[k], edge)));
}

const oneByteEach = (bytes: Buffer) => [...bytes].map((byte) => Buffer.from([byte]));

/** What a stream of lines is: what stands between line feeds, and a last one only if there is something of it. */
function expectedLines(text: string): string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

const ODD_STREAMS = [
  ['nothing at all', ''],
  ['blank lines', '\n\n{"a":1}\n\n\n'],
  ['CRLF', '{"a":1}\r\n{"b":2}\r\n'],
  ['a lone CR inside JSON', '{"a":\r1}\n{"b":\r2}\n'],
  ['U+2028 and U+2029', '{"a":"\u2028"}\n{"b":"\u2029\u0085"}\n'],
  ['characters of two, three and four bytes', '{"é":"\u{1f600}"}\n"ｗ"\n'],
  ['no final line feed', '{"a":1}\n{"b":2}'],
  ['a byte order mark', '\ufeff{"a":1}\n'],
] as const;

describe('the split into chunks makes no difference', () => {
  test.each(ODD_STREAMS)('%s', (_, text) => {
    const bytes = Buffer.from(text);
    expect(split([bytes]).lines).toEqual(expectedLines(text));
    expect(split(oneByteEach(bytes)).lines).toEqual(expectedLines(text));
  });

  test('for any stream and any split', () => {
    const piece = fc.constantFrom(
      '{"a":1}',
      '\n',
      '\n',
      '\r\n',
      '\r',
      '\u2028',
      'é',
      '\u{1f600}',
      '{"t":"\\n"}',
      ' ',
      '\ufeff',
      'x'.repeat(300),
    );
    const stream = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(stream, fc.array(fc.nat(), { maxLength: 60 }), (text, places) => {
        expect(split(cut(Buffer.from(text), places)).lines).toEqual(expectedLines(text));
      }),
      { numRuns: 2000 },
    );
  });

  test('for invalid UTF-8', () => {
    const collected: Buffer[] = [];
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), fc.array(fc.nat(), { maxLength: 10 }), (random, places) => {
        collected.length = 0;
        const splitter = createLineSplitter({
          maxFrameBytes: MIB,
          onLines: (bytes, start, end) => collected.push(Buffer.from(bytes.subarray(start, end))),
          onOversized: () => expect.unreachable(),
        });
        const stream = Buffer.concat([random, Buffer.from('\n')]);
        for (const chunk of cut(stream, places)) splitter.push(chunk);
        splitter.end();
        expect(Buffer.concat(collected).equals(stream)).toBe(true);
      }),
    );
  });

  test('whole lines of one chunk are reported together, without a copy', () => {
    const chunk = Buffer.from('{"a":1}\n{"b":2}\n{"c":3}\n{"d"');
    const calls: [Buffer, number, number][] = [];
    const splitter = createLineSplitter({
      maxFrameBytes: MIB,
      onLines: (...call) => calls.push(call),
      onOversized: () => expect.unreachable(),
    });
    splitter.push(chunk);
    expect(calls).toHaveLength(1);
    expect(calls[0]?.[0]).toBe(chunk);
    expect(calls[0]?.slice(1)).toEqual([0, 24]);
  });
});

describe('a line over the limit', () => {
  const HEAD = '{"jsonrpc":"2.0","id":7,"method":"m","params":{"t":"';
  const TAIL = '"},"last":true}';

  test('is skipped in constant memory and reported once, and the next line is intact', () => {
    setFlagsFromString('--expose-gc');
    const gc = runInNewContext('gc') as () => void;
    const held = () => {
      gc();
      gc(); // the first collection frees buffers, the second one counts them
      const { heapUsed, external } = process.memoryUsage();
      return heapUsed + external;
    };
    const lines: string[] = [];
    const oversized: Oversized[] = [];
    const splitter = createLineSplitter({
      maxFrameBytes: MIB,
      onLines: (bytes, start, end) => lines.push(bytes.toString('utf8', start, end)),
      onOversized: (line) => oversized.push(line),
    });
    splitter.push(Buffer.from(`{"before":1}\n${HEAD}`));
    const before = held();
    let mostGrowth = 0;
    const pieces = (100 * MIB) / (64 * KIB);
    for (let n = 0; n < pieces; n++) {
      splitter.push(Buffer.alloc(64 * KIB, 'x'));
      if (n % 100 === 99) mostGrowth = Math.max(mostGrowth, held() - before);
    }
    expect(oversized).toEqual([]);
    splitter.push(Buffer.from(`${TAIL}\n{"after":1}\n{"and":`));
    splitter.push(Buffer.from('"then"}\n'));

    expect(mostGrowth).toBeLessThan(3 * MIB);
    expect(oversized).toHaveLength(1);
    const [skipped] = oversized;
    expect(skipped?.head.toString()).toMatch(new RegExp(`^${HEAD.replace(/[{}"]/g, '\\$&')}x+$`));
    expect(skipped?.head.length).toBe(4096);
    expect(skipped?.tail.toString().trimEnd().endsWith(TAIL)).toBe(true);
    expect(skipped?.tail.length).toBe(512);
    expect(skipped?.bytes).toBeGreaterThanOrEqual(100 * MIB);
    expect(lines).toEqual(['{"before":1}\n', '{"after":1}\n', '{"and":"then"}\n']);
  });

  test('is reported with its head and tail for any split', () => {
    const line = Buffer.from(`${HEAD}${'é'.repeat(4000)}${TAIL}`);
    const stream = Buffer.concat([line, Buffer.from('\n{"after":1}\n')]);
    fc.assert(
      fc.property(fc.array(fc.nat(), { minLength: 1, maxLength: 30 }), (places) => {
        // One cut always falls inside the line: the connection measures a whole line in one chunk.
        const { lines, oversized } = split(cut(stream, [...places, line.length - 1]), 5000);
        expect(oversized).toHaveLength(1);
        expect(oversized[0]?.head.equals(line.subarray(0, 4096))).toBe(true);
        const tail = oversized[0]?.tail.toString('latin1').replace(/\n$/, '') ?? '';
        expect(tail.length).toBeGreaterThan(500);
        expect(line.toString('latin1').endsWith(tail)).toBe(true);
        expect(lines).toEqual(['{"after":1}']);
      }),
    );
  });

  test('without a line feed at the end of the stream is reported', () => {
    const { lines, oversized } = split([Buffer.from('{"a":1}\n'), Buffer.alloc(80, 'x'), Buffer.alloc(80, 'y')], 100);
    expect(lines).toEqual(['{"a":1}']);
    expect(oversized).toHaveLength(1);
    expect(oversized[0]?.head.toString()).toMatch(/^x{80}y{80}\s*$/);
  });

  test('after another one is reported separately', () => {
    const long = Buffer.alloc(150, 'x');
    const lf = Buffer.from('\n');
    const { lines, oversized } = split([long, lf, long, lf, Buffer.from('{"a":1}\n')], 100);
    expect(oversized).toHaveLength(2);
    expect(lines).toEqual(['{"a":1}']);
  });
});
