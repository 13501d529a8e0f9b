// Numbers of the charts, computed from the intervals that the server sends.
import type { ChartGain, ChartInterval } from '../../../src/console/protocol/charts.ts';

export type Intervals = readonly ChartInterval[];
/** Which series of a metric count. */
export type Wanted = (labels: readonly string[]) => boolean;

const ANY: Wanted = () => true;
/** Points of a line. */
const MOST_POINTS = 180;

export const gainsOf = ({ gains }: ChartInterval, key: string, wanted: Wanted = ANY): readonly ChartGain[] =>
  gains.filter((gain) => gain.key === key && wanted(gain.labels));

/** What a metric gained; of gauges, the sum of their values. */
export const sumIn = (interval: ChartInterval, key: string, wanted?: Wanted): number =>
  gainsOf(interval, key, wanted).reduce((sum, { value }) => sum + value, 0);

export const sumOver = (intervals: Intervals, key: string, wanted?: Wanted): number =>
  intervals.reduce((sum, interval) => sum + sumIn(interval, key, wanted), 0);

/** How many values a histogram got, by bucket. */
export function countsOver(intervals: Intervals, key: string, wanted?: Wanted): readonly number[] {
  const sums: number[] = [];
  for (const interval of intervals)
    for (const { counts = [] } of gainsOf(interval, key, wanted))
      for (const [index, count] of counts.entries()) sums[index] = (sums[index] ?? 0) + count;
  return sums;
}

/** As Prometheus does it: evenly within a bucket; the last bucket has no upper bound, so its lower one is the answer. */
export function quantile(share: number, counts: readonly number[], bounds: readonly number[]): number | undefined {
  const all = counts.reduce((sum, count) => sum + count, 0);
  if (all === 0) return undefined;
  let rest = share * all;
  for (const [index, count] of counts.entries()) {
    const [low, high] = [index === 0 ? 0 : (bounds[index - 1] ?? 0), bounds[index]];
    if (high === undefined) return low;
    if (rest <= count && count > 0) return low + ((high - low) * rest) / count;
    rest -= count;
  }
  return bounds.at(-1);
}

/** The mean of a histogram's values; undefined without values. */
export function meanIn(interval: ChartInterval, key: string, wanted?: Wanted): number | undefined {
  const gains = gainsOf(interval, key, wanted);
  const count = gains.flatMap(({ counts = [] }) => counts).reduce((sum, one) => sum + one, 0);
  return count === 0 ? undefined : gains.reduce((sum, { value }) => sum + value, 0) / count;
}

/** Fewer, longer intervals, so that a line has at most as many points as it can show. */
export function binned(intervals: Intervals, fromMs: number, toMs: number): ChartInterval[] {
  const size = Math.max(1, (toMs - fromMs) / MOST_POINTS);
  const bins = new Map<number, ChartInterval[]>();
  for (const interval of intervals) {
    const bin = Math.floor(interval.at / size);
    const known = bins.get(bin);
    if (known) known.push(interval);
    else bins.set(bin, [interval]);
  }
  return [...bins.values()].map((parts) => {
    const last = parts.at(-1) as ChartInterval;
    if (parts.length === 1) return last;
    // Gauges count once, with their last value.
    const gauges = new Set(last.gains.filter(isSteady).map(({ key }) => key));
    const gains = parts.flatMap((part) => (part === last ? part.gains : part.gains.filter(({ key }) => !gauges.has(key))));
    return { at: last.at, ms: parts.reduce((sum, { ms }) => sum + ms, 0), gains };
  });
}

const GAUGES = new Set(['sessions', 'agents', 'clients', 'queueLength', 'memory', 'eventLoopDelay', 'buildInfo', 'startTime']);
const isSteady = ({ key }: ChartGain): boolean => GAUGES.has(key);

const WITH_AGENT = new Set(['agents', 'turns', 'agentStarts', 'agentFailures', 'toolCalls', 'tokens', 'cost']);

/** The agents that did something or could. */
export const agentsIn = (intervals: Intervals): readonly string[] =>
  [
    ...new Set(intervals.flatMap(({ gains }) => gains.flatMap(({ key, labels }) => (WITH_AGENT.has(key) && labels[0] ? [labels[0]] : [])))),
  ].sort();
