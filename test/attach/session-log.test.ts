import { expect, test } from 'vitest';
import { createSessionLog } from '../../src/attach/session-log.ts';

const lines = (log: ReturnType<typeof createSessionLog>) => Buffer.concat([...log.blocks()]).toString();

test('keeps whole lines in order, from buffers and from texts', () => {
  const log = createSessionLog(1 << 20, undefined);
  const chunk = Buffer.from('skip\none\ntwo\n');
  log.add(chunk, 5, chunk.length);
  chunk.fill(0); // it has its own copy
  log.line('thrée\n');
  expect(lines(log)).toBe('one\ntwo\nthrée\n');
  expect(log.bytes).toBe(Buffer.byteLength('one\ntwo\nthrée\n'));
});

test('a long turn loses its oldest lines, and says how much', () => {
  const log = createSessionLog(200_000, undefined);
  const line = `${'x'.repeat(999)}\n`;
  for (let k = 0; k < 1000; k++) log.line(line);
  expect(log.bytes).toBeLessThanOrEqual(200_000);
  expect(log.bytes + log.omittedBytes).toBe(1_000_000);
  expect(lines(log).length).toBe(log.bytes);
  expect(lines(log).startsWith(line)).toBe(true);
});

test('a line longer than a block stays whole', () => {
  const log = createSessionLog(1 << 20, undefined);
  log.line('a\n');
  log.line(`${'y'.repeat(100_000)}\n`);
  log.line('b\n');
  expect(lines(log)).toBe(`a\n${'y'.repeat(100_000)}\nb\n`);
});

test('lines that the transcript has are dropped', () => {
  const log = createSessionLog(1 << 20, 10);
  expect(log.before).toBe(10);
  log.line('old\n');
  log.replacedBy(99);
  log.line('new\n');
  expect([log.before, lines(log), log.bytes]).toEqual([99, 'new\n', 4]);
});
