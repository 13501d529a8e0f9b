// The current values of all metrics. A series is a plain object: a caller that counts every frame keeps it and adds to it.
import { METRICS, type Metric, type MetricKey } from './definitions.ts';

export type Series = {
  /** In the order of the metric's labels. */
  readonly labels: readonly string[];
  /** Of a counter or gauge; of a histogram, the sum of what was observed. */
  value: number;
  /** Of a histogram: how many values lie in each bucket; the last one has no upper bound. */
  readonly counts: number[];
};

export type Family = { readonly key: MetricKey; readonly metric: Metric; readonly series: readonly Series[] };

export type Registry = {
  series(key: MetricKey, ...labels: readonly string[]): Series;
  add(key: MetricKey, labels: readonly string[], by?: number): void;
  observe(key: MetricKey, labels: readonly string[], value: number): void;
  /** Sets a gauge. Series that are not named become 0: they have been there, and are gone. */
  setAll(key: MetricKey, values: Iterable<readonly [labels: readonly string[], value: number]>): void;
  /** Called before the values are read. */
  onCollect(collect: () => void): void;
  collect(): readonly Family[];
};

/** Further series of a metric are counted as `other`: a mistake in a label must not fill the memory. */
const MAX_SERIES = 400;
const SEPARATOR = '\u0000';

export function createRegistry(): Registry {
  const families = new Map(Object.keys(METRICS).map((key) => [key as MetricKey, new Map<string, Series>()]));
  const collectors: (() => void)[] = [];

  function series(key: MetricKey, ...labels: readonly string[]): Series {
    const family = families.get(key) as Map<string, Series>;
    const name = labels.join(SEPARATOR);
    const known = family.get(name);
    if (known) return known;
    const { buckets, labels: names }: Metric = METRICS[key];
    if (family.size >= MAX_SERIES && labels.some((label) => label !== OTHER)) return series(key, ...names.map(() => OTHER));
    const made = { labels: [...labels], value: 0, counts: buckets ? new Array<number>(buckets.length + 1).fill(0) : [] };
    family.set(name, made);
    return made;
  }

  return {
    series,
    add(key, labels, by = 1) {
      series(key, ...labels).value += by;
    },
    observe(key, labels, value) {
      const { buckets = [] }: Metric = METRICS[key];
      const one = series(key, ...labels);
      const bucket = buckets.findIndex((bound) => value <= bound);
      const at = bucket === -1 ? buckets.length : bucket;
      one.counts[at] = (one.counts[at] as number) + 1;
      one.value += value;
    },
    setAll(key, values) {
      for (const one of families.get(key)?.values() ?? []) one.value = 0;
      for (const [labels, value] of values) series(key, ...labels).value += value;
    },
    onCollect: (collect) => void collectors.push(collect),
    collect() {
      for (const collect of collectors) collect();
      return [...families].map(([key, family]) => ({ key, metric: METRICS[key], series: [...family.values()] }));
    },
  };
}

export const OTHER = 'other';
