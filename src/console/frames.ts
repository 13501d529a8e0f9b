// The frames that pass, for whoever looks on: rows in a ring, bodies as long as there is room for them. While no page is open the taps do
// nothing at all.
import { z } from 'zod';
import { ClientError } from '../client/client.ts';
import { type FrameFilter, type FrameRecord, parseFilter } from '../log/frame-filter.ts';
import { createFrameLog, type Side } from '../log/frame-log.ts';
import { lastRecords } from '../log/read-frames.ts';
import type { Secrets } from '../log/redact.ts';
import { neutralise } from './neutralise.ts';
import type { ActsOf, TopicsOf } from './parts.ts';
import type { FrameActs, FrameRow, FrameTopics } from './wire/frames.ts';

export type Tap = ReturnType<ReturnType<typeof createFrameLog>['watch']>['tap'];

/** A page that looks on. */
type Viewer = { readonly page: { readonly isBehind: boolean }; readonly tell: (news: FrameTopics['frames']['news']) => void };

export type Frames = ReturnType<typeof createFrames>;

const MAX_ROWS = 60_000;
const MAX_BODY_CHARACTERS = 32 * 1024 * 1024;
const HISTORY = 2000;
const SEND_EVERY_MS = 100;
const MOST_AT_ONCE = 4000;

type Kept = { readonly n: number; readonly record: FrameRecord };
type Interest = { readonly filter: FrameFilter; next: number; isFirst: boolean };

/** `dir` is where the frame log of all processes lies. */
export function createFrames(secrets: Secrets, dir: string) {
  const bodies = new Map<number, string>();
  const interests = new Map<Viewer, Interest>();
  let rows: Kept[] = [];
  /** Those before are for what passed earlier. */
  let next = HISTORY;
  let hasHistory = false;
  let dropped = 0;
  let bodySize = 0;
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

  function take({ msg, line, ...record }: FrameRecord): void {
    const n = next++;
    rows.push({ n, record });
    // In large steps, so that not every frame moves all of them.
    if (rows.length > MAX_ROWS) rows = rows.slice(MAX_ROWS / 6);
    const body = msg === undefined ? line : JSON.stringify(msg);
    if (body === undefined) return;
    bodies.set(n, body);
    bodySize += body.length;
    for (const [oldest, text] of bodies) {
      if (bodySize <= MAX_BODY_CHARACTERS) break;
      bodies.delete(oldest);
      bodySize -= text.length;
    }
  }
  /** What passed before the first page was there, as the frame log has it; in front of what has come since. */
  function readHistory(): void {
    hasHistory = true;
    const since = rows[0]?.record.t ?? Number.POSITIVE_INFINITY;
    const before = lastRecords(dir, ({ t }) => t < since, HISTORY);
    rows = [...before.map(({ msg, line, ...record }, index) => ({ n: index, record })), ...rows];
  }
  function send(): void {
    log.settle();
    for (const [viewer, interest] of interests) {
      // Rows wait for a slow page; they are not lost to it while they are in the ring.
      if (viewer.page.isBehind) continue;
      const from = rows.findIndex(({ n }) => n >= interest.next);
      const fresh = from === -1 ? [] : rows.slice(from, from + MOST_AT_ONCE);
      const wanted = fresh.filter(({ record }) => interest.filter(record)).map(rowOf);
      if (wanted.length > 0 || interest.isFirst) viewer.tell({ rows: wanted, isFirst: interest.isFirst, dropped });
      interest.isFirst = false;
      interest.next = fresh.at(-1) === undefined ? next : (fresh.at(-1) as Kept).n + 1;
    }
    schedule();
  }
  function schedule(): void {
    clearTimeout(timer);
    if (interests.size > 0) timer = setTimeout(send, SEND_EVERY_MS);
  }

  const acts: ActsOf<FrameActs> = {
    frame: { gives: z.strictObject({ n: z.int().nonnegative() }), perform: ({ n }) => ({ body: clean(bodies.get(n)) }) },
  };
  const topics: TopicsOf<FrameTopics> = {
    frames: {
      gives: z.strictObject({ filter: z.string().max(1000) }),
      follow({ filter }, tell, page) {
        const wanted = parseFilter(filter.split(/\s+/).filter((term) => term !== ''));
        if (typeof wanted !== 'function') throw new ClientError(-32602, `"${neutralise(wanted.wrong)}" is no term of a filter`);
        if (!hasHistory) readHistory();
        const viewer = { page, tell };
        interests.set(viewer, { filter: wanted, next: 0, isFirst: true });
        send();
        return () => {
          interests.delete(viewer);
          schedule();
        };
      },
    },
  };

  return {
    /** A tap for a leg: it passes on what it sees only while somebody looks on. */
    tap(leg: string, side: Side): Tap {
      const { tap } = log.watch(leg, side);
      return {
        ...(tap.skips && { skips: tap.skips }),
        received(frame) {
          if (isOpen) tap.received(frame);
        },
        refused(line) {
          if (isOpen) tap.refused(line);
        },
        sent(frame, patches) {
          if (isOpen) tap.sent(frame, patches);
        },
        sentLine(line) {
          if (isOpen) tap.sentLine(line);
        },
      };
    },
    part: { acts, topics },
    /** A page is there. What passes from now on is kept for it. */
    look(): void {
      isOpen = true;
    },
    /** No page is left. */
    rest(): void {
      isOpen = false;
      clearTimeout(timer);
    },
  };
}

function rowOf({ n, record }: Kept): FrameRow {
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
    },
    id: id === undefined ? undefined : clean(String(id)),
  };
}

const clean = (text: string | undefined): string | undefined => (text === undefined ? undefined : neutralise(text));
