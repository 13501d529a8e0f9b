import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { createConnection } from '../../src/wire/connection.ts';
import type { Frame } from '../../src/wire/frame.ts';
import { joinObservers, type Observer } from '../../src/wire/observer.ts';
import { type FrameBatch, framesOf } from '../../src/wire/scanner/frame-batch.ts';
import { Scanner } from '../../src/wire/scanner/scanner.ts';
import { createRecorder } from './outputs.ts';

const chunk = (text: string) =>
  `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"${text}"}}}}\n`;
const textsOf = (frames: readonly Frame[]) => frames.map(({ bytes, text }) => bytes.toString('utf8', text?.start, text?.end));

/** A connection whose peer sends chunks of a message, after one that shows how they are written. */
async function send(texts: readonly string[], observer: Observer | undefined, takes: ((batch: FrameBatch) => boolean) | undefined) {
  const input = new PassThrough();
  const frames: Frame[] = [];
  const on = { frame: (frame: Frame) => void frames.push(frame), refused: () => {}, oversized: () => {}, end: () => {} };
  const scanner = new Scanner();
  createConnection(
    input,
    createRecorder().output,
    { scanner, maxFrameBytes: 1 << 20, ...(observer && { observer }) },
    { ...on, ...(takes && { batch: takes }) },
  );
  scanner.scan(Buffer.from(chunk('first')), 0);
  input.write(texts.map(chunk).join(''));
  await new Promise(setImmediate);
  return textsOf(frames);
}
function createObserver(seen: string[]): Observer {
  return {
    received: (frame) => void seen.push(...textsOf([frame])),
    sent: (frame) => void seen.push(...textsOf([frame])),
    refused: () => {},
    sentLine: () => {},
  };
}

describe('frames that differ in their text only', () => {
  const three = ['a', 'b', 'c'];
  const quoted = ['"a"', '"b"', '"c"'];

  test('are reported together to those who take them, and else one by one', async () => {
    const batches: FrameBatch[] = [];
    const taken = (batch: FrameBatch) => batches.push(batch) > 0;
    expect(await send(three, undefined, taken)).toEqual([]);
    expect(batches.map((batch) => textsOf(framesOf(batch)))).toEqual([quoted]);
    expect(await send(three, undefined, () => false)).toEqual(quoted);
    expect(await send(three, undefined, undefined)).toEqual(quoted);
  });

  test.each([true, false])('are observed once each, also by observers that take them one by one (taken: %s)', async (isTaken) => {
    const [batched, single, skipped]: string[][] = [[], [], []];
    const observer = joinObservers(
      [
        { ...createObserver([]), receivedBatch: (batch) => void batched?.push(...textsOf(framesOf(batch))) },
        createObserver(single ?? []),
        { ...createObserver(skipped ?? []), skips: { receivedNotes: true } },
      ],
      () => {},
    );
    await send(three, observer, () => isTaken);
    expect([batched, single, skipped]).toEqual([quoted, quoted, []]);
  });

  test('an observer that throws is reported and not called again, and the others go on', async () => {
    const seen: string[] = [];
    const problems: unknown[] = [];
    const broken = {
      ...createObserver([]),
      receivedBatch() {
        throw new Error('full');
      },
    };
    const observer = joinObservers([broken, createObserver(seen)], (error) => problems.push(error));
    expect(await send(three, observer, () => true)).toEqual([]);
    expect([seen, problems.length]).toEqual([quoted, 1]);
    await send(three, observer, () => true);
    expect([seen.length, problems.length]).toEqual([6, 1]);
  });

  test('are written byte for byte, in order with what else is written, and observed as sent', async () => {
    const batches: FrameBatch[] = [];
    await send(three, undefined, (batch) => batches.push(batch) > 0);
    const seen: string[] = [];
    const { output, text: written } = createRecorder();
    const on = { frame: () => {}, refused: () => {}, oversized: () => {}, end: () => {} };
    const observer = createObserver(seen);
    const { writer } = createConnection(new PassThrough(), output, { scanner: new Scanner(), maxFrameBytes: 1 << 20, observer }, on);
    writer.line('before\n');
    writer.batch(batches[0] as FrameBatch);
    writer.line('behind\n');
    await new Promise(setImmediate);
    expect(written()).toBe(`before\n${three.map(chunk).join('')}behind\n`);
    expect(seen).toEqual(quoted);
  });
});
