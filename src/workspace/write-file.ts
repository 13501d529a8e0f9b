// fs/write_text_file: all of the new text or none of it, in a directory that was verified. The text is written beside the file and then
// put in its place, so nobody sees half of it, and a link that appears in its place meanwhile is replaced instead of followed.
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

/** `judged` is where the path led when a policy judged it. */
export async function writeTextFile(
  descriptors: Descriptors,
  roots: Roots,
  params: WriteParams,
  judged?: string,
): Promise<Record<string, never>> {
  const { content } = params;
  if (typeof content !== 'string') throw failure('PARAMS', [METHOD, 'content must be a string']);
  try {
    const real = await resolveInside(METHOD, params.path, roots, judged);
    if (roots.real.includes(real) || namesDirectory(params.path)) throw notAFile(METHOD);
    await putInPlace(descriptors, roots, real, content, judged);
    return {};
  } catch (error) {
    throw fileFailure(METHOD, error, params.path);
  }
}

/** `real` is where the path leads. `check` is asked at the very last, and throws when the text is not to be put there any more. */
export async function putInPlace(
  descriptors: Descriptors,
  roots: Roots,
  real: string,
  content: string,
  judged: string | undefined,
  check: (target: string) => Promise<void> = async () => {},
): Promise<void> {
  // Encoding would put another character in its place.
  if (/\p{Surrogate}/u.test(content)) throw failure('PARAMS', [METHOD, 'content holds half a character (a lone surrogate)']);
  const directory = await enter(descriptors, path.dirname(real), holdTo(roots, undefined), holdTo(roots, judged && path.dirname(judged)));
  try {
    await replace(directory, path.basename(real), content, check);
  } finally {
    await directory.close();
  }
}

/** The directory a file is to lie in, made if need be: from one that is there, name by name. */
async function enter(descriptors: Descriptors, real: string, above: Demand, demand: Demand = above): Promise<Directory> {
  above(real); // else the root itself is gone, and not ours to make
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

/** The file that is to be replaced: one that we could write to, and that has no other name which would keep the old text. */
async function existing(target: string): Promise<Stats | undefined> {
  try {
    // Looked at before it is opened: opening a FIFO can wake somebody up.
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

/** Owner first: changing it takes special bits away, and those are not carried over. Only the mode is certain. */
async function likeBefore(handle: FileHandle, { uid, gid, mode }: Stats): Promise<void> {
  const now = await handle.stat();
  if (now.uid !== uid || now.gid !== gid) await handle.chown(uid, gid).catch(() => {});
  await handle.chmod(mode & 0o777);
}
