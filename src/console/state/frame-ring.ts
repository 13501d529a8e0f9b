// Recent frames: rows in a ring, bodies while they fit.
import { type FrameRecord, parseFilter, termsOf } from '../../store/frame-log/frame-filter.ts';
import { lastRecords } from '../../store/frame-log/read-frames.ts';

export type Kept = {
  readonly n: number;
  readonly record: FrameRecord;
  /** Shared with the same frame on the other connection. */
  readonly pair?: number | undefined;
  /** How long it stayed here before it was forwarded. */
  readonly addedMs?: number | undefined;
};
export type Wanted = (row: Kept) => boolean;

const MAX_ROWS = 60_000;
const MAX_BODY_CHARACTERS = 32 * 1024 * 1024;
const HISTORY = 2000;
/** Size limit of one export response. */
const EXPORT_CHARACTERS = 1024 * 1024;

/** `dir` holds the frame log of all processes. */
export function createFrameRing(dir: string) {
  const bodies = new Map<number, string>();
  let rows: Kept[] = [];
  /** Lower numbers are for frames from the log. */
  let next = HISTORY;
  let hasHistory = false;
  let bodySize = 0;

  /** Puts frames from the log, from before the first page, in front of the live ones. */
  function readHistory(): void {
    hasHistory = true;
    const since = rows[0]?.record.t ?? Number.POSITIVE_INFINITY;
    const before = lastRecords(dir, ({ t }) => t < since, HISTORY);
    rows = [...before.map(({ msg, line, ...record }, index) => ({ n: index, record })), ...rows];
  }
  return {
    take({ msg, line, ...record }: FrameRecord, more: Pick<Kept, 'pair' | 'addedMs'> | undefined): void {
      const n = next++;
      rows.push({ n, record, ...more });
      // In large steps, so that not every frame moves the whole array.
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
    },
    rows: (): readonly Kept[] => {
      if (!hasHistory) readHistory();
      return rows;
    },
    /** The number of the next frame. */
    get next(): number {
      return next;
    },
    body: (n: number): string | undefined => bodies.get(n),
    /** A predicate for the filter, or its invalid term. Bodies are searched only if the filter asks for it. */
    wanted(filter: string): Wanted | { readonly wrong: string } {
      const terms = termsOf(filter);
      const takes = parseFilter(terms);
      if (typeof takes !== 'function') return takes;
      if (!terms.some((term) => /^!?text:/.test(term))) return ({ record }) => takes(record);
      return ({ n, record }) => takes({ ...record, line: bodies.get(n) ?? '' });
    },
    /** Frames after this number in the format of the frame log, as many as fit into one response. */
    lines(wanted: Wanted, after: number): { readonly text: string; readonly next?: number } {
      let text = '';
      for (const row of rows) {
        if (row.n <= after || !wanted(row)) continue;
        text += `${lineOf(row, bodies.get(row.n))}\n`;
        if (text.length > EXPORT_CHARACTERS) return { text, next: row.n };
      }
      return { text };
    },
  };
}

function lineOf({ record, addedMs }: Kept, body: string | undefined): string {
  const head = JSON.stringify({ ...record, ...(addedMs !== undefined && { addedMs: Math.round(addedMs * 1000) / 1000 }) });
  if (body === undefined) return head;
  return `${head.slice(0, -1)},${record.kind === 'refused' ? `"line":${JSON.stringify(body)}` : `"msg":${body}`}}`;
}
