// The frames that have passed: rows in a ring, bodies as long as there is room for them.
import { type FrameRecord, parseFilter, termsOf } from '../../store/frame-log/frame-filter.ts';
import { lastRecords } from '../../store/frame-log/read-frames.ts';

export type Kept = {
  readonly n: number;
  readonly record: FrameRecord;
  /** What it has in common with the same frame on the other leg. */
  readonly pair?: number | undefined;
  /** How long it was here before it went on. */
  readonly addedMs?: number | undefined;
};
export type Wanted = (row: Kept) => boolean;

const MAX_ROWS = 60_000;
const MAX_BODY_CHARACTERS = 32 * 1024 * 1024;
const HISTORY = 2000;
/** Of an export, in one answer. */
const EXPORT_CHARACTERS = 1024 * 1024;

/** `dir` is where the frame log of all processes lies. */
export function createFrameRing(dir: string) {
  const bodies = new Map<number, string>();
  let rows: Kept[] = [];
  /** Those before are for what passed earlier. */
  let next = HISTORY;
  let hasHistory = false;
  let bodySize = 0;

  /** What passed before the first page was there, as the frame log has it; in front of what has come since. */
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
    },
    rows: (): readonly Kept[] => {
      if (!hasHistory) readHistory();
      return rows;
    },
    /** The number that the next one gets. */
    get next(): number {
      return next;
    },
    body: (n: number): string | undefined => bodies.get(n),
    /** What the filter takes, or the term that is none. Content is looked at only where it is asked for. */
    wanted(filter: string): Wanted | { readonly wrong: string } {
      const terms = termsOf(filter);
      const takes = parseFilter(terms);
      if (typeof takes !== 'function') return takes;
      if (!terms.some((term) => /^!?text:/.test(term))) return ({ record }) => takes(record);
      return ({ n, record }) => takes({ ...record, line: bodies.get(n) ?? '' });
    },
    /** Those after that number as the frame log writes them, a line each; as many as go into one answer. */
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
