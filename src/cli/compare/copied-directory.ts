// A copy of a directory outside a repository, and its changes.
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { copyFile, lstat, mkdir, readdir, readFile, readlink, rm, symlink } from 'node:fs/promises';
import path from 'node:path';
import { joinWords } from '../../agents/shell-words.ts';
import { CommandFailure } from '../failure.ts';
import type { Change, WorkDirectory } from './work-directory.ts';

/** A user who starts this in a home directory by mistake does not want one copy per agent. */
const MAX_FILES = 20_000;
const MAX_BYTES = 1024 ** 3;

/** Returns a function that copies `cwd` as it is now. */
export async function copyOf(cwd: string): Promise<(root: string) => Promise<WorkDirectory>> {
  const files = await filesBelow(cwd);
  return async (root) => {
    await mkdir(root, { recursive: true });
    const before = new Map<string, string>();
    for (const [file, kind] of files) {
      const [from, to] = [path.join(cwd, file), path.join(root, file)];
      await mkdir(path.dirname(to), { recursive: true });
      if (kind === 'link') await symlink(await readlink(from), to);
      else await copyFile(from, to, constants.COPYFILE_FICLONE);
      before.set(file, await contentOf(to, kind));
    }
    return {
      kind: 'copy',
      root,
      cwd: root,
      look: joinWords(['diff', '-r', cwd, root]),
      discard: joinWords(['rm', '-r', root]),
      changes: () => changesSince(before, root).catch(() => undefined),
      remove: () => rm(root, { recursive: true, force: true }),
    };
  };
}

type Kind = 'file' | 'link';

async function filesBelow(top: string): Promise<ReadonlyMap<string, Kind>> {
  const found = new Map<string, Kind>();
  let bytes = 0;
  const walk = async (folder: string): Promise<void> => {
    for (const entry of await readdir(path.join(top, folder), { withFileTypes: true })) {
      const file = path.join(folder, entry.name);
      if (entry.isDirectory()) await walk(file);
      else if (entry.isSymbolicLink()) found.set(file, 'link');
      else if (entry.isFile()) {
        found.set(file, 'file');
        bytes += (await lstat(path.join(top, file))).size;
      }
      if (found.size > MAX_FILES || bytes > MAX_BYTES)
        throw new CommandFailure(
          1,
          `${top} is too large to copy for each agent (more than ${found.size > MAX_FILES ? `${MAX_FILES} files` : `${MAX_BYTES / 1024 ** 3} GB`})`,
          'use a smaller directory, or a git repository, where switchboard uses worktrees',
        );
    }
  };
  await walk('');
  return found;
}

async function changesSince(before: ReadonlyMap<string, string>, root: string): Promise<readonly Change[]> {
  const now = await filesBelow(root);
  const changes: Change[] = [...before.keys()].flatMap((file) => (now.has(file) ? [] : [{ path: file, status: 'deleted' }]));
  for (const [file, kind] of now) {
    const was = before.get(file);
    if (was === undefined) changes.push({ path: file, status: 'added' });
    else if (was !== (await contentOf(path.join(root, file), kind))) changes.push({ path: file, status: 'changed' });
  }
  return changes.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

async function contentOf(file: string, kind: Kind): Promise<string> {
  return kind === 'link'
    ? `-> ${await readlink(file)}`
    : createHash('sha256')
        .update(await readFile(file))
        .digest('hex');
}
