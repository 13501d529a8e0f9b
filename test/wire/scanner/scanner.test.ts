// The scanner, compared with JSON.parse.
import { isUtf8 } from 'node:buffer';
import { describe, expect, test } from 'vitest';
import type { Frame } from '../../../src/wire/frame.ts';
import { Scanner } from '../../../src/wire/scanner/scanner.ts';
import { strictParse } from '../../../src/wire/scanner/strict-parse.ts';
import fc from '../../generated.ts';
import { damaged, message, seeded } from '../odd-json.ts';

const scanner = new Scanner();

type Envelope = { kind: string; method?: string; id?: string; sessionId?: string; outcome?: string; body?: string };

/** What JSON.parse reads from a line; undefined if it is no message. */
function parsed(line: Buffer): Envelope | undefined {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(line));
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const own = (object: unknown, key: string) =>
    typeof object === 'object' && object !== null && Object.hasOwn(object, key) ? (object as Record<string, unknown>)[key] : undefined;
  const has = (key: string) => Object.hasOwn(value as object, key);
  const method = own(value, 'method');
  if (has('method') ? typeof method !== 'string' : !has('id')) return undefined;
  const kind = has('method') ? (has('id') ? 'request' : 'notification') : 'response';
  const outcome =
    kind !== 'response'
      ? undefined
      : has('result')
        ? has('error') && own(value, 'error') !== null
          ? 'unclear'
          : 'result'
        : has('error')
          ? 'error'
          : 'unclear';
  const place = kind === 'response' ? 'result' : 'params';
  const sessionId = own(own(value, place), 'sessionId');
  const bodyKey = outcome === 'error' ? 'error' : place;
  return {
    kind,
    ...(typeof method === 'string' && { method }),
    ...(has('id') && { id: JSON.stringify(own(value, 'id')) }),
    ...(typeof sessionId === 'string' && !Array.isArray(own(value, place)) && { sessionId }),
    ...(outcome && { outcome }),
    ...(has(bodyKey) && { body: JSON.stringify(own(value, bodyKey)) }),
  };
}
function scanned(frame: Frame): Envelope {
  const text = (span: { start: number; end: number }) => JSON.parse(frame.bytes.toString('utf8', span.start, span.end));
  return {
    kind: frame.kind,
    ...(frame.method !== undefined && { method: frame.method }),
    ...(frame.id && { id: JSON.stringify(text(frame.id)) }),
    ...(frame.sessionId && { sessionId: text(frame.sessionId) }),
    ...(frame.outcome && { outcome: frame.outcome }),
    ...(frame.body && { body: JSON.stringify(text(frame.body)) }),
  };
}
/** Puts the line between others, at any alignment, as in a chunk. */
function inChunk(line: Buffer, shift: number): { bytes: Buffer; start: number } {
  const before = Buffer.alloc(shift, '\n');
  return { bytes: Buffer.concat([before, line, Buffer.from('\n{"jsonrpc":"2.0","method":"next"}\n')]), start: shift };
}

const FRAMES_PER_SEED = 100;
const SEEDS = 1200;

describe('the scanner against JSON.parse', () => {
  test(`on ${SEEDS * FRAMES_PER_SEED} generated and damaged frames it finds the same envelope or none`, () => {
    let sure = 0;
    let frames = 0;
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const random = seeded(seed);
        for (let n = 0; n < FRAMES_PER_SEED; n++) {
          const whole = Buffer.from(message(random));
          const line = n % 2 ? damaged(random, whole) : whole;
          const { bytes, start } = inChunk(line, n % 9);
          frames++;
          const expected = parsed(line);
          if (isUtf8(line)) {
            const frame = scanner.scan(bytes, start);
            if (frame) {
              sure++;
              expect(scanned(frame), line.toString()).toEqual(expected);
              expect(frame.end).toBe(start + line.length);
            }
          }
          // The strict parser may refuse an ambiguous frame, but never reads it differently.
          const decided = strictParse(bytes, start, start + line.length);
          if (!('why' in decided)) expect(scanned(decided), line.toString()).toEqual(expected ?? parsed(line.subarray(3)));
          else if (decided.why === 'broken' && line.some((b) => b > 0x20)) expect(expected, line.toString()).toBeUndefined();
        }
      }),
      { numRuns: SEEDS },
    );
    expect(frames).toBe(SEEDS * FRAMES_PER_SEED);
    // If the scanner were always unsure, the comparison would prove nothing.
    expect(sure / frames).toBeGreaterThan(0.35);
  }, 600_000);
});

const frameOf = (line: string) => {
  const bytes = Buffer.from(`${line}\n`);
  return { frame: scanner.scan(bytes, 0), decided: strictParse(bytes, 0, bytes.length - 1) };
};

describe('the scanner reads', () => {
  test.each([
    [
      'an id behind the params',
      '{"params":{"sessionId":"s"},"method":"m","id":7}',
      { kind: 'request', id: '7', method: 'm', sessionId: 's' },
    ],
    ['CR between tokens', '{\r"jsonrpc":"2.0",\r"method":"m"\r}\r', { kind: 'notification', method: 'm' }],
    [
      'escaped text that looks like keys',
      '{"id":1,"method":"m","params":{"t":"\\",\\"sessionId\\":\\"x\\""}}',
      { kind: 'request', id: '1', method: 'm' },
    ],
    ['1e400 and a big integer id', '{"id":9007199254740993123,"method":"m","params":{"n":1e400}}', { kind: 'request', method: 'm' }],
    ['lone surrogate escapes', '{"id":1,"method":"m","params":{"t":"\\ud800"}}', { kind: 'request', id: '1', method: 'm' }],
    ['a null error next to a result', '{"id":1,"result":{},"error":null}', { kind: 'response', id: '1', outcome: 'result' }],
    [
      'a string of 300 kB',
      `{"id":1,"method":"m","params":{"sessionId":"s","t":"${'y'.repeat(300_000)}"}}`,
      { kind: 'request', id: '1', method: 'm', sessionId: 's' },
    ],
    [
      'a long string with an escape in every kilobyte',
      `{"id":1,"method":"m","params":{"t":"${`${'y'.repeat(1024)}\\n`.repeat(300)}"}}`,
      { kind: 'request', id: '1', method: 'm' },
    ],
  ])('%s', (_, line, expected) => {
    const { frame } = frameOf(line);
    const found = frame && scanned(frame);
    expect({ ...found, ...(line.includes('9007199254740993123') && { id: undefined }) }).toMatchObject(expected);
  });

  test.each([['object'], ['array'], ['true'], ['null'], ['"a\\"b"'], ['1.0'], ['-0'], ['""']])(
    'an id of the shape %s is kept as its bytes',
    (shape) => {
      const token = shape === 'object' ? '{"a":1}' : shape === 'array' ? '[1,{}]' : shape;
      const { frame } = frameOf(`{"jsonrpc":"2.0","id":${token},"method":"m"}`);
      expect(frame?.id && frame.bytes.toString('utf8', frame.id.start, frame.id.end)).toBe(token);
    },
  );
});

describe('the scanner leaves to the strict parser', () => {
  test.each([
    [
      'an escaped routing key',
      '{"jsonrpc":"2.0","\\u006dethod":"session\\/update","params":{"session\\u0049d":"s1"}}',
      { method: 'session/update', kind: 'notification' },
    ],
    ['a byte order mark', '\ufeff{"jsonrpc":"2.0","id":1,"method":"m"}', { method: 'm', kind: 'request' }],
    [
      'nesting of 300 levels',
      `{"id":1,"method":"m","params":{"x":${'['.repeat(300)}${']'.repeat(300)}}}`,
      { method: 'm', kind: 'request' },
    ],
  ])('%s, which passes', (_, line, expected) => {
    const { frame, decided } = frameOf(line);
    expect(frame).toBeUndefined();
    expect(decided).toMatchObject(expected);
  });

  test.each([
    ['an id that occurs twice', '{"id":1,"id":2,"method":"m"}', { why: 'ambiguous', idText: undefined }],
    ['a method that occurs twice', '{"id":1,"method":"m","method":"n"}', { why: 'ambiguous', idText: '1', kind: 'request' }],
    [
      'a session id that occurs twice, once escaped',
      '{"id":1,"method":"m","params":{"sessionId":"a","session\\u0049d":"b"}}',
      { why: 'ambiguous', idText: '1' },
    ],
    ['params that occur twice', '{"id":"x","method":"m","params":{},"params":{}}', { why: 'ambiguous', idText: '"x"' }],
    ['a batch', '[{"jsonrpc":"2.0","id":1,"method":"m"}]', { why: 'foreign' }],
    ['a scalar', '42', { why: 'foreign' }],
    ['an object that is no message', '{"hello":1}', { why: 'foreign' }],
    ['an error response without an id', '{"jsonrpc":"2.0","error":{"code":-32601,"message":"x"}}', { why: 'foreign' }],
    ['a method that is no string', '{"id":3,"method":5}', { why: 'foreign', idText: '3' }],
    ['broken JSON', '{"jsonrpc": nonsense', { why: 'broken' }],
    ['a raw control character in a string', '{"id":1,"method":"m","params":{"t":"a\tb"}}', { why: 'broken' }],
    [
      'a raw control character in a long string',
      `{"id":1,"method":"m","params":{"t":"${'a'.repeat(5000)}\t${'b'.repeat(5000)}"}}`,
      { why: 'broken' },
    ],
  ])('%s, which is refused', (_, line, expected) => {
    const { frame, decided } = frameOf(line);
    expect(frame).toBeUndefined();
    expect(decided).toMatchObject(expected);
  });

  test('invalid UTF-8, which is refused with its id so that the request can be answered', () => {
    const line = Buffer.concat([Buffer.from('{"id":5,"method":"m","params":{"t":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}}\n')]);
    expect(strictParse(line, 0, line.length - 1)).toMatchObject({ why: 'broken', idText: '5', kind: 'request' });
  });
});
