// Files of JSON lines that are only ever added to, by several processes at once if need be.
import { closeSync, constants, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import path from 'node:path';
import { makeDirectory } from '../make-directory.ts';

const FLAGS = constants.O_RDWR | constants.O_CREAT | constants.O_APPEND | (constants.O_NOFOLLOW ?? 0);
const LINE_FEED = Buffer.from('\n');

/** One write: lines of several processes do not mix. A line that a killed process left half written is cut off by a line feed. */
export function appendLines(file: string, lines: string | Buffer): void {
  const fd = openIn(file);
  try {
    const bytes = typeof lines === 'string' ? Buffer.from(lines) : lines;
    writeAll(fd, isTorn(fd) ? Buffer.concat([LINE_FEED, bytes]) : bytes);
  } finally {
    closeSync(fd);
  }
}

/** A disk that is about to be full takes a part without a word, and says so only of the next. */
export function writeAll(fd: number, bytes: Buffer): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
}

/** The directory is nearly always there, and to ask for it takes longer than to open the file. */
function openIn(file: string): number {
  try {
    return openSync(file, FLAGS, 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    makeDirectory(path.dirname(file));
    return openSync(file, FLAGS, 0o600);
  }
}

function isTorn(fd: number): boolean {
  const { size } = fstatSync(fd);
  if (size === 0) return false;
  const last = Buffer.alloc(1);
  readSync(fd, last, 0, 1, size - 1);
  return last[0] !== 0x0a;
}
