// What `ps` prints where there is no /proc; any Unix has it.
import { expect, test } from 'vitest';
import { readPs, rowsByPs, startTimeByPs } from '../../../src/platform/macos/ps.ts';

test('the output of ps is parsed: times with days and with hundredths', () => {
  const rows = readPs('  12     1   12  3400   1-02:03:04\n  13 12 12 100 0:01.50\nnot a line\n');
  expect(rows.map(({ pid, parent, group, cpuMs, memoryBytes }) => [pid, parent, group, cpuMs, memoryBytes()])).toEqual([
    [12, 1, 12, 93_784_000, 3_481_600],
    [13, 12, 12, 1500, 102_400],
  ]);
});

test.skipIf(process.platform === 'win32')('this process is found, with its start', () => {
  expect(rowsByPs().find(({ pid }) => pid === process.pid)).toMatchObject({ parent: process.ppid });
  expect(startTimeByPs(process.pid)).toMatch(/\d\d:\d\d:\d\d/);
  expect(startTimeByPs(process.pid)).toBe(startTimeByPs(process.pid));
});
