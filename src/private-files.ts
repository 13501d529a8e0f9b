// A directory of ours and those above it, private to the user. Step by step: where the system says that there is no such place although
// its parent is there (below /proc), Node's own recursive way tries without end.
import { mkdirSync, statSync } from 'node:fs';
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
