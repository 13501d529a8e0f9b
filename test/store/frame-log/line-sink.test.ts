// Appending lines to rotating log files.
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { createLineSink, type LineSinkOptions } from '../../../src/store/frame-log/line-sink.ts';
import { newStateDir, noProblem } from '../state.ts';

const DAY_MS = 86_400_000;

function sinkIn(dir: string, options: Partial<LineSinkOptions> = {}) {
  return createLineSink({
    ...{ dir, name: 'a', maxFileBytes: 1 << 20, maxTotalBytes: 1 << 24, maxAgeMs: DAY_MS, maxQueueBytes: 1 << 20, now: Date.now },
    onProblem: noProblem,
    ...options,
  });
}
const textIn = (dir: string) =>
  readdirSync(dir)
    .sort()
    .map((name) => readFileSync(path.join(dir, name), 'utf8'));

describe('lines', () => {
  test('are written whole and in order, to private files', async () => {
    const dir = newStateDir();
    const sink = sinkIn(dir);
    for (let n = 0; n < 1000; n++) sink.write(`line ${n} é\n`, 1);
    await sink.close();
    expect(textIn(dir)).toEqual([Array.from({ length: 1000 }, (_, n) => `line ${n} é\n`).join('')]);
    expect(statSync(path.join(dir, 'a.jsonl')).mode & 0o777).toBe(0o600);
    expect(statSync(dir).mode & 0o777).toBe(0o700);
  });

  test('after an empty flush are written', async () => {
    const dir = newStateDir();
    const sink = sinkIn(dir);
    await sink.flush();
    sink.write('first\n', 1);
    await sink.flush();
    await sink.flush();
    sink.write('second\n', 1);
    await sink.close();
    expect(textIn(dir)).toEqual(['first\nsecond\n']);
  });

  test('that come faster than the disk accepts them are dropped and counted', async () => {
    const dir = newStateDir();
    const sink = sinkIn(dir, { maxQueueBytes: 100, now: () => 7 });
    for (let n = 0; n < 30; n++) sink.write('0123456789\n', 1);
    sink.drop(2);
    await sink.close();
    const [text = ''] = textIn(dir);
    expect(text).toBe(`${'0123456789\n'.repeat(9)}${JSON.stringify({ t: 7, event: 'dropped', records: 23 })}\n`);
  });

  test('that fail to be written are counted, and half a minute later new lines follow the count', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const dir = newStateDir();
      const inTheWay = path.join(dir, 'frames');
      mkdirSync(dir, { recursive: true });
      writeFileSync(inTheWay, '');
      const problems: unknown[] = [];
      const sink = sinkIn(inTheWay, { now: () => 7, onProblem: (error) => problems.push(error) });
      sink.write('first\nsecond\n', 2);
      await sink.flush();
      sink.write('third\n', 1);
      await sink.flush();
      expect(problems).toHaveLength(1);
      rmSync(inTheWay);
      vi.advanceTimersByTime(30_000);
      sink.write('fourth\n', 1);
      await sink.close();
      expect(textIn(inTheWay)).toEqual([`fourth\n${JSON.stringify({ t: 7, event: 'dropped', records: 3 })}\n`]);
      expect(problems).toHaveLength(1);
    } finally {
      vi.useRealTimers();
    }
  });

  test('start a new file when one is full, and the oldest files are deleted when there are too many', async () => {
    const dir = newStateDir();
    const sink = sinkIn(dir, { maxFileBytes: 1000, maxTotalBytes: 3500, maxAgeMs: Number.POSITIVE_INFINITY });
    for (let n = 0; n < 10; n++) {
      sink.write(`${String(n).repeat(999)}\n`, 1);
      await sink.flush();
      // Files are ordered by modification time, and all of them are written in the same instant.
      for (const name of readdirSync(dir)) if (statSync(path.join(dir, name)).mtimeMs > 1e9) utimesSync(path.join(dir, name), n + 1, n + 1);
    }
    await sink.close();
    expect(textIn(dir).map(([first]) => first)).toEqual(['7', '8', '9']);
  });

  test('that are too old are deleted, even if there is room', async () => {
    const dir = newStateDir();
    mkdirSync(dir, { recursive: true });
    const [old, fresh] = ['old.jsonl', 'fresh.jsonl'].map((name) => path.join(dir, name)) as [string, string];
    for (const file of [old, fresh]) writeFileSync(file, 'x\n');
    utimesSync(old, 1, 1);
    const sink = sinkIn(dir);
    sink.write('y\n', 1);
    await sink.close();
    expect(readdirSync(dir).sort()).toEqual(['a.jsonl', 'fresh.jsonl']);
  });

  test('are not written through a symlink that another user placed', async () => {
    const dir = newStateDir();
    mkdirSync(dir, { recursive: true });
    symlinkSync(path.join(dir, 'elsewhere'), path.join(dir, 'a.jsonl'));
    const problems: unknown[] = [];
    const sink = sinkIn(dir, { onProblem: (error) => problems.push(error) });
    sink.write('x\n', 1);
    await sink.close();
    expect(problems).toEqual([expect.objectContaining({ cause: expect.objectContaining({ code: 'EEXIST' }) })]);
  });
});
