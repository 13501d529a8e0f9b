// Messages between the Charts screen and its server.
import type { Nothing } from './sessions.ts';

/** One second of traffic; null where nothing is known. Times in milliseconds. */
export type ChartRow = {
  /** Seconds since 1970. */
  readonly t: number;
  readonly fromClient: number | null;
  readonly fromAgents: number | null;
  readonly bytesFromClient: number | null;
  readonly bytesFromAgents: number | null;
  /** Time that requests and responses spent in switchboard. */
  readonly addedMedian: number | null;
  readonly addedP95: number | null;
  readonly addedMost: number | null;
  readonly turn: number | null;
  /** From a prompt to its first update. */
  readonly first: number | null;
  /** How long agents waited for a permission decision. */
  readonly wait: number | null;
  readonly errors: number | null;
};

export type ChartTopics = {
  /** `isFirst`: all rows; afterwards each new row. */
  charts: { params: Nothing; news: { readonly rows: readonly ChartRow[]; readonly isFirst: boolean } };
};
