// A file of the user's, read to be changed and written back: behind links, with its mode, a copy of the old text kept beside it.
import { randomUUID } from 'node:crypto';
import { open, realpath, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { errorCode, isAbsent } from '../config/watch-files.ts';
import { makeDirectory } from '../private-files.ts';

const BOM = '\uFEFF';
/** Ours may name secrets, and an editor's may hold them. */
const NEW_MODE = 0o600;

export type EditableFile = {
  /** As the user knows it. */
  readonly file: string;
  /** Where it really lies: people keep their settings in a repository and link to them. */
  readonly target: string;
  readonly text: string;
  readonly hasBom: boolean;
  /** Undefined when the file is not there yet. */
  readonly mode: number | undefined;
};

/** Why a file could not be read or written, in a sentence. */
export class FileTrouble extends Error {
  override readonly name = 'FileTrouble';
}

export async function readToEdit(file: string): Promise<EditableFile> {
  try {
    const target = await realpath(file);
    const { text, mode } = await read(target);
    const hasBom = text.startsWith(BOM);
    return { file, target, text: hasBom ? text.slice(1) : text, hasBom, mode };
  } catch (error) {
    if (isAbsent(error)) return { file, target: file, text: '', hasBom: false, mode: undefined };
    throw new FileTrouble(`${file} cannot be read (${errorCode(error)})`, { cause: error });
  }
}

const backupOf = (target: string): string => `${target}.bak`;

/** What the file was before our last change of it, as far as that is still there. */
export async function textBefore({ target }: EditableFile): Promise<string | undefined> {
  try {
    return (await read(backupOf(target))).text.replace(BOM, '');
  } catch {
    return undefined; // then nobody knows
  }
}

/** Writes the new text in one step; returns where the old one is kept, if there was one. */
export async function saveEdited(edited: EditableFile, text: string): Promise<string | undefined> {
  const { file, target, mode } = edited;
  try {
    if (mode === undefined) {
      makeDirectory(path.dirname(target));
      await writeFile(target, text, { mode: NEW_MODE, flag: 'wx', flush: true });
      return undefined;
    }
    const before = (edited.hasBom ? BOM : '') + edited.text;
    const backup = backupOf(target);
    await replace(backup, before, mode);
    // An editor that is open writes to its settings too, and must not lose what it wrote since we looked.
    if ((await read(target)).text !== before) throw new FileTrouble(`${file} was changed by another program meanwhile; try again`);
    await replace(target, (edited.hasBom ? BOM : '') + text, mode);
    return backup;
  } catch (error) {
    if (error instanceof FileTrouble) throw error;
    throw new FileTrouble(`${file} cannot be written (${errorCode(error)})`, { cause: error });
  }
}

async function read(file: string): Promise<{ readonly text: string; readonly mode: number }> {
  const handle = await open(file, 'r');
  try {
    const stat = await handle.stat();
    if (!stat.isFile()) throw new Error('not a regular file');
    return { text: await handle.readFile('utf8'), mode: stat.mode & 0o777 };
  } finally {
    await handle.close();
  }
}

async function replace(file: string, text: string, mode: number): Promise<void> {
  const draft = `${file}.${randomUUID()}.tmp`;
  try {
    await writeFile(draft, text, { mode, flag: 'wx', flush: true });
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}
