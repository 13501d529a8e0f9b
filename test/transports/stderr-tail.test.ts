// The last lines of an agent's stderr, redacted.
import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { createSecrets } from '../../src/redaction/redact.ts';
import { createRedactStream } from '../../src/redaction/redact-stream.ts';
import { createStderrTail, summaryLine } from '../../src/transports/stderr-tail.ts';
import fc from '../generated.ts';

async function tailOf(...chunks: readonly (string | Buffer)[]): Promise<readonly string[]> {
  const stderr = new PassThrough({ highWaterMark: 1 << 30 });
  const tail = createStderrTail(stderr);
  for (const chunk of chunks) stderr.write(chunk);
  await new Promise(setImmediate);
  return tail.lines();
}
const numbered = (count: number) => Array.from({ length: count }, (_, n) => `line ${n}`);

describe('the tail of stderr', () => {
  test('is empty if nothing was written', async () => {
    expect(await tailOf()).toEqual([]);
  });

  test('has all lines, including an incomplete last one', async () => {
    expect(await tailOf('one\ntwo\r\n\nthr')).toEqual(['one', 'two', '', 'thr']);
  });

  test('has the last 200 of many lines', async () => {
    const lines = numbered(1000);
    expect(await tailOf(`${lines.join('\n')}\n`)).toEqual(lines.slice(-200));
  });

  test('counts an incomplete line among them', async () => {
    const lines = numbered(1000);
    expect(await tailOf(lines.join('\n'))).toEqual(lines.slice(-200));
  });

  test('is the same however the output is split, even inside a character', async () => {
    const bytes = Buffer.from('é one\n\u{1f600} two\nthree é');
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat({ max: bytes.length })), async (places) => {
        const edges = [0, ...places.sort((a, b) => a - b), bytes.length];
        const chunks = edges.slice(1).map((edge, k) => bytes.subarray(edges[k], edge));
        expect(await tailOf(...chunks)).toEqual(['é one', '\u{1f600} two', 'three é']);
      }),
    );
  });

  test('is short even if a line never ends', async () => {
    const lines = await tailOf(...Array.from({ length: 200 }, () => 'x'.repeat(10_000)));
    expect(lines).toHaveLength(1);
    expect(lines[0]?.length).toBeLessThanOrEqual(2000);
  });

  test('is short even if every line is long', async () => {
    const lines = await tailOf(...Array.from({ length: 300 }, () => `${'x'.repeat(10_000)}\n`));
    expect(lines).toHaveLength(200);
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(2000);
  });

  test('has only the lines of the last milliseconds if asked for those, and counts back from the exit', async () => {
    const stderr = new PassThrough();
    let nowMs = 0;
    const tail = createStderrTail(stderr, undefined, undefined, () => nowMs);
    const wrote = async (text: string, ms: number) => {
      nowMs = ms;
      stderr.write(text);
      await new Promise(setImmediate);
    };
    await wrote('loaded 3 plugins\nready\n', 1000);
    await wrote('the disk is ', 5000);
    await wrote('full\nbye', 5500);
    expect(tail.lines(1000)).toEqual(['the disk is full', 'bye']);
    nowMs = 6000;
    tail.exited();
    nowMs = 60_000;
    expect(tail.lines(1000)).toEqual(['the disk is full', 'bye']);
    expect(tail.lines(499)).toEqual([]);
    expect(tail.lines()).toEqual(['loaded 3 plugins', 'ready', 'the disk is full', 'bye']);
  });

  test('survives a broken stream', async () => {
    const stderr = new PassThrough();
    const tail = createStderrTail(stderr);
    stderr.write('last words\n');
    await new Promise(setImmediate);
    stderr.destroy(new Error('EIO'));
    await new Promise(setImmediate);
    expect(tail.lines()).toEqual(['last words']);
  });
});

test('a secret is redacted whole, even if two writes or the length limit of a line would split it', async () => {
  const secrets = createSecrets();
  secrets.add('K', 'a-secret-of-some-length');
  const stderr = new PassThrough({ highWaterMark: 1 << 30 });
  const tail = createStderrTail(stderr, createRedactStream(secrets));
  stderr.write('it is a-secret-of');
  stderr.write(`-some-length\n${'x'.repeat(1990)}a-secret-of-some-length\nlast`);
  await new Promise(setImmediate);
  expect(tail.lines()).toEqual(['it is [redacted:K]', `${'x'.repeat(1990)}[redacted:`, 'last']);
});

describe('the last lines for an error message', () => {
  test.each([
    ['are the last line', ['loading', 'no key'], 'no key'],
    [
      'are the error, not the stack behind it',
      ['x.js:1', "Error: Cannot find module 'y'", '    at z (a.js:1:2)', '  code: 1', '}', 'Node.js v24.1.0'],
      "Error: Cannot find module 'y'",
    ],
    ['are what there is, where all of it is indented', ['  at', '  last'], 'last'],
    ['drive no terminal', ['\u001b[31mred\u001b[0m\u0007'], 'red'],
    ['are nothing where nothing was said', ['', ' '], undefined],
  ])('%s', (_, lines, words) => {
    expect(summaryLine(lines)).toBe(words);
  });

  test('are short', () => {
    expect(summaryLine(['x'.repeat(1000)])).toBe(`${'x'.repeat(199)}…`);
  });
});
