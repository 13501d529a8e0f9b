// Files of JSON lines that are only ever added to, by several processes at once if need be.
import { closeSync, constants, fchmodSync, fstatSync, openSync, readSync, type Stats, statSync, writeSync } from 'node:fs';
import path from 'node:path';
import { makeDirectory } from '../make-directory.ts';

const FLAGS = constants.O_RDWR | constants.O_CREAT | constants.O_APPEND | (constants.O_NOFOLLOW ?? 0);
const LINE_FEED = Buffer.from('\n');

/** One write: lines of several processes do not mix. A line that a killed process left half written is cut off by a line feed. */
export function appendLines(file: string, lines: string | Buffer): void {
  append(file, lines, () => {});
}

/**
 * The same for a file that another process may put a new one in place of (compact-session-log.ts). It seals the old one first and then reads it to
 * its end: who finds it unsealed behind the write has been read. Who finds it sealed cannot know, and writes again where it is then to be written,
 * before anything else; so every process's lines are there, and in their order.
 */
export function appendToCurrent(file: string, lines: string): void {
  let isThere = false;
  for (let tries = 0; !isThere && tries < MOST_TRIES; tries++)
    append(file, lines, (fd) => {
      isThere = !isSealed(fd) || isStillTheFile(fd, file);
    });
}

/** Once is nearly always enough. There are disks where a file has another number by its name than for those who have it open. */
const MOST_TRIES = 5;

function append(file: string, lines: string | Buffer, written: (fd: number) => void): void {
  const fd = openIn(file);
  try {
    const bytes = typeof lines === 'string' ? Buffer.from(lines) : lines;
    writeAll(fd, isTorn(fd) ? Buffer.concat([LINE_FEED, bytes]) : bytes);
    written(fd);
  } finally {
    closeSync(fd);
  }
}

/** Its mode, and that of a sealed one: it means nothing else for a file of ours, and everyone sees it who has the file open, whatever its name by now. */
const OPEN = 0o600;
const SEALED = 0o700;
/** Far longer than it takes to put the new file in place. */
export const SEALED_MS = 1000;

export const isSealed = (fd: number): boolean => (fstatSync(fd).mode & 0o777) === SEALED;
export const seal = (fd: number, isOn: boolean): void => fchmodSync(fd, isOn ? SEALED : OPEN);
/** As we made it: not shared with others, nor read-only. */
export const isPrivate = ({ mode }: Stats): boolean => [OPEN, SEALED].includes(mode & 0o777);

/** None is waited for any more where one was found that does not come off. */
let patienceMs = SEALED_MS;

/** Waits for what becomes of a sealed file. Whoever sealed it may have been killed: then nothing does, and it is as if that had not been. */
function isStillTheFile(fd: number, file: string): boolean {
  const until = performance.now() + patienceMs;
  while (isCurrent(fd, file)) {
    if (!isSealed(fd)) return true;
    if (performance.now() >= until) return !comesOff(fd) || isCurrent(fd, file);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
  }
  return false;
}

/** Takes the seal off. On a disk that keeps no modes every file may look sealed, and nobody can have done that. */
function comesOff(fd: number): boolean {
  try {
    seal(fd, false);
  } catch {} // the file is another user's
  const isOff = !isSealed(fd);
  if (!isOff) patienceMs = 0;
  return isOff;
}

/** Whether the file is still the one that was opened. One that was removed is nobody's to make again. */
export function isCurrent(fd: number, file: string): boolean {
  const now = statSync(file, { throwIfNoEntry: false });
  const { ino, dev } = fstatSync(fd);
  return now === undefined || (now.ino === ino && now.dev === dev);
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
