// Live frames for the pages. While no page is open, the observers do nothing.
import { z } from 'zod';
import { ClientError } from '../../client/client-error.ts';
import { neutralise } from '../../control-characters.ts';
import type { Secrets } from '../../redaction/redact.ts';
import type { FrameRecord } from '../../store/frame-log/frame-filter.ts';
import type { Side } from '../../store/frame-log/frame-lines.ts';
import { createFrameLog } from '../../store/frame-log/frame-log.ts';
import { createFramePairs } from '../../store/frame-log/frame-pairs.ts';
import { exchangeKey, type FrameActions, type FrameRow, type FrameTopics } from '../protocol/frames.ts';
import type { ActionsOf, TopicsOf } from '../server/screens.ts';
import { frameDetail } from './frame-detail.ts';
import { createFrameRing, type Kept, type Wanted } from './frame-ring.ts';

export type Observer = ReturnType<ReturnType<typeof createFrameLog>['watch']>['observer'];

/** A subscribed page. */
type Viewer = { readonly page: { readonly isBehind: boolean }; readonly send: (news: FrameTopics['frames']['news']) => void };

export type Frames = ReturnType<typeof createFrames>;

const SEND_EVERY_MS = 100;
const MOST_AT_ONCE = 4000;
const MOST_OPEN = 20_000;

type Interest = { readonly wanted: Wanted; next: number; isFirst: boolean };

/** `dir` holds the frame log of all processes. */
export function createFrames(secrets: Secrets, dir: string) {
  const ring = createFrameRing(dir);
  const pairs = createFramePairs(() => performance.now());
  const interests = new Map<Viewer, Interest>();
  let dropped = 0;
  let isOpen = false;
  let timer: NodeJS.Timeout | undefined;

  const log = createFrameLog({
    hasPayloads: true,
    secrets,
    now: Date.now,
    monotonicMs: () => performance.now(),
    sink: {
      write(lines) {
        for (const line of lines.split('\n')) if (line !== '') take(JSON.parse(line) as FrameRecord);
      },
      drop(count) {
        dropped += count;
      },
      flush: async () => {},
      close: async () => {},
    },
  });

  function take(record: FrameRecord): void {
    const { id, leg = '', dir: way } = record;
    ring.take(record, id === undefined ? undefined : pairs.take(leg, way?.startsWith('from') === true, id));
  }
  function sendFrames(): void {
    log.settle();
    const rows = ring.rows();
    for (const [viewer, interest] of interests) {
      // A slow page misses nothing while its rows are in the ring.
      if (viewer.page.isBehind) continue;
      const from = rows.findIndex(({ n }) => n >= interest.next);
      const fresh = from === -1 ? [] : rows.slice(from, from + MOST_AT_ONCE);
      const wanted = fresh.filter(interest.wanted).map(rowOf);
      if (wanted.length > 0 || interest.isFirst) viewer.send({ rows: wanted, isFirst: interest.isFirst, dropped });
      interest.isFirst = false;
      interest.next = fresh.at(-1) === undefined ? ring.next : (fresh.at(-1) as Kept).n + 1;
    }
    schedule();
  }
  function schedule(): void {
    clearTimeout(timer);
    if (interests.size > 0) timer = setTimeout(sendFrames, SEND_EVERY_MS);
  }
  function wantedBy(filter: string, hasOthers = false): Wanted {
    const wanted = ring.wanted(filter);
    if (typeof wanted === 'function') return (row) => (hasOthers || !row.isOther) && wanted(row);
    throw new ClientError(-32602, `"${neutralise(wanted.wrong)}" is not a filter term`);
  }

  const filterShape = z.string().max(1000);
  const actions: ActionsOf<Omit<FrameActions, 'resendFrame'>> = {
    frame: {
      params: z.strictObject({ n: z.int().nonnegative() }),
      async perform({ n }) {
        const row = ring.row(n);
        if (!row) return { redactions: [], latency: {} };
        return { ...(await frameDetail(row, clean(ring.body(n)), ring.rows())), row: rowOf(row) };
      },
    },
    exportFrames: {
      params: z.strictObject({ filter: filterShape, after: z.int(), hasOthers: z.boolean().optional() }),
      perform({ filter, after, hasOthers }) {
        log.settle();
        return ring.lines(wantedBy(filter, hasOthers), after);
      },
    },
    exportRecording: {
      params: z.strictObject({ leg: z.string().max(400), after: z.int() }),
      perform({ leg, after }) {
        log.settle();
        return ring.recording(leg, after);
      },
    },
  };
  const topics: TopicsOf<FrameTopics> = {
    frames: {
      params: z.strictObject({ filter: filterShape, hasOthers: z.boolean().optional(), hasAnswers: z.boolean().optional() }),
      subscribe({ filter, hasOthers, hasAnswers = false }, send, page) {
        const viewer = { page, send };
        const wanted = wantedBy(filter, hasOthers);
        interests.set(viewer, { wanted: hasAnswers ? withAnswers(wanted) : wanted, next: 0, isFirst: true });
        sendFrames();
        return () => {
          interests.delete(viewer);
          schedule();
        };
      },
    },
  };

  return {
    /** Observes a connection. Forwards frames only while a page is open. */
    observer(connection: string, side: Side): Observer & { down(reason: string): void } {
      const { observer, down } = log.watch(connection, side);
      return {
        down(reason) {
          if (isOpen) down(reason);
        },
        ...(observer.skips && { skips: observer.skips }),
        received(frame) {
          if (!isOpen) return;
          pairs.received(connection, frame);
          observer.received(frame);
        },
        refused(line) {
          if (isOpen) observer.refused(line);
        },
        sent(frame, patches) {
          if (!isOpen) return;
          pairs.sent(connection, frame, patches);
          observer.sent(frame, patches);
        },
        sentLine(line) {
          if (isOpen) observer.sentLine(line);
        },
      };
    },
    handlers: { actions, topics },
    /** A frame that is kept with its content. */
    kept(n: number): { readonly record: FrameRecord; readonly body: string } | undefined {
      const [row, body] = [ring.row(n), ring.body(n)];
      return row && body !== undefined ? { record: row.record, body } : undefined;
    },
    /** A page opened: keep frames from now on. */
    look(): void {
      if (isOpen) return;
      isOpen = true;
    },
    /** The last page closed. */
    rest(): void {
      isOpen = false;
      clearTimeout(timer);
    },
  };
}

/** For rows in their order: with the responses to the requests that are wanted. */
function withAnswers(wanted: Wanted): Wanted {
  let open = new Set<string>();
  return (row) => {
    const { record } = row;
    const isWanted = wanted(row);
    if (record.kind === 'request' && isWanted) open.add(exchangeKey(record));
    if (open.size > MOST_OPEN) open = new Set(); // requests that were never answered
    return (record.kind === 'response' && open.delete(exchangeKey(record))) || isWanted;
  };
}

function rowOf({ n, record, what, pair, isOther }: Kept): FrameRow {
  const { t, leg, dir, kind, method, id, session, bytes, ms, error, chunks, event, reason, ours } = record;
  return {
    ...{
      n,
      t,
      leg: clean(leg),
      dir,
      kind,
      method: clean(method),
      session: clean(session),
      bytes,
      ms,
      error,
      chunks,
      event,
      reason: clean(reason),
      ours,
      what: clean(what),
      pair,
      ...(isOther && { isOther }),
    },
    id: id === undefined ? undefined : clean(String(id)),
  };
}

const clean = (text: string | undefined): string | undefined => (text === undefined ? undefined : neutralise(text));
