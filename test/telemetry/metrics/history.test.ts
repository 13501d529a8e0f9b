// What each interval added to the metrics.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { keepHistory } from '../../../src/telemetry/metrics/history.ts';
import { createRegistry } from '../../../src/telemetry/metrics/registry.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('an interval has what counters and histograms gained in it, and the values of gauges at its end', () => {
  const registry = createRegistry();
  registry.add('turns', ['claude', 'end_turn'], 7);
  const history = keepHistory(registry, Date.now, 5000);
  registry.add('turns', ['claude', 'end_turn']);
  registry.observe('turnSeconds', ['claude'], 0.2);
  registry.series('clients').value = 3;
  vi.advanceTimersByTime(5000);
  vi.advanceTimersByTime(5000);
  const [first, second] = history.intervals();
  expect(first?.ms).toBe(5000);
  expect(first?.gains).toEqual([
    { key: 'clients', labels: [], value: 3 },
    { key: 'turns', labels: ['claude', 'end_turn'], value: 1 },
    { key: 'turnSeconds', labels: ['claude'], value: 0.2, counts: [0, 1, ...new Array(12).fill(0)] },
  ]);
  expect(second?.gains).toEqual([{ key: 'clients', labels: [], value: 3 }]);
  history.stop();
});

test('after an hour, intervals are merged; after a day they are dropped, and nothing is counted twice', () => {
  const registry = createRegistry();
  const history = keepHistory(registry, Date.now, 5000);
  const total = () =>
    history
      .intervals()
      .flatMap(({ gains }) => gains.filter(({ key }) => key === 'turns'))
      .reduce((sum, { value }) => sum + value, 0);
  for (let n = 0; n < 2000; n++) {
    registry.add('turns', ['claude', 'end_turn']);
    registry.observe('turnSeconds', ['claude'], 0.2);
    registry.series('clients').value = n;
    vi.advanceTimersByTime(5000);
  }
  expect(total()).toBe(2000);
  const [oldest] = history.intervals();
  expect(oldest).toMatchObject({ ms: 120_000, at: expect.any(Number) });
  expect(oldest?.gains.find(({ key }) => key === 'clients')?.value).toBe(23);
  expect(oldest?.gains.find(({ key }) => key === 'turnSeconds')?.counts?.[1]).toBe(24);
  expect(history.intervals().length).toBeLessThan(850);
  vi.advanceTimersByTime(26 * 3_600_000);
  expect(total()).toBe(0);
  expect(history.intervals().length).toBeLessThanOrEqual(720 + 720 + 24);
  history.stop();
});

test('a page that opens ends the current interval early, but not again within a second', () => {
  const history = keepHistory(createRegistry(), Date.now, 5000);
  const heard: number[] = [];
  const end = history.onInterval(({ ms }) => heard.push(ms));
  vi.advanceTimersByTime(2000);
  history.sample();
  history.sample();
  end();
  vi.advanceTimersByTime(5000);
  expect(heard).toEqual([2000]);
  history.stop();
});
