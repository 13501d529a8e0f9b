// fs/write_text_file: the whole new text or nothing, in a verified directory. It writes a temporary file and renames it, so nobody sees
// half of the text, and a link that appears in its place is replaced, not followed.
import { randomUUID } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, rename, unlink } from 'node:fs/promises';
import path from 'node:path';
import { failure } from '../errors.ts';
import type { Demand, Descriptors, Directory } from './descriptors.ts';
import { fileFailure, namesDirectory, notAFile } from './file-errors.ts';
import { resolveInside } from './resolve-inside.ts';
import { holdTo, type Roots } from './roots.ts';

const METHOD = 'fs/write_text_file';
const { O_WRONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;

export type WriteParams = { readonly path?: unknown; readonly content?: unknown };

/** `evaluatedPath` is the real path when the policy was evaluated. */
export async function writeTextFile(
  descriptors: Descriptors,
  roots: Roots,
  params: WriteParams,
  evaluatedPath?: string,
): Promise<Record<string, never>> {
  const { content } = params;
  if (typeof content !== 'string') throw failure('PARAMS', [METHOD, 'content must be a string']);
  try {
    const real = await resolveInside(METHOD, params.path, roots, evaluatedPath);
    if (roots.real.includes(real) || namesDirectory(params.path)) throw notAFile(METHOD);
    await putInPlace(descriptors, roots, real, content, evaluatedPath);
    return {};
  } catch (error) {
    throw fileFailure(METHOD, error, params.path);
  }
}

/** `real` is the real path. `check` runs last and throws if the text must not be written any more. */
export async function putInPlace(
  descriptors: Descriptors,
  roots: Roots,
  real: string,
  content: string,
  evaluatedPath: string | undefined,
  check: (target: string) => Promise<void> = async () => {},
): Promise<void> {
  // Encoding would replace it by another character.
  if (/\p{Surrogate}/u.test(content)) throw failure('PARAMS', [METHOD, 'content holds half a character (a lone surrogate)']);
  const directory = await enter(
    descriptors,
    path.dirname(real),
    holdTo(roots, undefined),
    holdTo(roots, evaluatedPath && path.dirname(evaluatedPath)),
  );
  try {
    await replace(directory, path.basename(real), content, check);
  } finally {
    await directory.close();
  }
}

/** The directory of a file, created if needed: from an existing one, name by name. */
export async function enter(descriptors: Descriptors, real: string, above: Demand, demand: Demand = above): Promise<Directory> {
  above(real); // otherwise the root itself is missing, and not ours to create
  try {
    return await descriptors.openDirectory(real, demand);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const parent = await enter(descriptors, path.dirname(real), above);
  try {
    await mkdir(parent.at(path.basename(real))).catch(unlessThere);
    return await descriptors.openDirectory(real, demand, parent);
  } finally {
    await parent.close();
  }
}

function unlessThere(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}

async function replace(directory: Directory, file: string, content: string, check: (target: string) => Promise<void>): Promise<void> {
  const target = directory.at(file);
  const before = await existing(target);
  const name = `.switchboard-${randomUUID()}.tmp`;
  const temporary = directory.at(name);
  const handle = await directory.create(name, before ? 0o600 : 0o666);
  try {
    try {
      await handle.writeFile(content);
      if (before) await likeBefore(handle, before);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await directory.verify();
    await check(target);
    await rename(temporary, target);
  } catch (error) {
    await unlink(temporary).catch(() => {});
    throw error;
  }
}

/** The file to replace: writable, and without another hard link that would keep the old text. */
async function existing(target: string): Promise<Stats | undefined> {
  try {
    // Checked before opening: opening a FIFO can wake another process.
    if (!(await lstat(target)).isFile()) throw notAFile(METHOD);
    const handle = await open(target, O_WRONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      const stats = await handle.stat();
      if (!stats.isFile()) throw notAFile(METHOD);
      if (stats.nlink > 1) throw failure('FILE_UNUSABLE', [METHOD, 'it has another name (a hard link), perhaps outside; copy it first']);
      return stats;
    } finally {
      await handle.close();
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Owner first: changing it clears special bits, which are not restored. Only the mode is certain. */
async function likeBefore(handle: FileHandle, { uid, gid, mode }: Stats): Promise<void> {
  const now = await handle.stat();
  if (now.uid !== uid || now.gid !== gid) await handle.chown(uid, gid).catch(() => {});
  await handle.chmod(mode & 0o777);
}
