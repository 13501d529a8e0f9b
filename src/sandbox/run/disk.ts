// The disk for the compiler.
import { closeSync, type Dirent, lstatSync, openSync, readdirSync, readSync, realpathSync, type Stats } from 'node:fs';
import type { Disk } from '../profile/profile.ts';

const MAX_BYTES = 4096;

export const realDisk: Disk = {
  kindOf(path) {
    try {
      return kindOf(lstatSync(path));
    } catch {
      return undefined;
    }
  },
  real(path) {
    try {
      return realpathSync.native(path);
    } catch {
      return undefined;
    }
  },
  list(directory) {
    try {
      return readdirSync(directory, { withFileTypes: true }).map((entry) => ({ name: entry.name, kind: kindOf(entry) }));
    } catch {
      return [];
    }
  },
  read(path) {
    let file: number | undefined;
    try {
      file = openSync(path, 'r');
      const bytes = Buffer.alloc(MAX_BYTES);
      return bytes.toString('utf8', 0, readSync(file, bytes));
    } catch {
      return undefined;
    } finally {
      if (file !== undefined) closeSync(file);
    }
  },
};

function kindOf(entry: Stats | Dirent): 'file' | 'directory' | 'link' | 'other' {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'directory';
  return entry.isSymbolicLink() ? 'link' : 'other';
}
