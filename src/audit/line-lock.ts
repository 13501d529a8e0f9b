// Locks the next line of the audit log, across processes. Node has no lock that the system releases when its holder dies, so a lock is named after
// the number of its line, and only a lock for the same line takes it over: `audit.jsonl.turn.7.1` is the first attempt at line 7, `.7.2` the attempt
// of a process that found the first owner dead. Only one process can create each of these, none is removed before line 7 is in the log, and its
// creator reads the log once more before it writes.
import { readdirSync, readFileSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { here } from '../platform/platform.ts';
import { lockOwner, mayBeAlive } from '../processes/lock-owner.ts';

/** `isWritten`: the line is in the log, so its locks have no meaning any more. */
export type Turn = { end(isWritten: boolean): void };

const MAX_TRIES = 1000;

/** Takes the lock for line `seq` of `file`; if a living process holds it, returns the path of its lock. */
export function takeTurn(file: string, seq: number): Turn | { readonly takenBy: string } {
  for (let attempt = 1; attempt <= MAX_TRIES; attempt++) {
    const mark = markOf(file, seq, attempt);
    if (makeMark(mark)) {
      // Without the line, the locks of dead processes must stay: another process may be about to take over.
      return { end: (isWritten) => (isWritten ? removeMarks(file, seq, attempt) : rmSync(mark, { force: true })) };
    }
    const owner = readMark(mark);
    if (owner === undefined)
      attempt--; // its owner has just released it
    else if (mayBeAlive(owner)) return { takenBy: mark };
  }
  return { takenBy: markOf(file, seq, MAX_TRIES) };
}

/** Removes locks that dead processes left for lines that are in the log. */
export function removeOldMarks(file: string, writtenSeq: number): void {
  const folder = path.dirname(file);
  const begin = `${path.basename(file)}.turn.`;
  try {
    for (const name of readdirSync(folder)) {
      if (name.startsWith(begin) && Number.parseInt(name.slice(begin.length), 10) <= writtenSeq)
        rmSync(path.join(folder, name), { force: true });
    }
  } catch {} // harmless: they are only in the way of readers
}

const markOf = (file: string, seq: number, attempt: number) => `${file}.turn.${seq}.${attempt}`;

function removeMarks(file: string, seq: number, last: number): void {
  for (let attempt = last; attempt >= 1; attempt--) rmSync(markOf(file, seq, attempt), { force: true });
}

// A symbolic link is created together with its content, in one step; a file would be empty for a moment.
function makeMark(mark: string): boolean {
  try {
    symlinkSync(lockOwner(), mark);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return false;
    if (code !== 'EPERM' || !here.restrictsLinks) throw error;
  }
  try {
    writeFileSync(mark, lockOwner(), { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function readMark(mark: string): string | undefined {
  try {
    return readlinkSync(mark);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    if (code === 'EINVAL' || code === 'UNKNOWN') return readFileSync(mark, 'utf8');
    throw error;
  }
}
