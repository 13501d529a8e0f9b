// Files of JSON lines that are only ever added to, by several processes at once if need be.
import { closeSync, constants, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import path from 'node:path';
import { makeDirectory } from '../private-files.ts';

const FLAGS = constants.O_RDWR | constants.O_CREAT | constants.O_APPEND | (constants.O_NOFOLLOW ?? 0);
const LINE_FEED = Buffer.from('\n');

/** One write: lines of several processes do not mix. A line that a killed process left half written is cut off by a line feed. */
export function appendLines(file: string, lines: string | Buffer): void {
  append(file, lines, () => {});
}

/** `written` gets to see the file behind the write. */
export function append(file: string, lines: string | Buffer, written: (fd: number) => void): void {
  const fd = openIn(file);
  try {
    const bytes = typeof lines === 'string' ? Buffer.from(lines) : lines;
    writeAll(fd, isTorn(fd) ? Buffer.concat([LINE_FEED, bytes]) : bytes);
    written(fd);
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

/** The lines of a file from there on that have their ends, and how long they are. */
export function wholeLines(fd: number, from: number, size: number): { readonly lines: readonly string[]; readonly bytes: number } {
  const bytes = Buffer.allocUnsafe(Math.max(0, size - from));
  let got = 0;
  while (got < bytes.length) {
    const more = readSync(fd, bytes, got, bytes.length - got, from + got);
    if (more === 0) break;
    got += more;
  }
  const whole = bytes.subarray(0, got).lastIndexOf(0x0a) + 1;
  return { lines: bytes.toString('utf8', 0, whole).split('\n').slice(0, -1), bytes: whole };
}

const HEAD_BYTES = 64;

/** How a file begins: another one may have its number on the disk by now. */
export function headOf(fd: number): string {
  const bytes = Buffer.alloc(HEAD_BYTES);
  return bytes.toString('latin1', 0, readSync(fd, bytes, 0, HEAD_BYTES, 0));
}
