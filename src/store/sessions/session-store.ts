// Which agent owns which session: one JSON line per change, appended to sessions.jsonl. A later process reads it to route the sessions of earlier
// ones. Several processes may append at the same time, since each line is one write to a file opened for appending.
import { closeSync, fstatSync, lstatSync, openSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { appendToCurrent, readHead, readLines } from '../append-lines.ts';
import { needsRecovery } from '../rewrite-lines.ts';
import { hasTranscript, transcriptsDir } from '../transcripts/transcript-files.ts';
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

export type SessionStore = {
  append(record: SessionRecord): void;
  /**
   * Records a new session under its id; false if the id was ever used, also by another process at this moment. `hasTranscript`: the session
   * was known before under that id, so that its transcript may have begun.
   */
  claim(record: SessionRecord, hasTranscript?: boolean): boolean;
  /** Whether a session has or had that id. */
  isUsed(sessionId: string): boolean;
  /** The newest record of each existing session, in the order written. Reads the file again only if it has grown. */
  records(): ReadonlyMap<string, SessionRecord>;
  /** Sessions of an agent that must not be listed. */
  isHidden(agent: string, nativeId: string): boolean;
  /** Like `isHidden`, for lines written since this log was created. It skips the earlier lines, which may be many. */
  wasHiddenLately(agent: string, nativeId: string): boolean;
};

export const sessionsFile = (dir: string): string => path.join(dir, 'sessions.jsonl');

export function createSessionStore(dir: string, onProblem: (error: unknown) => void): SessionStore {
  const file = sessionsFile(dir);
  const all = createReader(file, NOTHING_READ, onProblem);
  const lately = createReader(file, endOf(file), onProblem);
  const isInFile = createIdSearch(file, onProblem);
  /** By id, the claims of this process. */
  const claims = new Map<string, string>();
  // Not a secret, so without the crypto module, which costs memory in every process.
  const processTag = [process.pid, Date.now(), Math.floor(Math.random() * 2 ** 52)].map((part) => part.toString(36)).join('-');

  function append(record: SessionRecord): void {
    const claim = record.claim ?? claims.get(record.sessionId);
    try {
      appendToCurrent(file, `${JSON.stringify(lineOf(claim === undefined ? record : { ...record, claim }))}\n`);
    } catch (error) {
      onProblem(error);
    }
  }
  const isRecorded = (sessionId: string): boolean => {
    if (claims.has(sessionId)) return true;
    const { bySessionId, gone } = lately();
    return bySessionId.has(sessionId) || gone.has(sessionId) || isInFile(sessionId);
  };
  const isUsed = (sessionId: string): boolean => isRecorded(sessionId) || hasTranscript(transcriptsDir(dir), sessionId);
  return {
    append,
    claim(record, mayHaveTranscript = false) {
      const { sessionId } = record;
      if (mayHaveTranscript ? isRecorded(sessionId) : isUsed(sessionId)) return false;
      const claim = `${processTag}-${claims.size}`;
      append({ ...record, claim });
      // Appended lines have one order for all processes, and the first line counts.
      const { bySessionId, gone } = lately();
      const first = bySessionId.get(sessionId) ?? gone.get(sessionId);
      if (first && first.claim !== claim) return false;
      claims.set(sessionId, claim);
      return true;
    },
    isUsed,
    records: () => all().bySessionId,
    isHidden: (agent, nativeId) => all().hidden.has(nativeKey(agent, nativeId)),
    wasHiddenLately: (agent, nativeId) => lately().hidden.has(nativeKey(agent, nativeId)),
  };
}

/** The part of a log that belongs to one principal. Sessions that it opens are its own. */
export function ownSessions(log: SessionStore, principal: string): SessionStore {
  const own = (): ReadonlyMap<string, SessionRecord> => new Map([...log.records()].filter(([, record]) => record.principal === principal));
  const isOwn = (agent: string, nativeId: string): boolean =>
    [...own().values()].some((record) => record.agent === agent && record.nativeId === nativeId);
  return {
    append: (record) => log.append({ ...record, principal }),
    claim: (record, hasTranscript) => log.claim({ ...record, principal }, hasTranscript),
    isUsed: log.isUsed, // an id is unique for all principals
    records: own,
    isHidden: (agent, nativeId) => !isOwn(agent, nativeId) || log.isHidden(agent, nativeId),
    wasHiddenLately: log.wasHiddenLately,
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

/** Searches the file as it was at the first search. Parsing it would take as long as everything else at a start. */
function createIdSearch(file: string, onProblem: (error: unknown) => void): (sessionId: string) => boolean {
  let bytes: Buffer | undefined;
  return (sessionId) => {
    try {
      // Anything but a file may have no end.
      bytes ??= statSync(file, { throwIfNoEntry: false })?.isFile() ? readFileSync(file) : Buffer.alloc(0);
    } catch (error) {
      onProblem(error);
    }
    return bytes?.includes(`"sessionId":${JSON.stringify(sessionId)}`) === true;
  };
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
