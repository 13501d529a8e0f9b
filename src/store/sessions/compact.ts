// Compacts sessions.jsonl to one line per session: every step of a session appends a line, so most lines become obsolete. A file without
// obsolete lines is rewritten too: its new first line tells readers to skip compaction until it has doubled.
// docs/decisions/0014-session-store-lock.md
import { lstatSync, rmSync, type Stats } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { setImmediate as nextEvent } from 'node:timers/promises';
import { draftOf } from '../../private-files.ts';
import { linesIn } from '../append-lines.ts';
import { COMPACT_FROM_BYTES } from '../defaults.ts';
import { type RewriteLock, takeRewriteLock } from '../rewrite-lines.ts';
import {
  compactedBytes,
  createSessionState,
  firstLine,
  inOrder,
  isFirstLine,
  lineOf,
  markLate,
  parseRecord,
  type SessionRecord,
  type SessionState,
} from './session-records.ts';
import { isCompactionDue, sessionsFile } from './session-store.ts';

/** Resolves to whether the file was compacted. */
export async function compactSessionLog(dir: string, minBytes = COMPACT_FROM_BYTES): Promise<boolean> {
  const file = sessionsFile(dir);
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (!found || !isPrivate(found) || !isCompactionDue(dir, minBytes)) return false;
  const lock = takeRewriteLock(file, markLate);
  if (!lock) return false;
  try {
    if (!isCompactionDue(dir, minBytes)) return false; // the lock was taken only to recover
    const old = await open(file, 'r');
    try {
      return await compact(old, file, lock);
    } finally {
      await old.close();
    }
  } finally {
    lock.release();
  }
}

/** The new file is private to this user. A shared or read-only file is left alone. */
const isPrivate = (found: Stats): boolean => found.isFile() && found.uid === process.getuid?.() && (found.mode & 0o677) === 0o600;

async function compact(old: FileHandle, file: string, lock: RewriteLock): Promise<boolean> {
  const bytes = await old.readFile();
  const read = linesIn(bytes);
  const state = await stateOf(bytes.subarray(0, read.bytes));
  if (!state) return false;
  const draft = draftOf(file);
  rmSync(draft, { force: true }); // a leftover of a killed process with our pid, which in a container is likely
  try {
    const text = linesOf(state).join('');
    const to = await open(draft, 'wx', 0o600);
    try {
      await to.writeFile(`${firstLine(text)}${text}`);
      await to.sync();
    } finally {
      await to.close();
    }
    return lock.replace(old.fd, read.bytes, draft);
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Lines to parse before other events get their turn: about two milliseconds. */
const LINES_AT_ONCE = 500;

/** Undefined if a line is not a known record: another version may have written it, and compaction would lose data. */
async function stateOf(bytes: Buffer): Promise<SessionState | undefined> {
  const end = compactedBytes(bytes.toString('latin1', 0, 64));
  const lines = inOrder(linesIn(bytes.subarray(0, end)).lines, linesIn(bytes.subarray(end)).lines);
  const state = createSessionState();
  for (const [n, line] of lines.entries()) {
    if (n % LINES_AT_ONCE === LINES_AT_ONCE - 1) await nextEvent();
    const record = parseRecord(line);
    if (record) state.apply(record);
    else if (isForeign(line)) return undefined;
  }
  return state;
}

/** The fewest lines that add up to the same state. A record lists its agent's session again, so the lines that hide others come first. */
export function linesOf({ bySessionId, hidden, gone }: SessionState): string[] {
  const hiding = new Set(hidden.values());
  const reserved = [...gone.values()].filter((one) => !hiding.has(one)).map((one) => ({ ...one, isReserved: true }));
  return [...reserved, ...hiding, ...bySessionId.values()].map(textOf);
}

const textOf = (record: SessionRecord): string => {
  const { created, isGone } = record;
  return `${JSON.stringify({ ...lineOf(record), ...(created !== undefined && !isGone && { created }) })}\n`;
};

/** Valid JSON, but no record. A truncated line is not JSON. */
function isForeign(line: string): boolean {
  if (isFirstLine(line)) return false;
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}
