// Which agent owns which session, for good: one JSON line per fact, appended. A later process reads it to route sessions of earlier ones;
// several processes may append at once, since each line is one write to a file opened for appending.
import { closeSync, fstatSync, openSync, statSync } from 'node:fs';
import path from 'node:path';
import { appendToCurrent, headOf, wholeLines } from './append-lines.ts';
import { createSessionState, lineOf, nativeKey, parseRecord, type SessionRecord } from './session-records.ts';

export type { SessionRecord } from './session-records.ts';

export type SessionLog = {
  append(record: SessionRecord): void;
  /** The newest record of each session that has not gone, in the order they were made. Reads the file again only when it has grown. */
  records(): ReadonlyMap<string, SessionRecord>;
  /** Sessions at an agent that must not be listed. */
  isHidden(agent: string, nativeId: string): boolean;
};

export const sessionsFile = (dir: string): string => path.join(dir, 'sessions.jsonl');

export function createSessionLog(dir: string, onProblem: (error: unknown) => void): SessionLog {
  const file = sessionsFile(dir);
  let state = createSessionState();
  let readBytes = 0;
  let readFrom = Number.NaN;
  let head = '';

  function refresh(): void {
    try {
      const { size, ino } = statSync(file);
      if (size === readBytes && ino === readFrom) return;
      readOn();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') onProblem(error);
    }
  }
  function readOn(): void {
    const fd = openSync(file, 'r');
    try {
      const { size, ino } = fstatSync(fd);
      // Another file, compacted, or the same and cut off: what was read says nothing any more.
      const begins = headOf(fd);
      if (ino !== readFrom || size < readBytes || !begins.startsWith(head)) [state, readBytes, readFrom] = [createSessionState(), 0, ino];
      // A last line without its end may still be in the writing; it is read when it is whole.
      const { lines, bytes } = wholeLines(fd, readBytes, size);
      for (const line of lines) {
        const record = parseRecord(line);
        if (record) state.apply(record);
      }
      readBytes += bytes;
      head = begins.slice(0, readBytes);
    } finally {
      closeSync(fd);
    }
  }

  return {
    append(record) {
      try {
        appendToCurrent(file, `${JSON.stringify(lineOf(record))}\n`);
      } catch (error) {
        onProblem(error);
      }
    },
    records() {
      refresh();
      return state.bySessionId;
    },
    isHidden(agent, nativeId) {
      refresh();
      return state.hidden.has(nativeKey(agent, nativeId));
    },
  };
}
