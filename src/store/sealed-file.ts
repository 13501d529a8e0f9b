// A file of lines that another process may put a new one in place of. It seals the old one first, so that whoever writes to it meanwhile sees that.
import { fchmodSync, fstatSync, type Stats, statSync } from 'node:fs';
import { append } from './append-lines.ts';

/**
 * As `appendLines`. Who puts the new file in place (compact-session-log.ts) reads the old one to its end once it is sealed: who finds it unsealed
 * behind the write has been read. Who finds it sealed cannot know, and writes again where it is then to be written, before anything else; so
 * every process's lines are there, and in their order.
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
