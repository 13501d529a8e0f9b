// Edits a user's file: follows links, keeps the mode, and keeps a backup next to the file.
import { randomUUID } from 'node:crypto';
import { open, realpath, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { errorCode, isAbsent } from '../config/watch-files.ts';
import { makeDirectory } from '../private-files.ts';

const BOM = '\uFEFF';
/** Settings files may contain secrets. */
const NEW_MODE = 0o600;

export type EditableFile = {
  /** The path as the user knows it. */
  readonly file: string;
  /** The real path: users keep settings in a repository and link to them. */
  readonly target: string;
  readonly text: string;
  readonly hasBom: boolean;
  /** Undefined if the file does not exist yet. */
  readonly mode: number | undefined;
};

/** A file could not be read or written; the message says why. */
export class FileError extends Error {
  override readonly name = 'FileError';
}

export async function readToEdit(file: string): Promise<EditableFile> {
  try {
    const target = await realpath(file);
    const { text, mode } = await read(target);
    const hasBom = text.startsWith(BOM);
    return { file, target, text: hasBom ? text.slice(1) : text, hasBom, mode };
  } catch (error) {
    if (isAbsent(error)) return { file, target: file, text: '', hasBom: false, mode: undefined };
    throw new FileError(`cannot read ${file} (${errorCode(error)})`, { cause: error });
  }
}

const backupOf = (target: string): string => `${target}.bak`;

/** The text before our last change, if the backup still exists. */
export async function textBefore({ target }: EditableFile): Promise<string | undefined> {
  try {
    return (await read(backupOf(target))).text.replace(BOM, '');
  } catch {
    return undefined; // no backup
  }
}

/** Replaces the file atomically; returns the path of the backup, if there was an old text. */
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
    // A running editor may write its settings too; do not overwrite its changes.
    if ((await read(target)).text !== before) throw new FileError(`another program changed ${file}; try again`);
    await replace(target, (edited.hasBom ? BOM : '') + text, mode);
    return backup;
  } catch (error) {
    if (error instanceof FileError) throw error;
    throw new FileError(`cannot write ${file} (${errorCode(error)})`, { cause: error });
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
