// Which agent owns which session: one JSON line per change, appended to sessions.jsonl. A later process reads it to route the sessions of earlier
// ones. Several processes may append at the same time, since each line is one write to a file opened for appending.
import { closeSync, fstatSync, lstatSync, openSync, statSync } from 'node:fs';
import path from 'node:path';
import { appendToCurrent, readHead, readLines } from '../append-lines.ts';
import { needsRecovery } from '../rewrite-lines.ts';
import {
  compactedBytes,
  createSessionState,
  hasLate,
  inOrder,
  lineOf,
  nativeKey,
  parseRecord,
  type SessionRecord,
  type SessionState,
} from './session-records.ts';

export type { SessionRecord } from './session-records.ts';

export type SessionLog = {
  append(record: SessionRecord): void;
  /** The newest record of each existing session, in the order written. Reads the file again only if it has grown. */
  records(): ReadonlyMap<string, SessionRecord>;
  /** Sessions of an agent that must not be listed. */
  isHidden(agent: string, nativeId: string): boolean;
  /** Like `isHidden`, for lines written since this log was created. It skips the earlier lines, which may be many. */
  wasHiddenLately(agent: string, nativeId: string): boolean;
};

export const sessionsFile = (dir: string): string => path.join(dir, 'sessions.jsonl');

export function createSessionLog(dir: string, onProblem: (error: unknown) => void): SessionLog {
  const file = sessionsFile(dir);
  const all = createReader(file, NOTHING_READ, onProblem);
  const lately = createReader(file, endOf(file), onProblem);
  return {
    append(record) {
      try {
        appendToCurrent(file, `${JSON.stringify(lineOf(record))}\n`);
      } catch (error) {
        onProblem(error);
      }
    },
    records: () => all().bySessionId,
    isHidden: (agent, nativeId) => all().hidden.has(nativeKey(agent, nativeId)),
    wasHiddenLately: (agent, nativeId) => lately().hidden.has(nativeKey(agent, nativeId)),
  };
}

/** Whether the file is at least this long and has doubled since its last compaction, or a compaction was killed. */
export function isCompactionDue(dir: string, minBytes: number): boolean {
  const file = sessionsFile(dir);
  if (needsRecovery(file)) return true;
  const { size } = lstatSync(file, { throwIfNoEntry: false }) ?? { size: 0 };
  if (size < minBytes) return false;
  const fd = openSync(file, 'r');
  try {
    return size >= 2 * compactedBytes(readHead(fd));
  } finally {
    closeSync(fd);
  }
}

/** How far a file was read, and which file: its inode number and first bytes. */
type Place = { readonly bytes: number; readonly ino: number; readonly head: string };
const NOTHING_READ: Place = { bytes: 0, ino: Number.NaN, head: '' };

/** An unreadable file is reported by the first read or append. */
function endOf(file: string): Place {
  try {
    const { size, ino } = statSync(file);
    return { bytes: size, ino, head: '' };
  } catch {
    return NOTHING_READ;
  }
}

/** The state from that position on; each call adds the new lines. */
function createReader(file: string, from: Place, onProblem: (error: unknown) => void): () => SessionState {
  let place = from;
  let state = createSessionState();

  function readFrom(fd: number, size: number, head: string): { readonly lines: readonly string[]; readonly bytes: number } {
    if (place.bytes > 0) {
      const more = readLines(fd, place.bytes, size);
      if (!hasLate(more.lines)) return more;
      forget(); // the order of lines already read has changed
    }
    const compacted = readLines(fd, 0, Math.min(size, compactedBytes(head)));
    const others = readLines(fd, compacted.bytes, size);
    return { lines: inOrder(compacted.lines, others.lines), bytes: compacted.bytes + others.bytes };
  }
  function forget(): void {
    state = createSessionState();
    place = NOTHING_READ;
  }
  function readOn(): void {
    const fd = openSync(file, 'r');
    try {
      const { size, ino } = fstatSync(fd);
      const head = readHead(fd);
      // A different file after a compaction, or a truncated one.
      if (ino !== place.ino || size < place.bytes || !head.startsWith(place.head)) forget();
      const { lines, bytes } = readFrom(fd, size, head);
      for (const line of lines) {
        const record = parseRecord(line);
        if (record) state.apply(record);
      }
      const read = place.bytes + bytes;
      place = { bytes: read, ino, head: head.slice(0, read) };
    } finally {
      closeSync(fd);
    }
  }
  return () => {
    try {
      const { size, ino } = statSync(file);
      if (size !== place.bytes || ino !== place.ino) readOn();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') onProblem(error);
    }
    return state;
  };
}
