// The streams of a connection: pause, errors, the end, and a peer that must yield.
import { once } from 'node:events';
import { PassThrough, Writable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { createConnection } from '../../src/wire/connection.ts';
import { Scanner } from '../../src/wire/scanner/scanner.ts';
import { createRecorder } from './outputs.ts';

const scanner = new Scanner();

const MIB = 1024 * 1024;

describe('the streams of a connection', () => {
  const quiet = { frame() {}, refused() {}, oversized() {}, end() {} };

  test('a paused connection reports no frame until it is resumed, and then all of them', async () => {
    const input = new PassThrough();
    const frames: string[] = [];
    const connection = createConnection(
      input,
      createRecorder().output,
      { scanner, maxFrameBytes: MIB },
      { ...quiet, frame: (frame) => frames.push(frame.method as string) },
    );
    connection.pause();
    input.write('{"method":"a"}\n');
    await new Promise(setImmediate);
    input.write('{"method":"b"}\n');
    await new Promise(setImmediate);
    expect(frames).toEqual([]);
    connection.resume();
    input.end('{"method":"c"}\n');
    await once(input, 'end');
    expect(frames).toEqual(['a', 'b', 'c']);
  });

  test('an input error is reported, and the end is reported once', async () => {
    const input = new PassThrough();
    const events: string[] = [];
    createConnection(
      input,
      createRecorder().output,
      { scanner, maxFrameBytes: MIB },
      {
        ...quiet,
        end: () => events.push('end'),
        error: ({ message: text }) => events.push(text),
      },
    );
    input.destroy(new Error('EIO'));
    await new Promise((resolve) => input.on('close', resolve));
    await new Promise(setImmediate);
    expect(events).toEqual(['EIO', 'end']);
  });

  test('an input that closes without an end counts as ended', async () => {
    const input = new PassThrough();
    const ended = new Promise<void>((end) =>
      createConnection(input, createRecorder().output, { scanner, maxFrameBytes: MIB }, { ...quiet, end }),
    );
    input.destroy();
    await ended;
  });

  test('a full output, a drained output and an output error are reported', async () => {
    const events: string[] = [];
    let take = () => {};
    const output = new Writable({
      highWaterMark: 4,
      write(chunk: Buffer, _, done) {
        take = () => done(chunk.includes('last') ? new Error('EPIPE') : null);
      },
    });
    const connection = createConnection(
      new PassThrough(),
      output,
      { scanner, maxFrameBytes: MIB },
      {
        ...quiet,
        full: () => events.push('full'),
        drain: () => events.push('drain'),
        error: ({ message: text }) => events.push(text),
      },
    );
    connection.writer.line('{"first":1}\n');
    await new Promise(setImmediate);
    take();
    await new Promise(setImmediate);
    connection.writer.line('{"last":1}\n');
    await new Promise(setImmediate);
    take();
    await new Promise(setImmediate);
    expect(events).toEqual(['full', 'drain', 'full', 'EPIPE']);
  });
});

describe('a connection that must yield', () => {
  /** Handles one line a turn of the event loop. */
  function slow() {
    const seen: string[] = [];
    let isUsedUp = false;
    const input = new PassThrough();
    let over = () => {};
    const ended = new Promise<void>((resolve) => {
      over = resolve;
    });
    const connection = createConnection(
      input,
      createRecorder().output,
      { scanner, maxFrameBytes: MIB },
      {
        frame(frame) {
          seen.push(String(frame.method));
          isUsedUp = true;
          setImmediate(() => {
            isUsedUp = false;
          });
        },
        refused() {},
        oversized() {},
        mustYield: () => isUsedUp,
        end: () => over(),
      },
    );
    return { seen, input, connection, ended };
  }
  const lines = (...methods: readonly string[]) => methods.map((method) => `{"method":"${method}"}\n`).join('');
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

  test('handles the rest of a chunk later, in order, and reads nothing more until then', async () => {
    const { seen, input, ended } = slow();
    input.write(lines('a', 'b', 'c'));
    await turn();
    const isReading = input.isPaused();
    input.write(lines('d', 'e'));
    input.end();
    await ended;
    expect([isReading, seen]).toEqual([true, ['a', 'b', 'c', 'd', 'e']]);
  });

  test('stays paused if it was paused meanwhile, and goes on when it is resumed', async () => {
    const { seen, input, connection, ended } = slow();
    input.write(lines('a', 'b'));
    await turn();
    connection.pause();
    for (let n = 0; n < 10; n++) await turn();
    input.write(lines('c'));
    for (let n = 0; n < 10; n++) await turn();
    expect([seen, input.isPaused()]).toEqual([['a', 'b'], true]);
    connection.resume();
    input.end();
    await ended;
    expect(seen).toEqual(['a', 'b', 'c']);
  });

  test('handles what waits before it reports the end', async () => {
    const { seen, input, ended } = slow();
    input.write(lines('a', 'b', 'c', 'd'));
    await turn();
    input.destroy();
    await ended;
    expect(seen).toEqual(['a', 'b', 'c', 'd']);
  });
});
