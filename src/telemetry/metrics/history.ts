// The recent past of the metrics, for charts: what each interval added to the numbers of /metrics.
import { METRICS, type Metric, type MetricKey } from './definitions.ts';
import type { Family, Registry } from './registry.ts';

/** What a series gained in an interval; of a gauge, its value at the end. */
export type Gain = {
  readonly key: MetricKey;
  readonly labels: readonly string[];
  /** Of a histogram: the sum of what was observed. */
  readonly value: number;
  /** Of a histogram: by bucket, as in the registry. */
  readonly counts?: readonly number[];
};

export type Interval = {
  /** Its end, in milliseconds since 1970. */
  readonly at: number;
  readonly ms: number;
  /** Counters and histograms that did not change are left out. */
  readonly gains: readonly Gain[];
};

export type History = {
  /** Upper bounds of the histograms' buckets, by metric. */
  readonly buckets: Readonly<Record<string, readonly number[]>>;
  /** Oldest first. The last hour in short intervals, the day before it in long ones. */
  intervals(): readonly Interval[];
  /** Calls `then` with each new interval. Returns how to end that. */
  onInterval(then: (interval: Interval) => void): () => void;
  /** Ends the current interval early, unless it has just begun. */
  sample(): void;
  stop(): void;
};

export const EVERY_MS = 5000;
/** One hour of short intervals. */
const KEPT = 720;
/** Short intervals in a long one: two minutes. */
const IN_LONG = 24;
/** One day. */
const KEPT_LONG = 720;
const SHORTEST_MS = 1000;

const BUCKETS = Object.fromEntries(
  Object.entries(METRICS).flatMap(([key, { buckets }]: [string, Metric]) => (buckets ? [[key, buckets] as const] : [])),
);

export function keepHistory(registry: Registry, now: () => number, everyMs = EVERY_MS): History {
  const short: Interval[] = [];
  const long: Interval[] = [];
  const listeners = new Set<(interval: Interval) => void>();
  let before = totalsOf(registry.collect());
  let lastAt = Math.round(now());

  function add(): void {
    const at = Math.round(now());
    const families = registry.collect();
    const interval = { at, ms: at - lastAt, gains: gainsOf(families, before) };
    before = totalsOf(families);
    lastAt = at;
    short.push(interval);
    if (short.length >= KEPT + IN_LONG) {
      long.push(merge(short.splice(0, IN_LONG)));
      if (long.length > KEPT_LONG) long.shift();
    }
    for (const listener of listeners) listener(interval);
  }
  const timer = setInterval(add, everyMs).unref();
  return {
    buckets: BUCKETS,
    intervals: () => [...long, ...short],
    onInterval(then) {
      listeners.add(then);
      return () => void listeners.delete(then);
    },
    sample() {
      if (now() - lastAt >= SHORTEST_MS) add();
    },
    stop: () => clearInterval(timer),
  };
}

type Totals = ReadonlyMap<MetricKey, ReadonlyMap<string, Omit<Gain, 'key' | 'labels'>>>;

const nameOf = (labels: readonly string[]): string => labels.join('\u0000');

const totalsOf = (families: readonly Family[]): Totals =>
  new Map(
    families.map(({ key, series }) => [
      key,
      new Map(series.map(({ labels, value, counts }) => [nameOf(labels), { value, counts: [...counts] }])),
    ]),
  );

function gainsOf(families: readonly Family[], before: Totals): Gain[] {
  return families.flatMap(({ key, metric, series }) =>
    series.flatMap(({ labels, value, counts }): Gain[] => {
      if (metric.type === 'gauge') return [{ key, labels, value }];
      const old = before.get(key)?.get(nameOf(labels));
      if (metric.type === 'counter') return value === (old?.value ?? 0) ? [] : [{ key, labels, value: value - (old?.value ?? 0) }];
      const gained = counts.map((count, index) => count - (old?.counts?.[index] ?? 0));
      return gained.some((count) => count !== 0) ? [{ key, labels, value: value - (old?.value ?? 0), counts: gained }] : [];
    }),
  );
}

const isGauge = ({ key }: Gain): boolean => METRICS[key].type === 'gauge';

/** One interval over all of these: sums, and the last value of each gauge. */
function merge(parts: readonly Interval[]): Interval {
  const last = parts.at(-1) as Interval;
  const sums = new Map<string, Gain>();
  for (const { gains } of parts)
    for (const gain of gains) {
      const name = `${gain.key}\u0000${nameOf(gain.labels)}`;
      const known = sums.get(name);
      if (!known || isGauge(gain)) sums.set(name, gain);
      else
        sums.set(name, {
          ...gain,
          value: known.value + gain.value,
          ...(gain.counts && { counts: gain.counts.map((count, index) => count + (known.counts?.[index] ?? 0)) }),
        });
    }
  return { at: last.at, ms: parts.reduce((sum, { ms }) => sum + ms, 0), gains: [...sums.values()] };
}

export const sumOf = (counts: readonly number[]): number => counts.reduce((sum, count) => sum + count, 0);
