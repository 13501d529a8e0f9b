// Looks for files below a directory, for a policy that must know what a recursive search would read.
import { type Dirent, readdirSync, statSync } from 'node:fs';
import path from 'node:path';

/** The file that was found, `too many` if the directory holds more than is looked at, undefined if there is none. */
export type FoundBelow = { readonly file: string } | 'too many' | undefined;

/** A directory that is not looked into is `skipped`. */
type IsWanted = (file: string, kind: 'file' | 'link' | 'skipped') => boolean;

/** It blocks every session, so it stops here. */
const MAX_ENTRIES = 5000;
const MAX_REMEMBERED = 2000;
/** Dependencies and git's own files: large, and no place for secrets of the project. */
const SKIPPED: ReadonlySet<string> = new Set(['node_modules', '.git']);

type Listing = { readonly mtimeMs: number; readonly entries: readonly Dirent[] };
const listings = new Map<string, Listing>();

/** Does not follow links. Directories that did not change are not read again. */
export function findBelow(root: string, seesHidden: boolean, isWanted: IsWanted): FoundBelow {
  const open = [root];
  let count = 0;
  for (let directory = open.pop(); directory !== undefined; directory = open.pop()) {
    for (const entry of entriesOf(directory)) {
      if (++count > MAX_ENTRIES) return 'too many';
      if (!seesHidden && entry.name.startsWith('.')) continue;
      const file = path.join(directory, entry.name);
      const isSkipped = SKIPPED.has(entry.name);
      if (entry.isDirectory() && !isSkipped) open.push(file);
      else if (isWanted(file, isSkipped ? 'skipped' : entry.isSymbolicLink() ? 'link' : 'file')) return { file };
    }
  }
  return undefined;
}

function entriesOf(directory: string): readonly Dirent[] {
  try {
    const { mtimeMs } = statSync(directory);
    const known = listings.get(directory);
    if (known?.mtimeMs === mtimeMs) return known.entries;
    const entries = readdirSync(directory, { withFileTypes: true });
    if (listings.size >= MAX_REMEMBERED) listings.clear();
    listings.set(directory, { mtimeMs, entries });
    return entries;
  } catch {
    // A file, or a directory that is not there or not readable: the command will not read it either.
    return [];
  }
}
