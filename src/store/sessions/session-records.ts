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
  /** How the host tools were offered to its agent, how far the agent got with them, and which it took. */
  readonly tools?: { readonly transport: string; readonly state: string; readonly names?: readonly string[] | undefined } | undefined;
  /** The token's name, for a session that a network client opened. */
  readonly principal?: string | undefined;
  /** It was opened here and never had a prompt: there is nothing in it to lose, and it can still change its agent. */
  readonly isUnprompted?: boolean | undefined;
  /** What the client has set in it, as long as it is unprompted. */
  readonly settings?: SessionSettings | undefined;
  /** The client has closed it since it was last opened. Written for unprompted sessions only. */
  readonly isClosed?: boolean | undefined;
  /** Drawn by the process that opened the session. Lines of this id with another claim are not about this session. */
  readonly claim?: string | undefined;
  /** The session must not be listed any more. */
  readonly isGone?: boolean | undefined;
  /** The line only reserves the id of a session that is gone: the agent's own id has been used again. Only compacted files have it. */
  readonly isReserved?: boolean | undefined;
};

/** Values are the agent's names for its modes, models and options. */
export type SessionSettings = {
  readonly mode?: string | undefined;
  readonly model?: string | undefined;
  readonly options?: Readonly<Record<string, string | boolean>> | undefined;
};

export type SessionState = {
  /** The newest record of each session, in the order they were written. */
  readonly bySessionId: Map<string, SessionRecord>;
  /** Sessions of an agent that must not be listed, each with the line that removed it. */
  readonly hidden: Map<string, SessionRecord>;
  /** By id, sessions that do not exist any more. Their ids stay theirs. */
  readonly gone: Map<string, SessionRecord>;
  apply(record: SessionRecord): void;
};

export const nativeKey = (agent: string, nativeId: string): string => `${agent}\n${nativeId}`;

export function createSessionState(): SessionState {
  const bySessionId = new Map<string, SessionRecord>();
  const hidden = new Map<string, SessionRecord>();
  const gone = new Map<string, SessionRecord>();
  /** An agent may have used the id again, in a later process. */
  const isUsedAgain = ({ sessionId, agent, nativeId }: SessionRecord): boolean => {
    for (const one of bySessionId.values())
      if (one.nativeId === nativeId && one.agent === agent && one.sessionId !== sessionId) return true;
    return false;
  };
  return {
    bySessionId,
    hidden,
    gone,
    apply(record) {
      const before = bySessionId.get(record.sessionId);
      const claim = before?.claim ?? gone.get(record.sessionId)?.claim ?? record.claim;
      if (record.claim !== undefined && record.claim !== claim) return; // two processes took the id at once, and this one came second
      const key = nativeKey(record.agent, record.nativeId);
      if (record.isGone) {
        // A session that has moved to another agent is only hidden at the first one.
        const hasMoved = before !== undefined && nativeKey(before.agent, before.nativeId) !== key;
        const removed = { ...record, claim: hasMoved ? before.claim : claim };
        if (!record.isReserved && !isUsedAgain(record)) hidden.set(key, removed);
        if (hasMoved) return;
        bySessionId.delete(record.sessionId);
        gone.set(record.sessionId, removed);
      } else {
        hidden.delete(key);
        gone.delete(record.sessionId);
        if (before) bySessionId.delete(record.sessionId); // the map keeps the order of the newest records
        const principal = record.principal ?? before?.principal; // a session keeps its owner when another client opens it again
        const owned: { -readonly [Key in keyof SessionRecord]: SessionRecord[Key] } = {
          ...record,
          ...(principal !== undefined && { principal }),
          ...(claim !== undefined && { claim }),
        };
        // Another process may have prompted it meanwhile.
        const hasBegun = before !== undefined && before.isUnprompted !== true;
        if (hasBegun) for (const key of ['isUnprompted', 'settings'] as const) delete owned[key];
        bySessionId.set(record.sessionId, before ? { ...owned, created: before.created ?? before.at } : owned);
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

const MAX_SETTINGS = 50;
const MAX_SETTING_CHARACTERS = 500;

/** Whether they are worth a place in each line of the session. */
export function areSettings(value: unknown): value is SessionSettings {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const { mode, model, options = {} } = value as Record<string, unknown>;
  if (typeof options !== 'object' || options === null || Array.isArray(options)) return false;
  const isName = (one: unknown) => typeof one === 'string' && one.length <= MAX_SETTING_CHARACTERS;
  const set = Object.entries(options);
  return (
    [mode, model].every((one) => one === undefined || isName(one)) &&
    set.length <= MAX_SETTINGS &&
    set.every(([id, one]) => isName(id) && (typeof one === 'boolean' || isName(one)))
  );
}

/** The line of a removed session contains only its ids. */
export function lineOf({ created: _, additionalDirectories, ...line }: SessionRecord): object {
  const { sessionId, agent, nativeId, at, claim, isGone, isReserved } = line;
  if (isGone) return { sessionId, agent, nativeId, at, ...(claim !== undefined && { claim }), isGone, ...(isReserved && { isReserved }) };
  return areDirectories(additionalDirectories) ? { ...line, additionalDirectories } : line;
}

export function parseRecord(line: string): SessionRecord | undefined {
  if (line === '') return undefined;
  try {
    const value = JSON.parse(line);
    const isRecord = [value?.sessionId, value?.agent, value?.nativeId].every((field) => typeof field === 'string');
    if (!isRecord) return undefined;
    if (!areDirectories(value.additionalDirectories)) delete value.additionalDirectories;
    for (const key of ['isUnprompted', 'isClosed']) if (value[key] !== true) delete value[key];
    if (value.isUnprompted !== true || !areSettings(value.settings)) delete value.settings;
    if (typeof value.created !== 'string') delete value.created;
    if (typeof value.principal !== 'string') delete value.principal;
    if (typeof value.claim !== 'string') delete value.claim;
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

/** The host tools of a session in a few words. */
export function toolsText(tools: SessionRecord['tools']): string {
  if (!tools) return 'none offered';
  const { transport, state, names } = tools;
  if (state === 'offered') return `offered by ${transport}, not connected`;
  return names ? `${names.length} by ${transport}${state === 'called' ? ', used' : ''}` : `by ${transport} (${state})`;
}
