// Content-Length framing, as language servers use it.
import { EventEmitter } from 'node:events';
import { describe, expect, test } from 'vitest';
import type { Sink, Source } from '../../../src/wire/byte-stream.ts';
import { createConnection, type OversizedFrame } from '../../../src/wire/connection.ts';
import type { Frame } from '../../../src/wire/frame.ts';
import { bodiesFromLines, createBodyReader, createBodyWriter, linesFromBodies, OUTSIDE } from '../../../src/wire/framing/content-length.ts';
import { Scanner } from '../../../src/wire/scanner/scanner.ts';
import fc from '../../generated.ts';

const framed = (body: string) => `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

function linesOf(...chunks: readonly (string | Buffer)[]): string[] {
  const parts: Buffer[] = [];
  const reader = createBodyReader((bytes) => parts.push(bytes));
  for (const chunk of chunks) reader.push(Buffer.from(chunk as string));
  reader.end();
  const text = Buffer.concat(parts).toString('utf8');
  return text.split('\n').slice(0, text.endsWith('\n') ? -1 : undefined);
}

describe('reading bodies with Content-Length', () => {
  test('two messages in one read are two lines', () => {
    expect(linesOf(framed('{"a":1}') + framed('{"b":2}'))).toEqual(['{"a":1}', '{"b":2}']);
  });

  test.each([
    ['another case and no space', 'content-length:7\r\n\r\n{"a":1}'],
    ['a type next to the length', 'Content-Length: 7\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n{"a":1}'],
    ['the type first', 'Content-Type: application/json\r\nContent-Length: 7\r\n\r\n{"a":1}'],
    ['a header nobody knows', 'Content-Length: 7\r\nX-Other: yes\r\n\r\n{"a":1}'],
    ['line feeds alone', 'Content-Length: 7\n\n{"a":1}'],
    ['the same length twice', 'Content-Length: 7\r\nContent-Length: 7\r\n\r\n{"a":1}'],
  ])('%s is read', (_, text) => {
    expect(linesOf(text)).toEqual(['{"a":1}']);
  });

  test('a body with several lines becomes one line', () => {
    expect(linesOf(framed('{\n  "a": 1\r\n}'))).toEqual(['{   "a": 1\r }']);
  });

  test('an empty body is ignored', () => {
    expect(linesOf(`Content-Length: 0\r\n\r\n${framed('{"a":1}')}`)).toEqual(['{"a":1}']);
  });

  test.each([
    ['a word on stdout', 'starting up\n'],
    ['a word that looks like a header', 'info: starting up\n'],
    ['a message without a header', '{"jsonrpc":"2.0","method":"b"}\n'],
    ['a length that is no number', 'Content-Length: many\r\n'],
    ['a length below zero', 'Content-Length: -7\r\n'],
    ['a length beyond all numbers', 'Content-Length: 99999999999999999\r\n'],
  ])('%s passes with a prefix, and the next message is read', (_, noise) => {
    const [first, ...rest] = linesOf(noise + framed('{"a":1}'));
    expect(first?.trimEnd()).toBe(`${OUTSIDE}${noise.trimEnd()}`);
    expect(rest).toEqual(['{"a":1}']);
  });

  test('two different lengths are both rejected', () => {
    expect(linesOf('Content-Length: 7\r\nContent-Length: 8\r\n\r\n')).toEqual([`${OUTSIDE}Content-Length: 8\r`]);
  });

  test('a header without an end is passed on in pieces, not buffered', () => {
    const seen: number[] = [];
    const reader = createBodyReader((bytes) => seen.push(bytes.length));
    for (let k = 0; k < 1000; k++) reader.push(Buffer.alloc(1000, 'x'));
    expect(seen.length).toBeGreaterThan(900);
  });

  test('the split into chunks makes no difference', () => {
    const bodies = fc.array(fc.json({ stringUnit: 'grapheme' }), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(bodies, fc.array(fc.nat(400), { maxLength: 20 }), (texts, cuts) => {
        const bytes = Buffer.from(texts.map(framed).join(''));
        const places = [...new Set(cuts.map((cut) => cut % bytes.length))].sort((a, b) => a - b);
        const chunks = [0, ...places].map((start, k) => bytes.subarray(start, places[k] ?? bytes.length));
        expect(linesOf(...chunks)).toEqual(texts);
      }),
    );
  });

  test('a written message is read back unchanged', () => {
    fc.assert(
      fc.property(fc.array(fc.json({ stringUnit: 'grapheme' }), { minLength: 1 }), (texts) => {
        const write = createBodyWriter();
        expect(linesOf(...write(Buffer.from(`${texts.join('\n')}\n`)))).toEqual(texts);
      }),
    );
  });
});

/** Streams of which the test holds the other ends. */
function wires(): { source: Source & EventEmitter; sink: Sink; written: () => string } {
  const source = Object.assign(new EventEmitter(), { pause: () => {}, resume: () => {} });
  const written: Buffer[] = [];
  const events = new EventEmitter();
  const sink: Sink = {
    write: (chunk) => written.push(chunk) > 0,
    cork: () => {},
    uncork: () => {},
    end: () => {},
    writableLength: 0,
    on: (event: string, listener: (error: Error) => void) => events.on(event, listener),
  };
  return { source, sink, written: () => Buffer.concat(written).toString('utf8') };
}

describe('a connection framed by Content-Length', () => {
  function connectionOn(maxFrameBytes: number) {
    const { source, sink, written } = wires();
    const frames: string[] = [];
    const oversized: OversizedFrame[] = [];
    const refused: string[] = [];
    const text = ({ bytes, start, end }: Frame) => bytes.toString('utf8', start, end);
    const connection = createConnection(
      linesFromBodies(source),
      bodiesFromLines(sink),
      { scanner: new Scanner(), maxFrameBytes },
      {
        frame: (frame) => frames.push(text(frame)),
        refused: ({ reason }) => refused.push(reason),
        oversized: (frame) => oversized.push(frame),
        end: () => frames.push('end'),
      },
    );
    return { connection, source, written, frames, oversized, refused };
  }

  test('a message over the limit is skipped with its id, and the next one passes', () => {
    const { source, frames, oversized } = connectionOn(1000);
    const long = JSON.stringify({ jsonrpc: '2.0', id: 7, result: { text: 'x'.repeat(5000) } });
    const bytes = Buffer.from(framed(long) + framed('{"jsonrpc":"2.0","method":"a"}'));
    for (let at = 0; at < bytes.length; at += 333) source.emit('data', bytes.subarray(at, at + 333));
    expect(oversized).toEqual([{ kind: 'response', idText: '7', method: undefined, bytes: long.length }]);
    expect(frames).toEqual(['{"jsonrpc":"2.0","method":"a"}']);
  });

  test('a body that is incomplete at the end of the stream is refused', () => {
    const { source, frames, refused } = connectionOn(1000);
    source.emit('data', Buffer.from('Content-Length: 50\r\n\r\n{"jsonrpc":"2.0","me'));
    source.emit('end');
    expect(refused).toEqual(['not JSON']);
    expect(frames).toEqual(['end']);
  });

  test('a character split over two chunks arrives whole, and its length is counted in bytes', async () => {
    const { source, connection, written, frames } = connectionOn(1000);
    const body = '{"jsonrpc":"2.0","method":"größe €"}';
    const bytes = Buffer.from(framed(body));
    for (const byte of bytes) source.emit('data', Buffer.of(byte));
    expect(frames).toEqual([body]);
    connection.writer.line(`${body}\n`);
    await Promise.resolve();
    expect(written()).toBe(framed(body));
  });
});
