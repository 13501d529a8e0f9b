// Applies one change to the project, through the same verified directories as every file that switchboard writes.
import { createHash, randomUUID } from 'node:crypto';
import { chmod, lstat, mkdir, rename, rmdir, symlink, unlink } from 'node:fs/promises';
import path from 'node:path';
import { failure } from '../errors.ts';
import { createDescriptors, type Directory } from '../workspace/descriptors.ts';
import { fileFailure } from '../workspace/file-errors.ts';
import { rootsOf } from '../workspace/roots.ts';
import { enter } from '../workspace/write-file.ts';
import { type Change, type Entry, PERMISSIONS } from './changes.ts';
import { type Layer, partsOf } from './layers.ts';
import { chunksOf, entryAt, exactly, identityOf, openExactly } from './read-layer.ts';

const descriptors = createDescriptors();
const METHOD = 'the change';

/** The file below, after the change; undefined if there is none. Throws if it was changed below or in the layer since it was listed. */
export async function applyChange(layer: Layer, change: Change): Promise<string | undefined> {
  const { kind, what, path: file, from, after, before } = change;
  if (what === 'special') throw failure('FILE_UNUSABLE', [METHOD, 'it is a pipe, a socket or a device']);
  try {
    if (kind === 'rename') {
      const now = await put(layer, file, after as Entry, undefined);
      await remove(layer, from as string, before as Entry);
      return now;
    }
    if (kind === 'delete') return await remove(layer, file, before as Entry);
    if (kind === 'mode') return await changeMode(file, after as Entry, before as Entry);
    return await put(layer, file, after as Entry, before);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOTEMPTY' || code === 'EEXIST' || code === 'ENOTDIR') throw failure('FILE_CHANGED', []);
    throw fileFailure(METHOD, error, file);
  }
}

/** The verified directory of a file. It must be exactly where the file is: a link on the way is no way. */
async function within<T>(layer: Layer, file: string, use: (directory: Directory, name: string) => Promise<T>, isNew = false): Promise<T> {
  const parent = path.dirname(file);
  const roots = rootsOf(layer.roots);
  const inside = (where: string): void => {
    if (!roots.real.some((root) => where === root || where.startsWith(`${root}/`))) throw failure('PATH_OUTSIDE', []);
  };
  const directory = isNew
    ? await enter(descriptors, parent, inside, exactly(parent))
    : await descriptors.openDirectory(parent, exactly(parent));
  try {
    return await use(directory, path.basename(file));
  } finally {
    await directory.close();
  }
}

/** Right before something is put in place: it is still what the agent saw. */
async function demandSame(at: string, before: Entry | undefined): Promise<void> {
  const now = await entryAt(at);
  if (now?.id !== before?.id) throw failure('FILE_CHANGED', []);
}

function put(layer: Layer, file: string, after: Entry, before: Entry | undefined): Promise<string | undefined> {
  return within(
    layer,
    file,
    async (directory, name) => {
      const target = directory.at(name);
      if (after.kind === 'directory') {
        await mkdir(target, { mode: after.mode & PERMISSIONS });
        return (await entryAt(target))?.id;
      }
      if (before?.kind === 'file' && (await lstat(target)).nlink > 1)
        throw failure('FILE_UNUSABLE', [METHOD, 'the file has another name (a hard link), perhaps outside; copy it first']);
      const temporary = directory.at(`.switchboard-${randomUUID()}.tmp`);
      try {
        if (after.kind === 'link') await symlink(after.content ?? '', temporary);
        else await copy(layer, file, after, directory, path.basename(temporary));
        await directory.verify();
        await demandSame(target, before);
        await rename(temporary, target);
      } catch (error) {
        await unlink(temporary).catch(() => {});
        throw error;
      }
      return (await entryAt(target))?.id;
    },
    true,
  );
}

/** The content must be the one that was listed: an agent that still runs could change it between the decision and here. */
async function copy(layer: Layer, file: string, after: Entry, directory: Directory, name: string): Promise<void> {
  const source = await openExactly(inLayer(layer, file));
  try {
    if (!source.stats.isFile()) throw failure('FILE_CHANGED', []);
    const handle = await directory.create(name, 0o600);
    try {
      const hash = createHash('sha256');
      let left = after.size;
      for await (const chunk of chunksOf(source.handle)) {
        left -= chunk.length;
        if (left < 0) throw failure('FILE_CHANGED', []);
        hash.update(chunk);
        await handle.writeFile(chunk);
      }
      if (hash.digest('hex') !== after.content) throw failure('FILE_CHANGED', []);
      await handle.chmod(after.mode & PERMISSIONS);
      await handle.sync();
    } finally {
      await handle.close();
    }
  } finally {
    await source.handle.close();
  }
}

export function inLayer(layer: Layer, file: string): string {
  const index = layer.roots.findIndex((root) => file === root || file.startsWith(`${root}/`));
  return path.join(partsOf(layer, index).upper, path.relative(layer.roots[index] ?? '', file));
}

function remove(layer: Layer, file: string, before: Entry): Promise<undefined> {
  return within(layer, file, async (directory, name) => {
    const target = directory.at(name);
    await demandSame(target, before);
    if (before.kind === 'directory') await rmdir(target);
    else await unlink(target);
    return undefined;
  });
}

async function changeMode(file: string, after: Entry, before: Entry): Promise<string | undefined> {
  if (before.kind === 'directory') {
    const directory = await descriptors.openDirectory(file, exactly(file));
    try {
      await demandSame(directory.at('.'), before);
      await chmod(directory.at('.'), after.mode & PERMISSIONS);
      return (await entryAt(directory.at('.')))?.id;
    } finally {
      await directory.close();
    }
  }
  const { handle } = await openExactly(file);
  try {
    const stats = await handle.stat({ bigint: true });
    if (identityOf(stats) !== before.id) throw failure('FILE_CHANGED', []);
    await handle.chmod(after.mode & PERMISSIONS);
    return identityOf(await handle.stat({ bigint: true }));
  } finally {
    await handle.close();
  }
}
