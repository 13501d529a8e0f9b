// Replaces a file of JSON lines while other processes append to it, without making them wait. docs/decisions/0014-session-store-lock.md says why
// no line is lost:
// 1. `<file>.lock.<pid>.<start time>.<host>` lets one process at a time do this. Writers ignore it.
// 2. The new content is written to a draft, which then gets the name of the file.
// 3. Lines added to the old file meanwhile are appended to the new one. A writer whose line came even later sees that the path names
// another file, and appends its line again (`appendToCurrent`).
// `<file>.old.<bytes read>`, a hard link, keeps the old file between 2 and 3. If the process is killed there, the next rewrite does step 3.
import { closeSync, fstatSync, linkSync, openSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { draftOf } from '../private-files.ts';
import { lockOwner, mayBeAlive } from '../processes/lock-owner.ts';
import { appendToCurrent, isCurrent, readLines } from './append-lines.ts';

/** Selects what to append from lines that came to the old file too late for the new content. */
export type LateLines = (lines: readonly string[]) => readonly string[];

export type RewriteLock = {
  /** Renames the draft to the file. `fd` is the open old file; the draft covers its first `readBytes`. */
  replace(fd: number, readBytes: number, draft: string): boolean;
  release(): void;
};

/** A rewrite takes seconds. A lock from another host, which cannot be checked, expires after this time. */
const MAX_LOCK_AGE_MS = 24 * 60 * 60_000;

/** Undefined if another process has the lock. */
export function takeRewriteLock(file: string, late: LateLines): RewriteLock | undefined {
  const own = `${file}.lock.${lockOwner().replaceAll(path.sep, '_')}`;
  if (!createLock(own)) return undefined;
  const release = () => rmSync(own, { force: true });
  try {
    // Each process looks after it has created its lock, so two cannot miss each other. Both may withdraw; then the next start compacts.
    const others = namesAfter(file, 'lock').filter((lock) => lock !== own);
    if (others.some((lock) => isHeld(file, lock))) {
      release();
      return undefined;
    }
    for (const lock of others) rmSync(lock, { force: true });
    for (const old of namesAfter(file, 'old')) recover(file, old, late);
  } catch (error) {
    release();
    throw error;
  }
  return { replace: (fd, readBytes, draft) => replace(file, fd, readBytes, draft, late), release };
}

function createLock(lock: string): boolean {
  for (;;)
    try {
      writeFileSync(lock, '', { flag: 'wx', mode: 0o600 });
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      if (ageMs(lock) < MAX_LOCK_AGE_MS) return false; // this process already rewrites the file
      rmSync(lock, { force: true });
    }
}

function isHeld(file: string, lock: string): boolean {
  const owner = lock.slice(`${file}.lock.`.length);
  return mayBeAlive(owner) && ageMs(lock) < MAX_LOCK_AGE_MS;
}

const ageMs = (file: string): number => Date.now() - (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0);

/** Whether a process was killed between steps 2 and 3. */
export const needsRecovery = (file: string): boolean => namesAfter(file, 'old').length > 0;

function namesAfter(file: string, suffix: 'lock' | 'old'): readonly string[] {
  const folder = path.dirname(file);
  const begin = `${path.basename(file)}.${suffix}.`;
  try {
    return readdirSync(folder)
      .filter((name) => name.startsWith(begin))
      .map((name) => path.join(folder, name));
  } catch {
    return []; // the directory does not exist yet
  }
}

function replace(file: string, fd: number, readBytes: number, draft: string, late: LateLines): boolean {
  if (!isCurrent(fd, file)) return false; // replaced by a program that ignores the lock
  const old = `${file}.old.${readBytes}`;
  try {
    linkSync(file, old);
  } catch {} // a file system without hard links: only a kill at this moment could lose a line
  try {
    renameSync(draft, file);
  } catch (error) {
    rmSync(old, { force: true });
    throw error;
  }
  carryOver(file, fd, readBytes, late);
  rmSync(old, { force: true });
  return true;
}

function recover(file: string, old: string, late: LateLines): void {
  const readBytes = Number(old.slice(old.lastIndexOf('.') + 1));
  const fd = openSync(old, 'r');
  try {
    // If the process was killed before the rename, the old file is still current and complete.
    if (!isCurrent(fd, file)) carryOver(file, fd, readBytes, late);
  } finally {
    closeSync(fd);
  }
  rmSync(old, { force: true });
}

function carryOver(file: string, fd: number, from: number, late: LateLines): void {
  const lines = late(readLines(fd, from, fstatSync(fd).size).lines);
  if (lines.length > 0) appendToCurrent(file, textOf(lines));
}

export const textOf = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');

/** Rewrites a small file at once. False if another process has the lock. */
export function rewriteLines(file: string, change: LateLines, late: LateLines = change): boolean {
  const lock = takeRewriteLock(file, late);
  if (!lock) return false;
  const draft = draftOf(file);
  try {
    const fd = openSync(file, 'r');
    try {
      const { lines, bytes } = readLines(fd, 0, fstatSync(fd).size);
      rmSync(draft, { force: true });
      writeFileSync(draft, textOf(change(lines)), { flag: 'wx', mode: 0o600 });
      return lock.replace(fd, bytes, draft);
    } finally {
      closeSync(fd);
    }
  } finally {
    rmSync(draft, { force: true });
    lock.release();
  }
}
