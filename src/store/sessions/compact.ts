// sessions.jsonl without the lines that later ones have made void. Every step of a session writes one, so most of them are after a while. Where
// none are, it is written anew all the same: its first line then says that it need not be read again before it has doubled.
// Others may write to it meanwhile: when the new file is nearly done, the old one is sealed and read to its end. What is written to it behind that
// its writer writes again, to the new one (appendToCurrent). Only one process does this to a file at a time: `claim`.
import { closeSync, fstatSync, fsyncSync, lstatSync, openSync, renameSync, rmSync, type Stats } from 'node:fs';
import { draftOf } from '../../private-files.ts';
import { wholeLines, writeAll } from '../append-lines.ts';
import { firstLine, isDue, isFirstLine } from '../compacted-size.ts';
import { COMPACT_FROM_BYTES } from '../defaults.ts';
import { appendToCurrent, isCurrent, isPrivate, isSealed, SEALED_MS, seal } from '../sealed-file.ts';
import { createSessionState, lineOf, nativeKey, parseRecord, type SessionRecord, type SessionState } from './session-records.ts';
import { sessionsFile } from './session-store.ts';

/** The sole right to work on the file with that number, until `end`; else who has it. `isDone`: the number means nothing any more. */
export type Claim = (file: string, ino: number) => { end(isDone: boolean): void } | { readonly takenBy: string };

/** Whether it was done. */
export function compactSessionLog(dir: string, claim: Claim, smallBytes = COMPACT_FROM_BYTES): boolean {
  const file = sessionsFile(dir);
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (!found || !isOurs(found) || !isDue(file, smallBytes)) return false;
  const fd = openSync(file, 'r');
  try {
    const claimed = claim(file, fstatSync(fd).ino);
    if ('takenBy' in claimed) return false;
    let isDone = false;
    try {
      isDone = isCurrent(fd, file) && compact(fd, file);
      return isDone;
    } finally {
      claimed.end(isDone);
    }
  } finally {
    closeSync(fd);
  }
}

/** What took its place would be ours alone, and whoever shares it, or has it read-only, wants it otherwise. */
const isOurs = (found: Stats): boolean => found.isFile() && found.uid === process.getuid?.() && isPrivate(found);

function compact(fd: number, file: string): boolean {
  const { lines, bytes } = wholeLines(fd, 0, fstatSync(fd).size);
  const state = createSessionState();
  for (const line of lines) {
    const record = parseRecord(line);
    if (record) state.apply(record);
    else if (isForeign(line)) return false;
  }
  const draft = draftOf(file);
  rmSync(draft, { force: true }); // of somebody who was killed and had our number, as in containers everyone has
  const to = openSync(draft, 'wx', 0o600);
  try {
    const text = linesOf(state).join('');
    writeAll(to, Buffer.from(`${firstLine(text)}${text}`));
    fsyncSync(to); // now, since from here on others wait
    return replace(fd, file, bytes, to, draft);
  } finally {
    closeSync(to);
    rmSync(draft, { force: true });
  }
}

/** Whether the draft is in place; else everything is as it was. */
function replace(fd: number, file: string, from: number, to: number, draft: string): boolean {
  seal(fd, false); // somebody who was killed may have left it so
  if (isSealed(fd)) return false; // then seals mean nothing on this disk
  const until = performance.now() + SEALED_MS / 2;
  let isDone = false;
  seal(fd, true);
  try {
    const late = wholeLines(fd, from, fstatSync(fd).size);
    if (late.bytes > 0) {
      writeAll(to, Buffer.from(textIn(late)));
      fsyncSync(to);
    }
    // Those who wait have not given us up yet.
    if (!isSealed(fd) || performance.now() > until) return false;
    renameSync(draft, file);
    isDone = true;
    if (!isSealed(fd)) carryOver(fd, file, from + late.bytes);
    return true;
  } finally {
    if (!isDone) seal(fd, false);
  }
}

/** The last step took so long that somebody who waited has gone on with the old file. */
function carryOver(fd: number, file: string, from: number): void {
  seal(fd, true); // whoever comes to it from here on knows that it is not the file any more
  const left = wholeLines(fd, from, fstatSync(fd).size);
  if (left.bytes > 0) appendToCurrent(file, textIn(left));
}

const textIn = ({ lines }: { readonly lines: readonly string[] }): string => lines.map((line) => `${line}\n`).join('');

/** As few lines as say the same. */
export function linesOf({ bySessionId, hidden }: SessionState): string[] {
  const live = new Set([...bySessionId.values()].map(keyOf));
  // A record makes its session visible again: where another name of the same session is hidden, that must come behind it.
  const isLive = (record: SessionRecord) => live.has(keyOf(record));
  const gone = [...hidden.values()];
  return [...gone.filter((one) => !isLive(one)), ...bySessionId.values(), ...gone.filter(isLive)].map(textOf);
}

const keyOf = ({ agent, nativeId }: SessionRecord): string => nativeKey(agent, nativeId);
const textOf = (record: SessionRecord): string => {
  const { created, isGone } = record;
  return `${JSON.stringify({ ...lineOf(record), ...(created !== undefined && !isGone && { created }) })}\n`;
};

/** No record, and yet something: another version has written it, and may know more than we do. Half a line is nothing. */
function isForeign(line: string): boolean {
  if (isFirstLine(line)) return false;
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}
