// Traffic over time: one row per second while a page is open, for the last quarter of an hour.
import type { FrameRecord } from '../../store/frame-log/frame-filter.ts';
import type { ChartRow } from '../protocol/charts.ts';

export type Charts = {
  /** A frame came from a peer. */
  passed(side: 'editor' | 'agent', bytes: number): void;
  /** A frame was forwarded, this long after it arrived. */
  added(ms: number): void;
  record(record: FrameRecord): void;
  /** Closes the current second. */
  sample(nowMs: number): void;
  /** Observation stopped or resumed: the time between is unknown. */
  pause(): void;
  /** All rows, oldest first. */
  rows(): readonly ChartRow[];
};

const MOST_ROWS = 900;
/** Samples per second. More would not change the result. */
const MOST_SAMPLES = 2000;
const MOST_TURNS = 1000;

export function createCharts(): Charts {
  let rows: ChartRow[] = [];
  let lastMs: number | undefined;
  let count = nothing();
  /** When each prompt without an update so far went to its agent. */
  const begun = new Map<string, number>();

  function firstUpdate({ leg, session, t }: FrameRecord): void {
    const key = `${leg}\n${session}`;
    const at = begun.get(key);
    if (at === undefined) return;
    begun.delete(key);
    sampled(count.first, t - at);
  }
  return {
    passed(side, bytes) {
      if (side === 'editor') {
        count.fromClient++;
        count.bytesFromClient += bytes;
      } else {
        count.fromAgents++;
        count.bytesFromAgents += bytes;
      }
    },
    added: (ms) => sampled(count.added, ms),
    record(record) {
      const { method, kind, dir, ms, error, ours, event, reason } = record;
      // Count each frame once: where it came in, or where we created it.
      const isNew = dir?.startsWith('from') === true || ours === true;
      if ((error !== undefined && isNew) || kind === 'refused' || (event === 'down' && reason !== 'stopped')) count.errors++;
      if (method === 'session/update' && dir === 'fromAgent') return firstUpdate(record);
      if (method === 'session/prompt' && dir === 'toAgent' && kind === 'request') {
        if (begun.size >= MOST_TURNS) begun.clear();
        begun.set(`${record.leg}\n${record.session}`, record.t);
      }
      if (ms === undefined || kind !== 'response') return;
      if (method === 'session/prompt' && dir === 'fromAgent') sampled(count.turn, ms);
      if (method === 'session/request_permission' && dir === 'toAgent') sampled(count.wait, ms);
    },
    sample(nowMs) {
      const seconds = lastMs === undefined ? 1 : Math.max(0.001, (nowMs - lastMs) / 1000);
      lastMs = nowMs;
      const rate = (number: number) => Math.round((number / seconds) * 10) / 10;
      rows.push({
        t: Math.round(nowMs / 100) / 10,
        fromClient: rate(count.fromClient),
        fromAgents: rate(count.fromAgents),
        bytesFromClient: rate(count.bytesFromClient),
        bytesFromAgents: rate(count.bytesFromAgents),
        addedMedian: part(count.added, 0.5),
        addedP95: part(count.added, 0.95),
        addedMost: part(count.added, 1),
        turn: part(count.turn, 0.5),
        first: part(count.first, 0.5),
        wait: part(count.wait, 0.5),
        errors: count.errors,
      });
      if (rows.length > MOST_ROWS) rows = rows.slice(-MOST_ROWS);
      count = nothing();
    },
    pause() {
      const last = rows.at(-1);
      if (last && last.fromAgents !== null) rows.push({ ...UNKNOWN, t: last.t + 1 });
      lastMs = undefined;
      count = nothing();
      begun.clear();
    },
    rows: () => rows,
  };
}

const nothing = () => ({
  ...{ fromClient: 0, fromAgents: 0, bytesFromClient: 0, bytesFromAgents: 0, errors: 0 },
  ...{ added: [] as number[], turn: [] as number[], first: [] as number[], wait: [] as number[] },
});

const UNKNOWN: Omit<ChartRow, 't'> = {
  ...{ fromClient: null, fromAgents: null, bytesFromClient: null, bytesFromAgents: null, errors: null },
  ...{ addedMedian: null, addedP95: null, addedMost: null, turn: null, first: null, wait: null },
};

function sampled(samples: number[], value: number): void {
  if (samples.length < MOST_SAMPLES) samples.push(value);
}

/** A quantile; null without samples. */
function part(samples: number[], share: number): number | null {
  if (samples.length === 0) return null;
  const sorted = samples.toSorted((a, b) => a - b);
  const value = sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] as number;
  return Math.round(value * 1000) / 1000;
}
