// Writes the entries of an archive below one folder, and nothing outside it, whatever the archive says. A refusal leaves a part of the tree
// behind: the caller removes the folder.
import { copyFileSync, createWriteStream, lstatSync, mkdirSync, realpathSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { RegistryError } from '../registry-error.ts';

export type Limits = {
  /** Of all files together, unpacked. */
  readonly maxBytes: number;
  readonly maxEntries: number;
};

export const LIMITS: Limits = { maxBytes: 4 * 2 ** 30, maxEntries: 200_000 };

export type Tree = {
  directory(name: string): void;
  file(name: string, isProgram: boolean, content: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<void>;
  /** Created at the end: nothing is ever written through a link. */
  symlink(name: string, target: string): void;
  /** To a file that the archive has already brought; becomes a copy. */
  hardLink(name: string, target: string): void;
  finish(): void;
};

const MAX_NAME = 1000;
const MAX_DEPTH = 64;

export function createTree(root: string, limits: Limits = LIMITS): Tree {
  /** By the name that a file system without case sees. */
  const taken = new Map<string, { readonly kind: 'directory' | 'file' | 'link'; readonly name: string }>();
  const links: { readonly name: string; readonly target: string }[] = [];
  let bytes = 0;
  let entries = 0;

  function enter(given: string, kind: 'directory' | 'file' | 'link'): string {
    if (++entries > limits.maxEntries) throw unsafe(`it has more than ${limits.maxEntries} entries`);
    const parts = safeParts(given);
    for (let depth = 1; depth < parts.length; depth++) take(parts.slice(0, depth), 'directory', given);
    take(parts, kind, given);
    return path.join(root, ...parts);
  }

  function take(parts: readonly string[], kind: 'directory' | 'file' | 'link', given: string): void {
    const name = parts.join('/');
    const folded = name.normalize('NFC').toLowerCase();
    const other = taken.get(folded);
    if (other === undefined) {
      taken.set(folded, { kind, name });
      if (kind === 'directory') mkdirSync(path.join(root, ...parts), { mode: 0o755 });
      return;
    }
    if (other.name !== name) throw unsafe(`the names ${shown(other.name)} and ${shown(name)} differ only in case`);
    if (other.kind !== kind || kind !== 'directory')
      throw unsafe(other.kind === 'link' ? `${shown(given)} lies behind a link` : `it has ${shown(name)} twice`);
  }

  function count(size: number): void {
    bytes += size;
    if (bytes > limits.maxBytes) throw unsafe(`it unpacks to more than ${Math.round(limits.maxBytes / 2 ** 20)} MiB`);
  }

  return {
    directory(name) {
      if (partsOf(name).length > 0) enter(name, 'directory');
    },
    async file(name, isProgram, content) {
      const file = enter(name, 'file');
      async function* counted() {
        for await (const chunk of content) {
          count(chunk.length);
          yield chunk;
        }
      }
      await pipeline(
        Readable.from(counted(), { objectMode: false }),
        createWriteStream(file, { flags: 'wx', mode: isProgram ? 0o755 : 0o644 }),
      );
    },
    symlink(name, target) {
      enter(name, 'link');
      const at = safeParts(name);
      if (target === '' || /^[/\\]|^[A-Za-z]:|[\\\p{Cc}]/u.test(target) || target.length > MAX_NAME) throw outside(name, target);
      const depth = at.length - 1;
      const resolved = path.posix.normalize(path.posix.join(...at.slice(0, depth), target));
      if (resolved === '..' || resolved.startsWith('../')) throw outside(name, target);
      links.push({ name: at.join('/'), target });
    },
    hardLink(name, target) {
      const from = safeParts(target);
      const known = taken.get(from.join('/').normalize('NFC').toLowerCase());
      if (known?.kind !== 'file' || known.name !== from.join('/')) throw outside(name, target);
      const source = path.join(root, ...from);
      count(lstatSync(source).size);
      copyFileSync(source, enter(name, 'file'));
    },
    finish() {
      for (const { name, target } of links) symlinkSync(target, path.join(root, name));
      // A link may lead over other links: only the file system knows where it ends.
      const real = realpathSync(root);
      for (const { name, target } of links) {
        const end = realOf(path.join(root, name));
        if (end === undefined || (end !== real && !end.startsWith(real + path.sep))) throw outside(name, target);
      }
    },
  };
}

function realOf(file: string): string | undefined {
  try {
    return realpathSync(file);
  } catch {
    return undefined; // it leads to nothing, or in a circle
  }
}

const partsOf = (name: string): string[] => name.split('/').filter((part) => part !== '' && part !== '.');

/** Windows opens devices under these names, in any folder and with any ending. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d|conin\$|conout\$)(?:\..*)?$/i;

function safeParts(name: string): readonly string[] {
  if (name.length > MAX_NAME) throw unsafe('it has a name of more than 1000 characters');
  if (name.startsWith('/') || /^[A-Za-z]:/.test(name)) throw unsafe(`${shown(name)} is an absolute path`);
  if (name.includes('\\')) throw unsafe(`${shown(name)} contains a backslash`);
  const parts = partsOf(name);
  if (parts.includes('..')) throw unsafe(`${shown(name)} leads out of its folder`);
  if (parts.length === 0) throw unsafe('it has an entry without a name');
  if (parts.length > MAX_DEPTH) throw unsafe(`${shown(name)} is more than ${MAX_DEPTH} folders deep`);
  if (parts.some((part) => part.length > 255 || /[\p{Cc}\p{Cf}\ufffd:]|[. ]$/u.test(part) || DEVICE.test(part)))
    throw unsafe(`${shown(name)} is not a name for a file on every system`);
  return parts;
}

export function unsafe(why: string): RegistryError {
  return new RegistryError(
    'ARCHIVE_UNSAFE',
    `the archive was refused: ${why}`,
    'nothing was installed; report this to the publisher of the agent',
  );
}

const outside = (name: string, target: string) => unsafe(`the link ${shown(name)} leads to ${shown(target)}, outside its folder`);

export const shown = (name: string): string => JSON.stringify(name.length > 120 ? `${name.slice(0, 120)}…` : name);
