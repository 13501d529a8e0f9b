// What a line of sessions.jsonl says, and what all of them say together.

export type SessionRecord = {
  readonly sessionId: string;
  readonly agent: string;
  readonly nativeId: string;
  readonly cwd?: string | undefined;
  /** What it was last opened with besides its `cwd`. */
  readonly additionalDirectories?: readonly string[] | undefined;
  /** When the line was written. */
  readonly at: string;
  /** When the first line of the session was written, if this is a later one; in the file only where it was compacted. */
  readonly created?: string | undefined;
  /** How the tools lent to it were offered, and how far its agent has come with them. */
  readonly tools?: { readonly transport: string; readonly state: string } | undefined;
  /** The session is not to be listed any more. */
  readonly isGone?: boolean | undefined;
};

/** What the lines say together. */
export type SessionState = {
  /** The newest record of each session, in the order they were made. */
  readonly bySessionId: Map<string, SessionRecord>;
  /** Sessions at an agent that must not be listed, with the lines that say so. */
  readonly hidden: Map<string, SessionRecord>;
  apply(record: SessionRecord): void;
};

export const nativeKey = (agent: string, nativeId: string): string => `${agent}\n${nativeId}`;

export function createSessionState(): SessionState {
  const bySessionId = new Map<string, SessionRecord>();
  const hidden = new Map<string, SessionRecord>();
  return {
    bySessionId,
    hidden,
    apply(record) {
      const key = nativeKey(record.agent, record.nativeId);
      if (record.isGone) {
        hidden.set(key, record);
        const kept = bySessionId.get(record.sessionId);
        if (kept && nativeKey(kept.agent, kept.nativeId) === key) bySessionId.delete(record.sessionId);
      } else {
        hidden.delete(key);
        const before = bySessionId.get(record.sessionId);
        if (before) bySessionId.delete(record.sessionId); // so that the order is that of the newest records
        bySessionId.set(record.sessionId, before ? { ...record, created: before.created ?? before.at } : record);
      }
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
export function lineOf({ created: _, additionalDirectories, ...line }: SessionRecord): object {
  const { sessionId, agent, nativeId, at, isGone } = line;
  if (isGone) return { sessionId, agent, nativeId, at, isGone };
  return areDirectories(additionalDirectories) ? { ...line, additionalDirectories } : line;
}

export function parseRecord(line: string): SessionRecord | undefined {
  if (line === '') return undefined;
  try {
    const value = JSON.parse(line);
    const isRecord = [value?.sessionId, value?.agent, value?.nativeId].every((field) => typeof field === 'string');
    if (!isRecord) return undefined;
    if (!areDirectories(value.additionalDirectories)) delete value.additionalDirectories;
    if (typeof value.created !== 'string') delete value.created;
    return value;
  } catch {
    return undefined;
  }
}
