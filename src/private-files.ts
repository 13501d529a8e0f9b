// A directory of ours and those above it, private to the user. Step by step: where the system says that there is no such place although
// its parent is there (below /proc), Node's own recursive way tries without end.
import { mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** Throws what the system says when it cannot be made, or when something else is there. */
export function makeDirectory(dir: string): void {
  try {
    make(dir);
  } catch (error) {
    const parent = path.dirname(dir);
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || parent === dir) throw error;
    makeDirectory(parent);
    make(dir);
  }
}

function make(dir: string): void {
  try {
    mkdirSync(dir, { mode: 0o700 });
  } catch (error) {
    if (!statSync(dir, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
}

// Writes a file whole or not at all: a reader sees the old content until the new one is complete.
/** Where the new text is written first. Named so that nobody else's can be taken for one: what is left of them is removed without a question. */
export const draftOf = (file: string, pid: number = process.pid): string => `${file}.switchboard-${pid}.tmp`;

/** Private to the user. Throws what the system says when it cannot be written; then nothing is left of the attempt. */
export function replaceFile(file: string, text: string): void {
  const draft = draftOf(file);
  try {
    writeFileSync(draft, text, { mode: 0o600 });
    renameSync(draft, file);
  } catch (error) {
    removeQuietly(draft); // on a full disk it is there, and empty
    throw error;
  }
}

/** Attempts that are under way in a directory, or were when their process was killed, and whose they are. */
export function draftsIn(dir: string): readonly { readonly file: string; readonly pid: number }[] {
  return readdirSync(dir).flatMap((name) => {
    const pid = Number(/\.switchboard-(\d+)\.tmp$/.exec(name)?.[1]);
    return pid > 0 ? [{ file: path.join(dir, name), pid }] : [];
  });
}

function removeQuietly(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    // What kept us from writing it keeps us from removing it.
  }
}
