// Lists a layer and the files below it, for the pure comparison.
import { createHash } from 'node:crypto';
import { type BigIntStats, constants } from 'node:fs';
import { type FileHandle, lstat, readdir, readlink } from 'node:fs/promises';
import path from 'node:path';
import { createDescriptors, type Descriptors, type Directory } from '../workspace/descriptors.ts';
import type { Entry, Listing } from './changes.ts';
import { type Layer, partsOf } from './layers.ts';
import { visibleThrough } from './namespace.ts';

/** A longer list is of no use to a person. */
const MAX_ENTRIES = 100_000;

export class UnreadableLayer extends Error {
  override readonly name = 'UnreadableLayer';
}

export async function readListings(layer: Layer): Promise<readonly Listing[]> {
  const count = { entries: 0 };
  return Promise.all(layer.roots.map((root, index) => readListing(layer, root, index, count)));
}

type Count = { entries: number };
type Names = ReadonlyMap<string, Entry>;

async function readListing(layer: Layer, root: string, index: number, count: Count): Promise<Listing> {
  const { upper } = partsOf(layer, index);
  const entries = new Map<string, Entry>();
  const base = new Map<string, Entry>();
  /** For each directory of the layer that also exists below: a name that only exists below. */
  const witnesses = new Map<string, string>();
  const walk = async (name: string): Promise<void> => {
    const own = await entriesIn(path.join(upper, name), count);
    const below = base.get(name)?.kind === 'directory' ? await entriesIn(path.join(root, name), count) : undefined;
    for (const [one, entry] of own) {
      const at = path.join(name, one);
      entries.set(at, entry);
      const before = below?.get(one);
      if (before) base.set(at, before);
      if (entry.kind === 'directory') await walk(at);
      else if (before?.kind === 'directory') await collect(at);
    }
    const hidden = [...(below?.keys() ?? [])].find((one) => !own.has(one));
    if (hidden !== undefined) witnesses.set(name, path.join(name, hidden));
  };
  /** Everything below a directory that the layer hides. */
  const collect = async (name: string): Promise<void> => {
    for (const [one, before] of await entriesIn(path.join(root, name), count)) {
      const at = path.join(name, one);
      if (base.has(at)) continue;
      base.set(at, before);
      if (before.kind === 'directory') await collect(at);
    }
  };
  const top: Entry = { kind: 'directory', mode: 0, size: 0, id: 'directory' };
  entries.set('', top);
  base.set('', top);
  await entriesIn(root, count, `${root} is not there any more, so its changes cannot be compared`);
  await walk('');
  const names = [...witnesses];
  const seen = await visibleThrough(
    layer,
    index,
    names.map(([, witness]) => witness),
  );
  if ('problem' in seen) throw new UnreadableLayer(`${seen.problem}. ${seen.next}`);
  for (const [position, [name, witness]] of names.entries()) {
    // A file that was deleted below meanwhile is no witness.
    if (seen[position] || !(await isThere(path.join(root, witness)))) continue;
    entries.set(name, { ...(entries.get(name) as Entry), isOpaque: true });
    await collect(name);
  }
  await addContents(entries, upper, base, root);
  return { root, layer: entries, base };
}

const isThere = (file: string): Promise<boolean> =>
  lstat(file).then(
    () => true,
    () => false,
  );

/** Hashes of the layer's files, of those that they replace, and of deleted ones that may have been renamed. */
async function addContents(layer: Map<string, Entry>, upper: string, base: Map<string, Entry>, root: string): Promise<void> {
  const sizes = new Set<number>();
  for (const [name, entry] of layer) {
    if (entry.kind !== 'file') continue;
    layer.set(name, { ...entry, content: await hashOf(path.join(upper, name)) });
    const before = base.get(name);
    if (!before) sizes.add(entry.size);
    else if (before.kind === 'file')
      // Of another size: it differs, whatever it contains.
      base.set(name, { ...before, content: before.size === entry.size ? await hashOf(path.join(root, name)) : undefined });
  }
  for (const [name, entry] of base)
    if (entry.kind === 'file' && entry.content === undefined && sizes.has(entry.size) && layer.get(name)?.kind !== 'file')
      base.set(name, { ...entry, content: await hashOf(path.join(root, name)) });
}

const descriptors = createDescriptors();

/** A link that an agent puts in the way would lead to files outside: everything is opened first, and must then be exactly where it is expected. */
export const exactly =
  (expected: string) =>
  (where: string): void => {
    if (where !== expected) throw new UnreadableLayer(`${expected} was replaced while it was read`);
  };

/** Empty if there is no such directory. */
async function entriesIn(directory: string, count: Count, missing?: string): Promise<Names> {
  let opened: Directory;
  try {
    opened = await descriptors.openDirectory(directory, exactly(directory));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (missing === undefined && (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP')) return new Map();
    throw code === undefined ? error : new UnreadableLayer(missing ?? `${directory} cannot be read (${code})`);
  }
  try {
    const names = (await readdir(opened.at('.'), { encoding: 'buffer' })) as unknown as readonly Buffer[];
    count.entries += names.length;
    if (count.entries > MAX_ENTRIES)
      throw new UnreadableLayer(
        `there are more than ${MAX_ENTRIES} files to compare; drop the changes, or copy what you need from ${directory}`,
      );
    const entries = new Map<string, Entry>();
    for (const name of names) {
      const text = name.toString('utf8');
      if (!Buffer.from(text).equals(name)) throw new UnreadableLayer(`${directory} has a name that is not UTF-8: ${JSON.stringify(text)}`);
      const entry = await entryAt(opened.at(text));
      if (entry) entries.set(text, entry);
    }
    return entries;
  } finally {
    await opened.close();
  }
}

/** Nothing is followed. */
export async function entryAt(file: string): Promise<Entry | undefined> {
  let stats: BigIntStats;
  try {
    stats = await lstat(file, { bigint: true });
    const about = { mode: Number(stats.mode & 0o7777n), size: Number(stats.size), bornNs: stats.birthtimeNs, changedNs: stats.ctimeNs };
    if (stats.isCharacterDevice() && stats.rdev === 0n) return { ...about, kind: 'whiteout', id: 'whiteout' };
    // What happens in a directory changes its times.
    if (stats.isDirectory()) return { ...about, kind: 'directory', id: `directory ${about.mode.toString(8)}`, changedNs: 0n };
    const id = identityOf(stats);
    if (stats.isSymbolicLink()) return { ...about, kind: 'link', id, content: await readlink(file) };
    return { ...about, kind: stats.isFile() ? 'file' : 'special', id };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

export const identityOf = ({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string => [dev, ino, size, mtimeNs, ctimeNs].join(':');

/** A file of the layer or of the project, and nothing that a link leads to. */
export const openExactly = (file: string): ReturnType<Descriptors['openFile']> =>
  descriptors.openFile(file, constants.O_RDONLY, exactly(file));

async function hashOf(file: string): Promise<string> {
  let handle: FileHandle | undefined;
  try {
    ({ handle } = await openExactly(file));
    const hash = createHash('sha256');
    for await (const chunk of chunksOf(handle)) hash.update(chunk);
    return hash.digest('hex');
  } catch (error) {
    // Unreadable for us: it differs from everything, and applying it fails with the reason.
    return `unreadable ${(error as NodeJS.ErrnoException).code} ${file}`;
  } finally {
    await handle?.close();
  }
}

const CHUNK_BYTES = 256 * 1024;

export async function* chunksOf(handle: FileHandle): AsyncGenerator<Buffer> {
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  for (;;) {
    const { bytesRead } = await handle.read(buffer, 0, CHUNK_BYTES, null);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
  }
}
