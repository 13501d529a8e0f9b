// Edits a text file: reads, changes and replaces it, unless another program changed it in the meantime.
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

/** Receives the text, or undefined if there is no file; returns the new text, or undefined to leave it. */
export type Edit = (text: string | undefined) => string | undefined;

type Found = { readonly text: string; readonly stats: BigIntStats };

/** `evaluatedPath` is the real path when the policy was evaluated. */
export async function editTextFile(
  descriptors: Descriptors,
  roots: Roots,
  file: string,
  edit: Edit,
  evaluatedPath?: string | undefined,
): Promise<{ readonly isWritten: boolean }> {
  try {
    const real = await resolveInside(METHOD, file, roots, evaluatedPath);
    if (roots.real.includes(real) || namesDirectory(file)) throw notAFile(METHOD);
    const found = await read(descriptors, roots, real, evaluatedPath);
    const made = edit(found?.text);
    if (made === undefined) return { isWritten: false };
    await putInPlace(descriptors, roots, real, made, evaluatedPath, (target) => unchanged(target, found));
    return { isWritten: true };
  } catch (error) {
    throw fileFailure(METHOD, error, file);
  }
}

async function read(descriptors: Descriptors, roots: Roots, real: string, evaluatedPath: string | undefined): Promise<Found | undefined> {
  let handle: FileHandle | undefined;
  try {
    ({ handle } = await descriptors.openFile(real, constants.O_RDONLY, holdTo(roots, evaluatedPath)));
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

/** Checked right before the replacement: another program's write in between is not overwritten. */
async function unchanged(target: string, found: Found | undefined): Promise<void> {
  const now = await lstat(target, { bigint: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  const is = (key: 'dev' | 'ino' | 'size' | 'mtimeNs' | 'ctimeNs') => now?.[key] === found?.stats[key];
  if (!(is('dev') && is('ino') && is('size') && is('mtimeNs') && is('ctimeNs'))) throw failure('FILE_CHANGED', []);
}
