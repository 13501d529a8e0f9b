// The lines of sessions.jsonl, and the state they add up to.

export type SessionRecord = {
  readonly sessionId: string;
  readonly agent: string;
  readonly nativeId: string;
  readonly cwd?: string | undefined;
  /** The directories it was last opened with, besides its `cwd`. */
  readonly additionalDirectories?: readonly string[] | undefined;
  /** When the line was written. */
  readonly at: string;
  /** When the first line of the session was written, if this is a later one. Only compacted files have it. */
  readonly created?: string | undefined;
  /** How the host tools were offered to its agent, and how far the agent got with them. */
  readonly tools?: { readonly transport: string; readonly state: string } | undefined;
  /** The session must not be listed any more. */
  readonly isGone?: boolean | undefined;
};

export type SessionState = {
  /** The newest record of each session, in the order they were written. */
  readonly bySessionId: Map<string, SessionRecord>;
  /** Sessions of an agent that must not be listed, each with the line that removed it. */
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
        if (before) bySessionId.delete(record.sessionId); // the map keeps the order of the newest records
        bySessionId.set(record.sessionId, before ? { ...record, created: before.created ?? before.at } : record);
      }
    },
  };
}

/** The limits of the console. */
const MAX_DIRECTORIES = 50;
const MAX_DIRECTORY_CHARACTERS = 4000;

/** All or none: a part of the list would silently reopen the session with fewer directories. */
const areDirectories = (value: unknown): value is readonly string[] =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.length <= MAX_DIRECTORIES &&
  value.every((one) => typeof one === 'string' && one.length <= MAX_DIRECTORY_CHARACTERS);

/** The line of a removed session contains only its ids. */
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
    if (value.late !== undefined) delete value.late; // about the line, not about the session
    return value;
  } catch {
    return undefined;
  }
}

const LATE_END = ',"late":true}';
const isLate = (line: string): boolean => line.endsWith(LATE_END);
export const hasLate = (lines: readonly string[]): boolean => lines.some(isLate);

/** Marks lines that a compaction carried over from the old file. Drops truncated lines. */
export function markLate(lines: readonly string[]): readonly string[] {
  return lines
    .filter((line) => line.startsWith('{"') && line.endsWith('}'))
    .map((line) => (isLate(line) ? line : `${line.slice(0, -1)}${LATE_END}`));
}

/**
 * Restores the order in which lines were written. Late lines come after the compacted part, but were written to the old file, before every
 * other line after that part.
 */
export function inOrder(compacted: readonly string[], others: readonly string[]): readonly string[] {
  if (!hasLate(others)) return [...compacted, ...others];
  return [...compacted, ...others.filter(isLate), ...others.filter((line) => !isLate(line))];
}

// The first line of a compacted file gives the length of the compacted part: it needs no compaction before it has doubled.
const FIRST_LINE = /^\{"compacted":(\d+),"at":"[^"]*"\}\n/;

export const firstLine = (text: string): string =>
  `${JSON.stringify({ compacted: Buffer.byteLength(text), at: new Date().toISOString() })}\n`;

export const isFirstLine = (line: string): boolean => FIRST_LINE.test(`${line}\n`);

/** Where the compacted part of a file ends, from its first bytes; 0 if there is none. */
export function compactedBytes(head: string): number {
  const [line, bytes] = FIRST_LINE.exec(head) ?? [];
  return line === undefined ? 0 : line.length + Number(bytes);
}
