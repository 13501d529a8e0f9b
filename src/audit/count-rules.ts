// How often each rule decided in the last week, in all processes: read from the end of the log, again after it has grown.
import { open, stat } from 'node:fs/promises';
import { fields } from '../json-object.ts';
import { auditFile } from './audit.ts';
import { parseAuditLine } from './audit-line.ts';

type Rule = { readonly id: string; readonly file: string };
/** Identifies a rule; undefined is the default. */
export type KeyOf = (rule: Rule | undefined) => string;

const WEEK_MS = 7 * 24 * 60 * 60 * 1000;
const MOST_BYTES = 16 * 1024 * 1024;
const EVERY_MS = 10_000;

/** The result is that of the last reading; undefined until there is one. */
export function countWeek(stateDir: string, keyOf: KeyOf, now: () => number): () => ReadonlyMap<string, number> | undefined {
  const file = auditFile(stateDir);
  let counts: ReadonlyMap<string, number> | undefined;
  let size = -1;
  let readAt = Number.NEGATIVE_INFINITY;
  async function read(): Promise<void> {
    const found = await stat(file).catch(() => undefined);
    if ((found?.size ?? 0) === size) return;
    size = found?.size ?? 0;
    counts = countsIn(await endOf(file, size), keyOf, now() - WEEK_MS);
  }
  return () => {
    if (now() - readAt >= EVERY_MS) {
      readAt = now();
      void read().catch(() => {}); // the counts stay those of before
    }
    return counts;
  };
}

/** A decision without a rule counts for the default. */
export function countsIn(text: string, keyOf: KeyOf, sinceMs: number): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const line of text.split('\n')) {
    const found = parseAuditLine(line);
    if (!found || found.end || Date.parse(String(found.time)) < sinceMs) continue;
    const { id, file } = fields(found.rule);
    const key = keyOf(typeof id === 'string' && typeof file === 'string' ? { id, file } : undefined);
    const many = typeof found.count === 'number' ? found.count : 1;
    counts.set(key, (counts.get(key) ?? 0) + many);
  }
  return counts;
}

async function endOf(file: string, size: number): Promise<string> {
  if (size === 0) return '';
  const handle = await open(file);
  try {
    const wanted = Math.min(size, MOST_BYTES);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(wanted), 0, wanted, size - wanted);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await handle.close();
  }
}
