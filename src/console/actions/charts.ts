// The Charts screen: the history of the metrics, which the process keeps whether or not a page is open.
import { z } from 'zod';
import type { ChartInterval, ChartNews, ChartTopics } from '../protocol/charts.ts';
import type { Handlers, TopicsOf } from '../server/screens.ts';

export type MetricHistory = {
  /** Upper bounds of the histograms' buckets, by metric. */
  readonly buckets: Readonly<Record<string, readonly number[]>>;
  intervals(): readonly ChartInterval[];
  onInterval(then: (interval: ChartInterval) => void): () => void;
  /** Ends the current interval early. */
  sample(): void;
};

/** Undefined: this process keeps no metrics. */
export function chartHandlers(history: MetricHistory | undefined): Handlers {
  const topics: TopicsOf<ChartTopics> = {
    charts: {
      params: z.strictObject({}),
      subscribe(_, send, page) {
        if (!history) {
          send({ isOff: true });
          return () => {};
        }
        let isMissing = false;
        history.sample();
        const all = (): ChartNews => ({ isOff: false, intervals: history.intervals(), isFirst: true, buckets: history.buckets });
        send(all());
        return history.onInterval((interval) => {
          if (page.isBehind) isMissing = true;
          else if (isMissing) {
            isMissing = false;
            send(all());
          } else send({ isOff: false, intervals: [interval], isFirst: false });
        });
      },
    },
  };
  return { topics };
}
