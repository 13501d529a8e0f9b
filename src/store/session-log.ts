// Which agent owns which session, for good: one JSON line per fact, appended. A later process reads it to route sessions of earlier ones;
// several processes may append at once, since each line is one write to a file opened for appending.
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { appendLines } from './append-lines.ts';

export type SessionRecord = {
  readonly sessionId: string;
  readonly agent: string;
  readonly nativeId: string;
  readonly cwd?: string | undefined;
  /** What it was last opened with besides its `cwd`. */
  readonly additionalDirectories?: readonly string[] | undefined;
  /** When the line was written. */
  readonly at: string;
  /** When the first line of the session was written, if this is a later one; not in the file. */
  readonly created?: string | undefined;
  /** How the tools lent to it were offered, and how far its agent has come with them. */
  readonly tools?: { readonly transport: string; readonly state: string } | undefined;
  /** The session is not to be listed any more. */
  readonly isGone?: boolean | undefined;
};

export type SessionLog = {
  append(record: SessionRecord): void;
  /** The newest record of each session that has not gone, in the order they were made. Reads the file again only when it has grown. */
  records(): ReadonlyMap<string, SessionRecord>;
  /** Sessions at an agent that must not be listed. */
  isHidden(agent: string, nativeId: string): boolean;
};

export function createSessionLog(dir: string, onProblem: (error: unknown) => void): SessionLog {
  const file = path.join(dir, 'sessions.jsonl');
  const bySessionId = new Map<string, SessionRecord>();
  const hidden = new Set<string>();
  let readBytes = 0;
  const nativeKey = (agent: string, nativeId: string) => `${agent}\n${nativeId}`;

  function apply(record: SessionRecord): void {
    const key = nativeKey(record.agent, record.nativeId);
    if (record.isGone) {
      hidden.add(key);
      const kept = bySessionId.get(record.sessionId);
      if (kept && nativeKey(kept.agent, kept.nativeId) === key) bySessionId.delete(record.sessionId);
    } else {
      hidden.delete(key);
      const before = bySessionId.get(record.sessionId);
      if (before) bySessionId.delete(record.sessionId); // so that the order is that of the newest records
      bySessionId.set(record.sessionId, before ? { ...record, created: before.created ?? before.at } : record);
    }
  }
  function refresh(): void {
    let bytes: Buffer;
    try {
      if (statSync(file).size === readBytes) return;
      bytes = readFileSync(file);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') onProblem(error);
      return;
    }
    if (bytes.length < readBytes) {
      bySessionId.clear();
      hidden.clear();
      readBytes = 0;
    }
    // A last line without its end may still be in the writing; it is read when it is whole.
    const whole = bytes.lastIndexOf(0x0a) + 1;
    for (const line of bytes.toString('utf8', readBytes, whole).split('\n')) {
      const record = parse(line);
      if (record) apply(record);
    }
    readBytes = whole;
  }

  return {
    append(record) {
      try {
        appendLines(file, `${JSON.stringify(lineOf(record))}\n`);
      } catch (error) {
        onProblem(error);
      }
    },
    records() {
      refresh();
      return bySessionId;
    },
    isHidden(agent, nativeId) {
      refresh();
      return hidden.has(nativeKey(agent, nativeId));
    },
  };
}

/** As many as the console takes, and as long. */
const MOST_DIRECTORIES = 50;
const LONGEST_DIRECTORY = 4000;

/** All of them or none: with some, the session would come back with a part of its directories, and nobody would say so. */
const areDirectories = (value: unknown): value is readonly string[] =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.length <= MOST_DIRECTORIES &&
  value.every((one) => typeof one === 'string' && one.length <= LONGEST_DIRECTORY);

/** Of a session that is gone only which one it was. */
function lineOf({ created: _, additionalDirectories, ...line }: SessionRecord): object {
  const { sessionId, agent, nativeId, at, isGone } = line;
  if (isGone) return { sessionId, agent, nativeId, at, isGone };
  return areDirectories(additionalDirectories) ? { ...line, additionalDirectories } : line;
}

function parse(line: string): SessionRecord | undefined {
  if (line === '') return undefined;
  try {
    const value = JSON.parse(line);
    const isRecord = [value?.sessionId, value?.agent, value?.nativeId].every((field) => typeof field === 'string');
    if (!isRecord) return undefined;
    if (!areDirectories(value.additionalDirectories)) delete value.additionalDirectories;
    return value;
  } catch {
    return undefined;
  }
}
