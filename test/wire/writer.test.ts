// The writer: one write per chunk, patches, back-pressure and errors.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { PassThrough, Writable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import type { Frame } from '../../src/wire/frame.ts';
import { strictParse } from '../../src/wire/scanner/strict-parse.ts';
import { createWriter, type Patch } from '../../src/wire/writer.ts';
import fc from '../generated.ts';
import { message, seeded } from './odd-json.ts';
import { createRecorder, createSlowOutput } from './outputs.ts';

const tick = () => Promise.resolve();

/** The messages in `lines`, as in one chunk. */
function framesOf(lines: readonly string[]): Frame[] {
  const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
  const frames: Frame[] = [];
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(0x0a, start);
    const decided = strictParse(bytes, start, end);
    if (!('why' in decided)) frames.push(decided);
    start = end + 1;
  }
  return frames;
}
const frameOf = (line: string): Frame => framesOf([line])[0] as Frame;

describe('one write per chunk', () => {
  test('frames, patched frames and our own lines are written together, in order', async () => {
    const { output, calls, text } = createRecorder();
    const writer = createWriter(output);
    const [a, b, c] = framesOf(['{"id":1,"result":1}', '{"id":2,"result":2}', '{"id":3,"result":3}']) as [Frame, Frame, Frame];
    writer.frame(a);
    writer.line('{"ours":true}\n');
    writer.frame(b, [{ span: b.id as Patch['span'], text: '"zwei"' }]);
    writer.frame(c);
    expect(calls).toEqual([]);
    await tick();
    expect(calls).toHaveLength(1);
    expect(text()).toBe('{"id":1,"result":1}\n{"ours":true}\n{"id":"zwei","result":2}\n{"id":3,"result":3}\n');
  });

  test('a thousand frames are one write, and the next batch is a second one', async () => {
    const { output, calls } = createRecorder();
    const writer = createWriter(output);
    const frames = framesOf(Array.from({ length: 1000 }, (_, n) => `{"id":${n},"result":null}`));
    for (const frame of frames) writer.frame(frame, [{ span: frame.id as Patch['span'], text: '0' }]);
    await tick();
    expect(calls).toHaveLength(1);
    writer.line('{}\n');
    await tick();
    expect(calls).toHaveLength(2);
  });

  test('unchanged neighbours are written as the chunk they arrived in', async () => {
    const { output, calls } = createRecorder();
    const writer = createWriter(output);
    const frames = framesOf(['{"id":1,"result":1}', '{"method":"m"}', '{"id":3,"result":3}']);
    for (const frame of frames) writer.frame(frame);
    await tick();
    expect(calls).toHaveLength(1);
    expect(calls[0]).toHaveLength(1);
    expect(calls[0]?.[0]?.buffer).toBe(frames[0]?.bytes.buffer);
  });

  test('a frame of the chunk that is not forwarded is not written', async () => {
    const { output, text } = createRecorder();
    const writer = createWriter(output);
    const [first, , third] = framesOf(['{"id":1,"result":1}', '{"method":"not this one"}', '{"id":3,"result":3}']) as [Frame, Frame, Frame];
    writer.frame(first);
    writer.frame(third);
    await tick();
    expect(text()).toBe('{"id":1,"result":1}\n{"id":3,"result":3}\n');
  });

  test('parts above the copy limit are written in one vectored write without a copy', async () => {
    const { output, calls, text } = createRecorder({ highWaterMark: 64 * 1024 * 1024 });
    const writer = createWriter(output);
    const big = frameOf(`{"id":1,"method":"m","params":{"sessionId":"s","t":"${'y'.repeat(1_000_000)}"}}`);
    writer.line('{"first":1}\n');
    writer.frame(big, [
      { span: big.id as Patch['span'], text: '41' },
      { span: big.sessionId as Patch['span'], text: '"native"' },
    ]);
    writer.line('{"last":1}\n');
    await tick();
    expect(calls).toHaveLength(1);
    const whole = (calls[0] ?? []).filter((part) => part.length > 500_000);
    expect(whole).toHaveLength(1);
    expect(whole[0]?.buffer).toBe(big.bytes.buffer);
    expect(text()).toBe(`{"first":1}\n{"id":41,"method":"m","params":{"sessionId":"native","t":"${'y'.repeat(1_000_000)}"}}\n{"last":1}\n`);
  });
});

describe('patches', () => {
  test('leave all other bytes unchanged', async () => {
    const seeds = fc.array(fc.integer(), { minLength: 1, maxLength: 8 });
    const replacement = fc.oneof(
      fc.nat().map(String),
      fc.string().map((text) => JSON.stringify(text)),
      fc.constant(''),
    );
    await fc.assert(
      fc.asyncProperty(seeds, fc.infiniteStream(fc.tuple(fc.boolean(), fc.boolean(), replacement, replacement)), async (all, choices) => {
        const { output, calls, bytes } = createRecorder();
        const writer = createWriter(output);
        const expected: Buffer[] = [];
        for (const frame of framesOf(all.map((seed) => message(seeded(seed))))) {
          const [patchId, patchSession, idText, sessionText] = choices.next().value;
          const patches: Patch[] = [
            ...(patchId && frame.id ? [{ span: frame.id, text: idText }] : []),
            ...(patchSession && frame.sessionId ? [{ span: frame.sessionId, text: sessionText }] : []),
          ].sort((a, b) => a.span.start - b.span.start);
          writer.frame(frame, patches);
          let at = frame.start;
          for (const { span, text } of patches) {
            expected.push(frame.bytes.subarray(at, span.start), Buffer.from(text));
            at = span.end;
          }
          expected.push(frame.bytes.subarray(at, frame.end), Buffer.from('\n'));
        }
        expect(writer.queuedBytes()).toBe(Buffer.concat(expected).length);
        await tick();
        expect(bytes().equals(Buffer.concat(expected))).toBe(true);
        expect(calls.length).toBeLessThanOrEqual(1);
      }),
      { numRuns: 1000 },
    );
  });

  test('text outside ASCII is counted in bytes', async () => {
    const { output, text } = createRecorder();
    const writer = createWriter(output);
    const frame = frameOf('{"id":1,"method":"m"}');
    writer.frame(frame, [{ span: frame.id as Patch['span'], text: '"\u{1f600}é\u2028"' }]);
    writer.line('{"t":"ü"}\n');
    expect(writer.queuedBytes()).toBe(Buffer.byteLength('{"id":"\u{1f600}é\u2028","method":"m"}\n{"t":"ü"}\n'));
    await tick();
    expect(text()).toBe('{"id":"\u{1f600}é\u2028","method":"m"}\n{"t":"ü"}\n');
  });
});

describe('back-pressure', () => {
  test('a full output is reported once per batch, and again when it has drained', async () => {
    const { output, take, text } = createSlowOutput(16);
    const events: string[] = [];
    const writer = createWriter(output, { full: () => events.push('full'), drain: () => events.push('drain') });
    writer.line('{"small":1}\n');
    await tick();
    expect(events).toEqual([]);
    writer.line('{"more":"than sixteen bytes"}\n');
    writer.line('{"and":"more"}\n');
    await tick();
    expect(events).toEqual(['full']);
    expect(writer.queuedBytes()).toBe(output.writableLength);
    const drained = once(output, 'drain');
    take();
    await new Promise(setImmediate);
    take();
    await drained;
    expect(events).toEqual(['full', 'drain']);
    expect(writer.queuedBytes()).toBe(0);
    expect(text()).toBe('{"small":1}\n{"more":"than sixteen bytes"}\n{"and":"more"}\n');
  });

  test('a large batch reports full if its last part does', async () => {
    const { output } = createSlowOutput(16);
    let fulls = 0;
    const writer = createWriter(output, { full: () => fulls++ });
    for (let n = 0; n < 4; n++) writer.frame(frameOf(`{"method":"m","params":"${'x'.repeat(100_000)}"}`));
    await tick();
    expect(fulls).toBe(1);
    expect(writer.queuedBytes()).toBeGreaterThan(400_000);
  });

  test('queuedBytes counts what waits, so that a limit can be enforced', () => {
    const writer = createWriter(createRecorder().output);
    expect(writer.queuedBytes()).toBe(0);
    writer.line('12345\n');
    writer.line('é\n');
    expect(writer.queuedBytes()).toBe(9);
  });
});

describe('a frame written during a write', () => {
  test('reaches a peer in the same process that answers synchronously', async () => {
    // A stream in flowing mode delivers a chunk inside write(), and its reader may cause the next line.
    const received: string[] = [];
    const pair = new PassThrough();
    const writer = createWriter(pair);
    pair.on('data', (chunk: Buffer) => {
      received.push(chunk.toString());
      if (chunk.includes('question')) writer.line('{"answer":1}\n');
    });
    await new Promise(setImmediate);
    writer.line('{"question":1}\n');
    await new Promise(setImmediate);
    expect(received.join('')).toBe('{"question":1}\n{"answer":1}\n');
    expect(writer.queuedBytes()).toBe(0);
  });

  test('is not lost when the full event caused it', async () => {
    const { output, text, take } = createSlowOutput(4);
    let fulls = 0;
    const writer = createWriter(output, {
      full() {
        if (fulls++ === 0) writer.line('{"notice":1}\n');
      },
    });
    writer.line('{"first":1}\n');
    for (let n = 0; n < 3; n++) {
      await new Promise(setImmediate);
      take();
    }
    expect(text()).toBe('{"first":1}\n{"notice":1}\n');
    expect(writer.queuedBytes()).toBe(0);
  });
});

describe('an output error', () => {
  test('is reported, and later writes do not throw', async () => {
    const broken = Object.assign(new Error('write EPIPE'), { code: 'EPIPE' });
    const output = new Writable({ write: (_chunk, _encoding, done) => done(broken) });
    const errors: Error[] = [];
    let fulls = 0;
    const writer = createWriter(output, { error: (error) => errors.push(error), full: () => fulls++ });
    writer.line('{}\n');
    await new Promise(setImmediate);
    expect(errors).toEqual([broken]);
    fulls = 0;
    writer.line('{}\n');
    writer.frame(frameOf('{"id":1,"result":1}'));
    await new Promise(setImmediate);
    writer.end();
    writer.line('{}\n');
    await new Promise(setImmediate);
    expect(errors).toHaveLength(1);
    expect(fulls, 'full, though nothing will ever drain').toBe(0);
    expect(writer.queuedBytes()).toBe(0);
  });

  test('needs no listener', async () => {
    const output = new Writable({ write: (_chunk, _encoding, done) => done(new Error('EPIPE')) });
    const writer = createWriter(output);
    writer.line('{}\n');
    await new Promise((resolve) => output.on('close', resolve));
    expect(output.errored?.message).toBe('EPIPE');
  });

  test('is reported for a real pipe without a reader', async () => {
    const child = spawn(process.execPath, ['-e', ''], { stdio: ['pipe', 'ignore', 'ignore'] });
    const errors: NodeJS.ErrnoException[] = [];
    const writer = createWriter(child.stdin, { error: (error) => errors.push(error) });
    const gone = once(child, 'exit');
    for (let n = 0; n < 100; n++) writer.line(`{"t":"${'x'.repeat(10_000)}"}\n`);
    await gone;
    writer.line('{}\n');
    await new Promise(setImmediate);
    writer.end();
    await new Promise(setImmediate);
    for (const error of errors) expect(['EPIPE', 'ECONNRESET', 'ERR_STREAM_DESTROYED']).toContain(error.code);
  });
});

test('end writes everything queued before it, and nothing is written after it', async () => {
  const { output, text } = createRecorder();
  const writer = createWriter(output);
  const finished = once(output, 'finish');
  writer.line('{"a":1}\n');
  writer.end();
  writer.line('{"late":1}\n');
  await finished;
  await new Promise(setImmediate);
  expect(text()).toBe('{"a":1}\n');
});
