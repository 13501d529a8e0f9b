// Creates our directories, private to the user, one level at a time: below /proc, where mkdir reports ENOENT although the parent exists,
// Node's recursive mkdir never returns.
import { mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** Throws the system's error if the directory cannot be created, or if something else is in its place. */
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
/**
 * The temporary file for the new text. Its name cannot clash with another program's file, because leftovers are deleted without
 * confirmation.
 */
export const draftOf = (file: string, pid: number = process.pid): string => `${file}.switchboard-${pid}.tmp`;

/** Private to the user. If the file cannot be written, throws the system's error and leaves nothing behind. */
export function replaceFile(file: string, text: string): void {
  const draft = draftOf(file);
  try {
    writeFileSync(draft, text, { mode: 0o600 });
    renameSync(draft, file);
  } catch (error) {
    removeQuietly(draft); // on a full disk an empty file exists
    throw error;
  }
}

/** Drafts in a directory, being written or left by a killed process, with the pid of each. */
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
    // The cause of the failed write also prevents the removal.
  }
}
