// Lists and searches the directories of a session. ACP has no methods for this; the host tools do. Every directory is entered through a
// verified descriptor, and no link is followed.
import { constants } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import picomatch from 'picomatch';
import type { Descriptors, Directory } from './descriptors.ts';
import { fileFailure } from './file-errors.ts';
import { resolveInside } from './resolve-inside.ts';
import { holdTo, type Roots } from './roots.ts';

const MAX_ENTRIES = 1000;
/** Entries that one search visits. */
const MAX_VISITED = 20_000;
const MAX_DEPTH = 32;
const MAX_SEARCHED_BYTES = 1024 * 1024;
const MAX_LINE = 300;
/** Large, and rarely searched for. */
const PASSED_OVER = new Set(['.git', 'node_modules']);

export type Entry = { readonly name: string; readonly kind: 'file' | 'directory' | 'other' };
export type Hit = { readonly path: string; readonly line?: number; readonly text?: string };

type Found = Entry & { readonly isLink: boolean };

export async function listDirectory(
  descriptors: Descriptors,
  roots: Roots,
  directory: string,
): Promise<{ readonly entries: readonly Entry[]; readonly truncated: boolean }> {
  try {
    const real = await resolveInside('list_directory', directory, roots);
    const opened = await descriptors.openDirectory(real, holdTo(roots, undefined));
    try {
      const found = await namesIn(opened);
      return { entries: found.slice(0, MAX_ENTRIES).map(({ name, kind }) => ({ name, kind })), truncated: found.length > MAX_ENTRIES };
    } finally {
      await opened.close();
    }
  } catch (error) {
    throw fileFailure('list_directory', error, directory);
  }
}

export type Search = {
  readonly path: string;
  readonly name?: string | undefined;
  readonly text?: string | undefined;
  readonly limit: number;
  /** Files for which it is false are not read. */
  readonly mayRead: (file: string) => boolean;
};

export async function searchFiles(
  descriptors: Descriptors,
  roots: Roots,
  { path: directory, name, text, limit, mayRead }: Search,
  signal: AbortSignal,
): Promise<{ readonly hits: readonly Hit[]; readonly truncated: boolean }> {
  const hits: Hit[] = [];
  const demand = holdTo(roots, undefined);
  const isNamed = name === undefined ? () => true : picomatch(name, { dot: true, basename: !name.includes('/') });
  let visited = 0;
  let truncated = false;

  async function walk(opened: Directory, at: string, top: string, depth: number): Promise<void> {
    for (const { name: entry, kind, isLink } of await namesIn(opened)) {
      signal.throwIfAborted();
      if (hits.length >= limit || ++visited > MAX_VISITED) {
        truncated = true;
        return;
      }
      const file = path.join(at, entry);
      if (kind === 'directory' && !isLink && depth < MAX_DEPTH && !PASSED_OVER.has(entry)) {
        const inner = await descriptors.openDirectory(file, demand, opened).catch(() => undefined); // deleted, or not accessible
        if (!inner) continue;
        await walk(inner, file, top, depth + 1).finally(() => inner.close());
      }
      if (kind !== 'file' || isLink || !isNamed(path.relative(top, file).split(path.sep).join('/'))) continue;
      if (text === undefined) hits.push({ path: file });
      else if (mayRead(file)) hits.push(...(await linesWith(file, text, limit - hits.length)));
    }
  }
  async function linesWith(file: string, wanted: string, most: number): Promise<Hit[]> {
    const { handle, stats } = await descriptors
      .openFile(file, constants.O_RDONLY, demand)
      .catch(() => ({ handle: undefined, stats: undefined }));
    try {
      if (!handle || !stats.isFile() || stats.size > MAX_SEARCHED_BYTES) return [];
      const content = await handle.readFile('utf8');
      if (content.includes('\0') || !content.includes(wanted)) return [];
      return content
        .split('\n')
        .flatMap((line, n) => (line.includes(wanted) ? [{ path: file, line: n + 1, text: line.slice(0, MAX_LINE) }] : []))
        .slice(0, most);
    } finally {
      await handle?.close();
    }
  }

  try {
    const top = await resolveInside('search_files', directory, roots);
    const opened = await descriptors.openDirectory(top, demand);
    await walk(opened, top, top, 0).finally(() => opened.close());
    return { hits, truncated };
  } catch (error) {
    if (signal.aborted) throw error;
    throw fileFailure('search_files', error, directory);
  }
}

async function namesIn(opened: Directory): Promise<Found[]> {
  const entries = await readdir(opened.at('.'), { withFileTypes: true });
  return entries
    .map((entry): Found => {
      const kind = entry.isDirectory() ? 'directory' : entry.isFile() ? 'file' : 'other';
      return { name: entry.name, kind, isLink: entry.isSymbolicLink() };
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}
