// A connection: lines in, frames and refusals out, limits and patches.
import { spawn } from 'node:child_process';
import { PassThrough, Readable } from 'node:stream';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Connection, createConnection } from '../../src/wire/connection.ts';
import { type Frame, textOf } from '../../src/wire/frame.ts';
import { Scanner } from '../../src/wire/scanner/scanner.ts';
import type { Patch } from '../../src/wire/writer.ts';
import fc from '../generated.ts';
import { damaged, message, seeded } from './odd-json.ts';
import { createRecorder } from './outputs.ts';

const scanner = new Scanner();

const MIB = 1024 * 1024;

type Seen =
  | { readonly frame: string }
  | { readonly refused: string; readonly line: string }
  | { readonly oversized: string; readonly bytes: number };

/** What a connection reports for `chunks`. */
async function read(chunks: readonly (Buffer | string)[], maxFrameBytes = MIB): Promise<Seen[]> {
  const seen: Seen[] = [];
  const input = new PassThrough({ highWaterMark: 1 << 30 });
  await new Promise<void>((end) => {
    createConnection(
      input,
      createRecorder().output,
      { scanner, maxFrameBytes },
      {
        frame: (frame) => seen.push({ frame: frame.bytes.toString('latin1', frame.start, frame.end) }),
        refused: ({ why, kind, idText }, line) => seen.push({ refused: `${why} ${kind} ${idText}`, line: line.toString('latin1') }),
        oversized: ({ kind, idText, method, bytes }) => seen.push({ oversized: `${kind} ${idText} ${method}`, bytes }),
        end,
      },
    );
    for (const chunk of chunks) input.write(chunk);
    input.end();
  });
  return seen;
}

describe('a connection reads lines', () => {
  test('messages become frames in order; blank lines are ignored; the last line needs no line feed', async () => {
    const chunks = ['\n\r\n{"id":1,"method":"a"}\n  \n{"met', 'hod":"b"}\r\n\n', '{"id":1,"result":null}'];
    expect(await read(chunks)).toEqual([
      { frame: '{"id":1,"method":"a"}' },
      { frame: '{"method":"b"}\r' },
      { frame: '{"id":1,"result":null}' },
    ]);
  });

  test('a frame has the spans of its parts', async () => {
    const frames: Frame[] = [];
    const input = Readable.from([
      Buffer.from('{"jsonrpc":"2.0","id":"x","method":"session/prompt","params":{"prompt":[],"sessionId":"s-1"}}\n'),
    ]);
    await new Promise<void>((end) => {
      createConnection(
        input,
        createRecorder().output,
        { scanner, maxFrameBytes: MIB },
        {
          frame: (frame) => frames.push(frame),
          refused: () => expect.unreachable(),
          oversized: () => expect.unreachable(),
          end,
        },
      );
    });
    const [frame] = frames as [Frame];
    const text = (span: Patch['span'] | undefined) => span && textOf(frame.bytes, span);
    expect({ ...frame, bytes: undefined, id: text(frame.id), sessionId: text(frame.sessionId), body: text(frame.body) }).toMatchObject({
      kind: 'request',
      method: 'session/prompt',
      id: '"x"',
      sessionId: '"s-1"',
      body: '{"prompt":[],"sessionId":"s-1"}',
    });
  });

  test('an invalid line is refused; the other lines of the chunk pass', async () => {
    const bad = Buffer.concat([Buffer.from('{"id":5,"method":"m","params":"'), Buffer.from([0xff]), Buffer.from('"}\n')]);
    const chunk = Buffer.concat([
      Buffer.from('{"method":"é"}\nnonsense\n'),
      bad,
      Buffer.from('[{"id":1,"method":"m"}]\n{"id":1,"id":2,"method":"m"}\n{"id":3,"result":1,"\\u0072esult":2}\n{"method":"b"}\n'),
    ]);
    expect(await read([chunk])).toEqual([
      { frame: Buffer.from('{"method":"é"}').toString('latin1') },
      { refused: 'broken undefined undefined', line: 'nonsense' },
      { refused: 'broken request 5', line: bad.toString('latin1').trimEnd() },
      { refused: 'foreign undefined undefined', line: '[{"id":1,"method":"m"}]' },
      { refused: 'ambiguous request undefined', line: '{"id":1,"id":2,"method":"m"}' },
      { refused: 'ambiguous response 3', line: '{"id":3,"result":1,"\\u0072esult":2}' },
      { frame: '{"method":"b"}' },
    ]);
  });

  test('an id with invalid text is not reported', async () => {
    const line = Buffer.concat([Buffer.from('{"id":"'), Buffer.from([0xff]), Buffer.from('","method":"m"}\n')]);
    expect(await read([line])).toMatchObject([{ refused: 'broken request undefined' }]);
  });

  test('a byte order mark is removed', async () => {
    const line = Buffer.from('\ufeff{"id":1,"method":"m"}\n');
    expect(await read([line])).toEqual([{ frame: '{"id":1,"method":"m"}' }]);
  });
});

describe('a frame over the limit', () => {
  const LIMIT = 10_000;
  const long = 'x'.repeat(LIMIT);
  const OVERSIZED = [
    ['a request with its id in front', `{"jsonrpc":"2.0","id":7,"method":"m","params":{"t":"${long}"}}`, 'request 7 m'],
    ['a request with its id behind', `{"jsonrpc":"2.0","method":"m","params":{"t":"${long}"},"id":"a\\"b"}`, 'request "a\\"b" m'],
    ['a request with its id behind, spaced out', `{ "method" : "m" , "params" : { "t":"${long}" } , "id" : 12 } \t`, 'request 12 m'],
    [
      'a response with its id in front',
      `{"jsonrpc":"2.0","id":9007199254740993,"result":{"t":"${long}"}}`,
      'response 9007199254740993 undefined',
    ],
    ['a response with its id behind', `{"result":{"t":"${long}"},"id":5}`, 'response 5 undefined'],
    ['a response whose result is one long string', `{"id":5,"result":"${long}"}`, 'response 5 undefined'],
    ['an error', `{"id":5,"error":{"code":1,"message":"${long}"}}`, 'response 5 undefined'],
    ['a notification', `{"jsonrpc":"2.0","method":"m","params":{"id":3,"t":"${long}"}}`, 'notification undefined m'],
    ['a notification with an id in what it holds', `{"method":"m","params":{"t":"${long}","id":3}}`, 'notification undefined m'],
    ['text that looks like an id at its end', `{"method":"m","params":{},"t":"${long},\\"id\\":3}"}`, 'notification undefined m'],
    ['something that is no JSON', long + long, 'undefined undefined undefined'],
  ] as const;

  test.each(OVERSIZED)('%s is skipped with its id and kind, and the next one passes', async (_, line, expected) => {
    const whole = Buffer.from(`${line}\n{"method":"next"}\n`);
    const pieces = Array.from({ length: Math.ceil(whole.length / 700) }, (_item, n) => whole.subarray(n * 700, (n + 1) * 700));
    for (const chunks of [[whole], pieces]) {
      const seen = await read(chunks, LIMIT);
      expect(seen).toEqual([{ oversized: expected, bytes: expect.any(Number) }, { frame: '{"method":"next"}' }]);
    }
  });

  test('can be answered even if its method comes last', async () => {
    // Only requests have both an id and params, so a leading id is certain.
    const [seen] = await read([`{"id":7,"params":{"t":"${long}"},"method":"m"}\n`], LIMIT);
    expect(seen).toMatchObject({ oversized: expect.stringMatching(/^request 7 /) });
  });

  test('is reported with the same length in one chunk and in several', async () => {
    const line = `{"id":7,"method":"m","params":"${long}"}`;
    const [whole] = await read([`${line}\n`], LIMIT);
    const [inPieces] = await read([line.slice(0, 9000), `${line.slice(9000)}\n`], LIMIT);
    expect(whole).toEqual({ oversized: 'request 7 m', bytes: line.length });
    expect(inPieces).toEqual({ oversized: 'request 7 m', bytes: line.length });
  });

  describe('starts one byte above the limit:', () => {
    const line = `{"id":7,"method":"m","params":"${'y'.repeat(500)}"}`;
    const CUTS = [
      ['in one chunk', [`${line}\n`]],
      ['in two chunks', [line.slice(0, 100), `${line.slice(100)}\n`]],
      ['with the line feed on its own', [line, '\n']],
      ['without a line feed, at the end of the stream', [line]],
    ] as const;

    test.each(CUTS)('a line of exactly the limit passes %s', async (_, chunks) => {
      expect(await read(chunks, line.length)).toEqual([{ frame: line }]);
    });

    test.each(CUTS)('a longer line does not pass %s', async (_, chunks) => {
      expect(await read(chunks, line.length - 1)).toMatchObject([{ oversized: 'request 7 m' }]);
    });
  });
});

test('the split into chunks makes no difference', async () => {
  const input = fc.record({ seed: fc.integer(), places: fc.array(fc.nat(), { maxLength: 20 }) });
  await fc.assert(
    fc.asyncProperty(input, async ({ seed, places }) => {
      const random = seeded(seed);
      const lines = Array.from({ length: 6 }, () => {
        const line = Buffer.from(message(random));
        return random() < 0.3 ? damaged(random, line) : line;
      });
      const stream = Buffer.concat(lines.flatMap((line) => [line, Buffer.from(random() < 0.2 ? '\r\n' : '\n')]));
      const edges = [0, ...places.map((place) => place % (stream.length + 1)).sort((a, b) => a - b), stream.length];
      const pieces = edges.slice(1).map((edge, k) => Buffer.from(stream.subarray(edges[k], edge)));
      // Far from the length of any line; another test checks the exact limit.
      const limit = lines.some((line) => Math.abs(line.length - 400) < 5) ? MIB : 400;
      const plain = (seen: readonly Seen[]) => seen.map((one) => ('oversized' in one ? one.oversized : one));
      expect(plain(await read(pieces, limit))).toEqual(plain(await read([stream], limit)));
    }),
    { numRuns: 500 },
  );
});

describe('a replaced id', () => {
  const ODD = [
    '{"jsonrpc":"2.0","id":9007199254740993,"method":"m","params":{"n":9007199254740993,"f":1.0,"e":1e400,"z":-0}}',
    '{"params":{"b":1,"a":2,"sessionId":"s","\\u0061b":"\\ud800 \\/ \\u00e9 é"},"method":"_vendor\\/x","id":"1"}',
    '{ "_meta" : {"trace":{"x":[1 , 2]}},\t"id" : null ,"method":"session/new","unknownField":[[[]]],"params":{"_meta":{"k":1E+2}}}\r',
    '{"id":{"odd":[1,"id"]},"result":{"sessionId":"x","text":",\\"id\\":1","big":123456789012345678901234567890}}',
    '{"error":{"code":-32000,"message":"\\u2028\u2028","data":1.50},"id":1.0}',
  ];

  test.each(ODD)('leaves all other bytes of %s unchanged', async (line) => {
    const { output, text } = createRecorder();
    await new Promise<void>((end) => {
      const connection: Connection = createConnection(
        Readable.from([Buffer.from(`${line}\n`)]),
        output,
        { scanner, maxFrameBytes: MIB },
        {
          frame: (frame) => connection.writer.frame(frame, [{ span: frame.id as Patch['span'], text: '"ours-1"' }]),
          refused: () => expect.unreachable(),
          oversized: () => expect.unreachable(),
          end,
        },
      );
    });
    const id = ['9007199254740993', '"1"', 'null', '{"odd":[1,"id"]}', '1.0'][ODD.indexOf(line)] as string;
    const key = /"id"\s*:\s*/.exec(line) as RegExpExecArray;
    const at = key.index + key[0].length;
    expect(line.slice(at, at + id.length)).toBe(id);
    expect(text()).toBe(`${line.slice(0, at)}"ours-1"${line.slice(at + id.length)}\n`);
  });

  test('replaced back after a real process gives the original bytes', async () => {
    const cat = spawn('cat', { stdio: ['pipe', 'pipe', 'inherit'] });
    onTestFinished(() => void cat.kill());
    const { output, text } = createRecorder();
    const client = createConnection(
      new PassThrough(),
      output,
      { scanner, maxFrameBytes: MIB },
      {
        frame: () => expect.unreachable(),
        refused: () => expect.unreachable(),
        oversized: () => expect.unreachable(),
        end() {},
      },
    );
    const originals: string[] = [];
    const ended = new Promise<void>((end) => {
      const agent = createConnection(
        cat.stdout,
        cat.stdin,
        { scanner, maxFrameBytes: MIB },
        {
          frame(frame) {
            const span = frame.id as Patch['span'];
            client.writer.frame(frame, [{ span, text: originals[Number(textOf(frame.bytes, span))] as string }]);
          },
          refused: () => expect.unreachable(),
          oversized: () => expect.unreachable(),
          end,
        },
      );
      createConnection(
        Readable.from([Buffer.from(`${ODD.join('\n')}\n`)]),
        createRecorder().output,
        { scanner, maxFrameBytes: MIB },
        {
          frame(frame) {
            const span = frame.id as Patch['span'];
            agent.writer.frame(frame, [{ span, text: String(originals.push(textOf(frame.bytes, span)) - 1) }]);
          },
          refused: () => expect.unreachable(),
          oversized: () => expect.unreachable(),
          end: () => agent.writer.end(),
        },
      );
    });
    await ended;
    await new Promise(setImmediate);
    expect(text()).toBe(`${ODD.join('\n')}\n`);
  });
});
