// Which agent owns which session, for good: one JSON line per fact, appended. A later process reads it to route sessions of earlier ones;
// several processes may append at once, since each line is one write to a file opened for appending.
import { closeSync, fstatSync, openSync, statSync } from 'node:fs';
import path from 'node:path';
import { headOf, wholeLines } from '../append-lines.ts';
import { appendToCurrent } from '../sealed-file.ts';
import { createSessionState, lineOf, nativeKey, parseRecord, type SessionRecord, type SessionState } from './session-records.ts';

export type { SessionRecord } from './session-records.ts';

export type SessionLog = {
  append(record: SessionRecord): void;
  /** The newest record of each session that has not gone, in the order they were made. Reads the file again only when it has grown. */
  records(): ReadonlyMap<string, SessionRecord>;
  /** Sessions at an agent that must not be listed. */
  isHidden(agent: string, nativeId: string): boolean;
  /** The same as far as it was said since this began: nothing before that is read, of which there may be much. */
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

/** How far a file has been read: which one it was, by its number on the disk and how it began. */
type Place = { readonly bytes: number; readonly ino: number; readonly head: string };
const NOTHING_READ: Place = { bytes: 0, ino: Number.NaN, head: '' };

/** Where it cannot be looked at, whoever reads or writes there says so. */
function endOf(file: string): Place {
  try {
    const { size, ino } = statSync(file);
    return { bytes: size, ino, head: '' };
  } catch {
    return NOTHING_READ;
  }
}

/** What the lines from there on say, those that have come since the last look included. */
function createReader(file: string, from: Place, onProblem: (error: unknown) => void): () => SessionState {
  let place = from;
  let state = createSessionState();

  function readOn(): void {
    const fd = openSync(file, 'r');
    try {
      const { size, ino } = fstatSync(fd);
      const head = headOf(fd);
      // Another file, compacted, or the same and cut off: what was read says nothing any more.
      if (ino !== place.ino || size < place.bytes || !head.startsWith(place.head)) [state, place] = [createSessionState(), NOTHING_READ];
      // A last line without its end may still be in the writing; it is read when it is whole.
      const { lines, bytes } = wholeLines(fd, place.bytes, size);
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
