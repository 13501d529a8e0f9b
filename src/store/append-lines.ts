// Files of JSON lines that several processes append to at the same time.
import { closeSync, constants, fstatSync, openSync, readSync, statSync, writeSync } from 'node:fs';
import path from 'node:path';
import { makeDirectory } from '../private-files.ts';

const FLAGS = constants.O_RDWR | constants.O_CREAT | constants.O_APPEND | (constants.O_NOFOLLOW ?? 0);
const LINE_FEED = Buffer.from('\n');

/** Appends in one write, so that lines of several processes do not mix. A line feed ends a line that a killed process left half written. */
export function appendLines(file: string, lines: string | Buffer): void {
  append(file, lines, () => {});
}

/**
 * As `appendLines`, for a file that another process may replace at that moment (rewrite-lines.ts). If it did so before we looked, nobody may have
 * read our lines in the old file, so they go to the new one as well. Readers accept a line that is there twice.
 */
export function appendToCurrent(file: string, lines: string): void {
  let isThere = false;
  for (let tries = 0; !isThere && tries < MAX_TRIES; tries++)
    append(file, lines, (fd) => {
      isThere = isCurrent(fd, file);
    });
}

/** The first nearly always succeeds. The file cannot be replaced this often while one line is written. */
const MAX_TRIES = 5;

function append(file: string, lines: string | Buffer, written: (fd: number) => void): void {
  const fd = openIn(file);
  try {
    const bytes = typeof lines === 'string' ? Buffer.from(lines) : lines;
    writeAll(fd, endsInsideLine(fd) ? Buffer.concat([LINE_FEED, bytes]) : bytes);
    written(fd);
  } finally {
    closeSync(fd);
  }
}

/** A disk that is nearly full writes a part and reports no error; only the next write fails. */
export function writeAll(fd: number, bytes: Buffer): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
}

/** Opens first: the directory nearly always exists, and to check takes longer than to open the file. */
function openIn(file: string): number {
  try {
    return openSync(file, FLAGS, 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    makeDirectory(path.dirname(file));
    return openSync(file, FLAGS, 0o600);
  }
}

/** Whether `file` still names the open file. Nobody restores a file that was deleted: that counts as current. */
export function isCurrent(fd: number, file: string): boolean {
  const opened = fstatSync(fd);
  const named = statSync(file, { throwIfNoEntry: false });
  if (named === undefined || isSameFile(opened, named)) return true;
  // Some file systems give a file one inode number by its name and another once it is open, so compare two open files.
  try {
    const again = openSync(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
    try {
      return isSameFile(opened, fstatSync(again));
    } finally {
      closeSync(again);
    }
  } catch {
    return true; // deleted since, or no longer readable: another try would not help
  }
}

type FileId = { readonly ino: number; readonly dev: number };
const isSameFile = (a: FileId, b: FileId): boolean => a.ino === b.ino && a.dev === b.dev;

function endsInsideLine(fd: number): boolean {
  const { size } = fstatSync(fd);
  if (size === 0) return false;
  const last = Buffer.alloc(1);
  readSync(fd, last, 0, 1, size - 1);
  return last[0] !== 0x0a;
}

export type Lines = { readonly lines: readonly string[]; readonly bytes: number };

/** The complete lines between two offsets, and their length. A last line without a line feed may still be in the writing. */
export function readLines(fd: number, from: number, to: number): Lines {
  const bytes = Buffer.allocUnsafe(Math.max(0, to - from));
  let got = 0;
  while (got < bytes.length) {
    const more = readSync(fd, bytes, got, bytes.length - got, from + got);
    if (more === 0) break;
    got += more;
  }
  return linesIn(bytes.subarray(0, got));
}

export function linesIn(bytes: Buffer): Lines {
  const end = bytes.lastIndexOf(0x0a) + 1;
  return { lines: bytes.toString('utf8', 0, end).split('\n').slice(0, -1), bytes: end };
}

const HEAD_BYTES = 64;

/** The first bytes of a file: another file may have got its inode number since. */
export function readHead(fd: number): string {
  const bytes = Buffer.alloc(HEAD_BYTES);
  return bytes.toString('latin1', 0, readSync(fd, bytes, 0, HEAD_BYTES, 0));
}
