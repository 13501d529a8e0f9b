// The Charts screen and its server.
import type { Nothing } from './sessions.ts';

/** One second of what passed; null where nothing is known. Times in milliseconds. */
export type ChartRow = {
  /** Seconds since 1970. */
  readonly t: number;
  readonly fromClient: number | null;
  readonly fromAgents: number | null;
  readonly bytesFromClient: number | null;
  readonly bytesFromAgents: number | null;
  /** How long requests and answers were here. */
  readonly addedMedian: number | null;
  readonly addedP95: number | null;
  readonly addedMost: number | null;
  readonly turn: number | null;
  /** From a prompt to the first update. */
  readonly first: number | null;
  /** How long agents waited for an answer to a permission question. */
  readonly wait: number | null;
  readonly errors: number | null;
};

export type ChartTopics = {
  /** `isFirst`: all there are; then each as it comes. */
  charts: { params: Nothing; news: { readonly rows: readonly ChartRow[]; readonly isFirst: boolean } };
};
