// The recent past of the metrics, for charts: the numbers of /metrics, sampled at equal intervals.
import { braces } from './prometheus.ts';
import type { Family, Registry } from './registry.ts';

export type Sample = {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** By the name that the value has in /metrics, with its labels. Of a histogram: its `_sum` and its `_count`. */
  readonly values: ReadonlyMap<string, number>;
};

export type History = {
  /** Oldest first. */
  samples(): readonly Sample[];
  stop(): void;
};

export const EVERY_MS = 10_000;
/** One hour. */
const KEPT = 360;

export function keepHistory(registry: Registry, now: () => number, everyMs = EVERY_MS, kept = KEPT): History {
  const samples: Sample[] = [];
  const timer = setInterval(() => {
    samples.push({ at: now(), values: valuesOf(registry.collect()) });
    if (samples.length > kept) samples.shift();
  }, everyMs).unref();
  return { samples: () => [...samples], stop: () => clearInterval(timer) };
}

export function valuesOf(families: readonly Family[]): ReadonlyMap<string, number> {
  const values = new Map<string, number>();
  for (const { metric, series } of families)
    for (const { labels, value, counts } of series) {
      const own = braces(metric.labels, labels);
      if (metric.type !== 'histogram') values.set(metric.name + own, value);
      else {
        values.set(`${metric.name}_sum${own}`, value);
        values.set(`${metric.name}_count${own}`, sumOf(counts));
      }
    }
  return values;
}

export const sumOf = (counts: readonly number[]): number => counts.reduce((sum, count) => sum + count, 0);
