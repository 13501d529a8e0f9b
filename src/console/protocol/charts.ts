// Messages between the Charts screen and its server: the numbers of /metrics, by interval.
import type { Nothing } from './sessions.ts';

/** What a series of /metrics gained in an interval; of a gauge, its value at the end. */
export type ChartGain = {
  readonly key: string;
  readonly labels: readonly string[];
  /** Of a histogram: the sum of what was observed. */
  readonly value: number;
  /** Of a histogram: how many values each bucket gained; the last one has no upper bound. */
  readonly counts?: readonly number[];
};

/** Times in milliseconds. `at` is the end. */
export type ChartInterval = { readonly at: number; readonly ms: number; readonly gains: readonly ChartGain[] };

export type ChartNews =
  /** This process keeps no metrics. */
  | { readonly isOff: true }
  | {
      readonly isOff: false;
      readonly intervals: readonly ChartInterval[];
      /** All intervals; afterwards each new one. */
      readonly isFirst: boolean;
      /** Upper bounds of the buckets, by metric. With the first message. */
      readonly buckets?: Readonly<Record<string, readonly number[]>>;
    };

export type ChartTopics = {
  charts: { params: Nothing; news: ChartNews };
};
