// Whose turn it is to write a line, over several processes. Node has no lock that the system would take back when its holder dies, so a
// turn is named after the number of the line it is for, and is only ever taken over by a turn of the same line:
// `audit.jsonl.turn.7.1` is the first try at line 7, `.7.2` the try of whoever found the first one's owner dead. Exactly one process can make
// each of these, none is removed before line 7 stands in the log, and whoever has made one looks at the log once more before it writes.
import { readdirSync, readFileSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { lockOwner, mayBeAlive } from '../processes/lock-owner.ts';

/** `isWritten`: the line stands in the log, so that no mark of it means anything any more. */
export type Turn = { end(isWritten: boolean): void };

const MAX_TRIES = 1000;

/** The turn for line `seq` of `file`, or the file of the living process that has it. */
export function takeTurn(file: string, seq: number): Turn | { readonly takenBy: string } {
  for (let attempt = 1; attempt <= MAX_TRIES; attempt++) {
    const mark = markOf(file, seq, attempt);
    if (makeMark(mark)) {
      // Without the line, the marks of the dead must stay: somebody may be about to take over from them.
      return { end: (isWritten) => (isWritten ? removeMarks(file, seq, attempt) : rmSync(mark, { force: true })) };
    }
    const owner = readMark(mark);
    if (owner === undefined)
      attempt--; // its owner has just ended its turn
    else if (mayBeAlive(owner)) return { takenBy: mark };
  }
  return { takenBy: markOf(file, seq, MAX_TRIES) };
}

/** Waits without giving the turn of the event loop away: nothing may be answered before the line is written. */
export function sleep(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** What processes have left that died outside their turns. Those lines stand, so the marks mean nothing any more. */
export function removeOldMarks(file: string, writtenSeq: number): void {
  const folder = path.dirname(file);
  const begin = `${path.basename(file)}.turn.`;
  try {
    for (const name of readdirSync(folder)) {
      if (name.startsWith(begin) && Number.parseInt(name.slice(begin.length), 10) <= writtenSeq)
        rmSync(path.join(folder, name), { force: true });
    }
  } catch {} // only untidy
}

const markOf = (file: string, seq: number, attempt: number) => `${file}.turn.${seq}.${attempt}`;

function removeMarks(file: string, seq: number, last: number): void {
  for (let attempt = last; attempt >= 1; attempt--) rmSync(markOf(file, seq, attempt), { force: true });
}

// A symbolic link is made in one step together with the words it holds; a file would be empty for a moment.
function makeMark(mark: string): boolean {
  try {
    symlinkSync(lockOwner(), mark);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return false;
    if (code !== 'EPERM' || process.platform !== 'win32') throw error; // Windows wants a privilege for links
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
