// Numbers of the charts.
import { expect, test } from 'vitest';
import { agentsIn, binned, countsOver, meanIn, quantile, sumOver } from '../../console/components/records/numbers.ts';

const turn = (agent: string, ...counts: readonly number[]) => ({ key: 'turnSeconds', labels: [agent], value: 2, counts });
const ended = (agent: string, value: number) => ({ key: 'turns', labels: [agent, 'end_turn'], value });
const memory = (value: number) => ({ key: 'memory', labels: ['rss'], value });

test('quantiles are those of Prometheus: evenly within a bucket, and the last bound where there is no upper one', () => {
  expect(quantile(0.5, [0, 4, 0], [1, 2])).toBe(1.5);
  expect(quantile(0.95, [10, 10, 0], [1, 2])).toBeCloseTo(1.9);
  expect(quantile(0.5, [0, 0, 3], [1, 2])).toBe(2);
  expect(quantile(0, [0, 1], [1])).toBe(1);
  expect(quantile(0.5, [0, 0, 0], [1, 2])).toBeUndefined();
  expect(quantile(0.5, [], [])).toBeUndefined();
});

test('sums and means are of the wanted series', () => {
  const intervals = [
    { at: 5000, ms: 5000, gains: [ended('a', 2), ended('b', 1), turn('a', 1, 1), memory(7)] },
    { at: 10_000, ms: 5000, gains: [turn('a', 0, 1), memory(9)] },
  ];
  expect(sumOver(intervals, 'turns')).toBe(3);
  expect(sumOver(intervals, 'turns', ([agent]) => agent === 'b')).toBe(1);
  expect(countsOver(intervals, 'turnSeconds', ([agent]) => agent === 'a')).toEqual([1, 2]);
  expect(intervals.map((interval) => meanIn(interval, 'turnSeconds', ([agent]) => agent === 'a'))).toEqual([1, 2]);
  expect(meanIn(intervals[0] as never, 'turnSeconds', ([agent]) => agent === 'b')).toBeUndefined();
  expect(agentsIn(intervals)).toEqual(['a', 'b']);
});

test('a line has a bounded number of points; nothing is lost in them, and a gauge is not added up', () => {
  const intervals = Array.from({ length: 720 }, (_, n) => ({ at: (n + 1) * 5000, ms: 5000, gains: [ended('a', 1), memory(n)] }));
  const points = binned(intervals, 0, 3_600_000);
  expect(points.length).toBeLessThanOrEqual(181);
  expect(sumOver(points, 'turns')).toBe(720);
  expect(points.reduce((sum, { ms }) => sum + ms, 0)).toBe(3_600_000);
  expect(sumOver(points.slice(-1), 'memory')).toBe(719);
  expect(binned([], 0, 1000)).toEqual([]);
});
