// Files of the single executable that must be on the disk, such as a policy that people may open: written when they are first needed, into the
// state directory, which agents in a sandbox cannot see. A file that differs from ours is replaced.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { VERSION } from '../../app/package-files.ts';
import { makeDirectory, replaceFile } from '../../private-files.ts';
import { surroundings } from '../resolve-config.ts';

type Sea = { getAsset(name: string, encoding: 'utf8'): string };
let names: readonly string[] | undefined;

/** The path of a file, or of a directory with all its files. A name that is not ours gets a path too; nothing is there. */
export function unpackTo(...parts: readonly string[]): string {
  const { getAsset } = (process as unknown as { getBuiltinModule(name: string): Sea }).getBuiltinModule('node:sea');
  names ??= JSON.parse(getAsset('names', 'utf8')) as readonly string[];
  const root = path.join(surroundings({}).stateDir, `files-${VERSION}`);
  const wanted = parts.join('/');
  for (const name of names.filter((one) => one === wanted || one.startsWith(`${wanted}/`))) {
    const file = path.join(root, ...name.split('/'));
    const text = getAsset(name, 'utf8');
    if (read(file) === text) continue;
    makeDirectory(path.dirname(file));
    replaceFile(file, text);
  }
  return path.join(root, ...parts);
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
