// Files of JSON lines that several processes append to at the same time.
import { closeSync, constants, fstatSync, openSync, readSync, statSync, writeSync } from 'node:fs';
import path from 'node:path';
import { makeDirectory } from '../private-files.ts';

const FLAGS = constants.O_RDWR | constants.O_CREAT | constants.O_APPEND | (constants.O_NOFOLLOW ?? 0);
const LINE_FEED = Buffer.from('\n');

/** Appends in one write, so that lines of several processes do not mix. A line feed ends a line that a killed process left incomplete. */
export function appendLines(file: string, lines: string | Buffer): void {
  append(file, lines, () => {});
}

/**
 * Like `appendLines`, for a file that another process may replace meanwhile (rewrite-lines.ts). If the file was replaced, the rewriter may
 * have missed these lines, so they are appended to the new file as well. Readers tolerate duplicate lines.
 */
export function appendToCurrent(file: string, lines: string): void {
  let isThere = false;
  for (let tries = 0; !isThere && tries < MAX_TRIES; tries++)
    append(file, lines, (fd) => {
      isThere = isCurrent(fd, file);
    });
}

/** The first try nearly always succeeds. */
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

/** How long a record that cannot be written rests: a full disk may have space again later. */
export const RETRY_MS = 30_000;

/** The same sentence for every record: which of them fails first is chance, and only the first is reported. */
export function writeFailure(file: string, error: unknown): Error {
  const { code, message } = error as NodeJS.ErrnoException;
  const text = `${file} cannot be written (${code ?? message}); switchboard retries every ${RETRY_MS / 1000} seconds and notes the missing part`;
  return new Error(text, { cause: error });
}

/** A nearly full disk writes a part and reports no error; only the next write fails. */
export function writeAll(fd: number, bytes: Buffer): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
}

/** Opens first: the directory nearly always exists, and checking it takes longer than opening the file. */
function openIn(file: string): number {
  try {
    return openSync(file, FLAGS, 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    makeDirectory(path.dirname(file));
    return openSync(file, FLAGS, 0o600);
  }
}

/** Whether `file` still names the open file. A deleted file counts as current, because nothing restores it. */
export function isCurrent(fd: number, file: string): boolean {
  const opened = fstatSync(fd);
  const named = statSync(file, { throwIfNoEntry: false });
  if (named === undefined || isSameFile(opened, named)) return true;
  // Some file systems report different inode numbers for a path and for a descriptor, so compare two descriptors.
  try {
    const again = openSync(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
    try {
      return isSameFile(opened, fstatSync(again));
    } finally {
      closeSync(again);
    }
  } catch {
    return true; // deleted meanwhile, or unreadable: another try would not help
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

/** The complete lines between two offsets, and their length. A process may still be writing a last line without a line feed. */
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

/** The first bytes of a file, to detect that another file got its inode number. */
export function readHead(fd: number): string {
  const bytes = Buffer.alloc(HEAD_BYTES);
  return bytes.toString('latin1', 0, readSync(fd, bytes, 0, HEAD_BYTES, 0));
}
