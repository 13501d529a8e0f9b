// A text made of the one that is there: read, changed and put in its place, unless somebody else has changed it meanwhile.
import { type BigIntStats, constants } from 'node:fs';
import { type FileHandle, lstat } from 'node:fs/promises';
import { failure } from '../errors.ts';
import type { Descriptors } from './descriptors.ts';
import { fileFailure, namesDirectory, notAFile } from './file-errors.ts';
import { decode, MAX_TEXT_BYTES } from './read-file.ts';
import { resolveInside } from './resolve-inside.ts';
import { holdTo, type Roots } from './roots.ts';
import { putInPlace } from './write-file.ts';

const METHOD = 'edit';

/** Gets the text, or undefined where there is no file; returns the new one, or undefined to leave it as it is. */
export type Edit = (text: string | undefined) => string | undefined;

type Found = { readonly text: string; readonly stats: BigIntStats };

/** `judged` is where the path led when a policy judged it. */
export async function editTextFile(
  descriptors: Descriptors,
  roots: Roots,
  file: string,
  edit: Edit,
  judged?: string | undefined,
): Promise<{ readonly isWritten: boolean }> {
  try {
    const real = await resolveInside(METHOD, file, roots, judged);
    if (roots.real.includes(real) || namesDirectory(file)) throw notAFile(METHOD);
    const found = await read(descriptors, roots, real, judged);
    const made = edit(found?.text);
    if (made === undefined) return { isWritten: false };
    await putInPlace(descriptors, roots, real, made, judged, (target) => unchanged(target, found));
    return { isWritten: true };
  } catch (error) {
    throw fileFailure(METHOD, error, file);
  }
}

async function read(descriptors: Descriptors, roots: Roots, real: string, judged: string | undefined): Promise<Found | undefined> {
  let handle: FileHandle | undefined;
  try {
    ({ handle } = await descriptors.openFile(real, constants.O_RDONLY, holdTo(roots, judged)));
    const stats = await handle.stat({ bigint: true });
    if (!stats.isFile()) throw notAFile(METHOD);
    if (stats.size > MAX_TEXT_BYTES) throw failure('FILE_TOO_LARGE', [MAX_TEXT_BYTES]);
    return { text: decode(await handle.readFile()), stats };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  } finally {
    await handle?.close();
  }
}

/** Looked at right before the new text takes its place: who writes in between is not written over. */
async function unchanged(target: string, found: Found | undefined): Promise<void> {
  const now = await lstat(target, { bigint: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  const is = (key: 'dev' | 'ino' | 'size' | 'mtimeNs' | 'ctimeNs') => now?.[key] === found?.stats[key];
  if (!(is('dev') && is('ino') && is('size') && is('mtimeNs') && is('ctimeNs'))) throw failure('FILE_CHANGED', []);
}
