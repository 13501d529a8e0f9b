// Installed programs, in folders named after their content. A folder is complete or not there, and a changed file in it is found.
import { createHash } from 'node:crypto';
import { createReadStream, lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, realpathSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { isObject } from '../json-object.ts';
import { makeDirectory, replaceFile } from '../private-files.ts';
import { RegistryError } from './registry-error.ts';

export type Store = {
  /** Where folders are; programs in a sandbox may read it. */
  readonly dir: string;
  /** An empty folder to install into. */
  stage(): string;
  /** Makes a staged folder permanent; returns its name. The same content twice is one folder. */
  commit(staged: string, options?: { readonly mayLinkOut?: boolean }): Promise<string>;
  discard(staged: string): void;
  folder(name: string): string;
  /** What has changed in a folder since it was installed; empty if nothing. */
  changes(name: string): Promise<readonly string[]>;
  remove(name: string): void;
  /** Removes what killed installations left. */
  tidy(): void;
};

type Manifest = Readonly<Record<string, string>>;

const DAY_MS = 86_400_000;

export function createStore(stateDir: string): Store {
  const agents = path.join(stateDir, 'agents');
  const dir = path.join(agents, 'store');
  const staging = path.join(agents, 'staging');
  const manifestOf = (name: string) => path.join(dir, `${name}.json`);
  const folder = (name: string) => path.join(dir, name);

  return {
    dir,
    folder,
    stage() {
      makeDirectory(staging);
      const staged = path.join(
        realpathSync(staging),
        `${process.pid}-${Date.now().toString(36)}-${Math.random().toString(36).slice(2, 8)}`,
      );
      mkdirSync(staged, { mode: 0o700 });
      return staged;
    },
    async commit(staged, { mayLinkOut = false } = {}) {
      const manifest = await manifestOfTree(staged, mayLinkOut);
      const text = `${JSON.stringify(manifest)}\n`;
      const name = createHash('sha256').update(text).digest('hex').slice(0, 40);
      makeDirectory(dir);
      const isThere = readManifest(manifestOf(name)) !== undefined && (await changesOf(folder(name), manifest)).length === 0;
      if (isThere) {
        rmSync(staged, { recursive: true, force: true });
        return name;
      }
      // What has changed since goes first; a crash in between leaves no folder, and never a changed one.
      rmSync(folder(name), { recursive: true, force: true });
      replaceFile(manifestOf(name), text);
      renameSync(staged, folder(name));
      return name;
    },
    discard: (staged) => rmSync(staged, { recursive: true, force: true }),
    async changes(name) {
      const manifest = readManifest(manifestOf(name));
      if (manifest === undefined) return ['its list of files is missing'];
      return changesOf(folder(name), manifest);
    },
    remove(name) {
      rmSync(folder(name), { recursive: true, force: true });
      rmSync(manifestOf(name), { force: true });
    },
    tidy() {
      for (const left of namesIn(staging)) {
        const old = path.join(staging, left);
        if (Date.now() - lstatSync(old).mtimeMs > DAY_MS) rmSync(old, { recursive: true, force: true });
      }
    },
  };
}

function namesIn(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch {
    return [];
  }
}

function readManifest(file: string): Manifest | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return isObject(value) ? (value as Manifest) : undefined;
  } catch {
    return undefined;
  }
}

/** Python writes these when it runs. */
const isCache = (name: string): boolean => name === '__pycache__' || name.endsWith('.pyc');

async function manifestOfTree(root: string, mayLinkOut: boolean): Promise<Manifest> {
  const manifest: Record<string, string> = {};
  const real = realpathSync(root);
  for (const name of filesIn(root)) {
    const file = path.join(root, name);
    const stat = lstatSync(file);
    if (stat.isSymbolicLink() && !mayLinkOut && !isInside(real, file))
      throw new RegistryError(
        'ARCHIVE_UNSAFE',
        `the installation was refused: the link ${name} leads out of its folder`,
        'nothing was installed; report this to the publisher of the agent',
      );
    if (!stat.isSymbolicLink() && !stat.isFile())
      throw new RegistryError(
        'ARCHIVE_UNSAFE',
        `the installation was refused: ${name} is a device, a pipe or a socket`,
        'nothing was installed; report this to the publisher of the agent',
      );
    manifest[name.split(path.sep).join('/')] = await contentOf(file);
  }
  return manifest;
}

function isInside(real: string, link: string): boolean {
  try {
    return realpathSync(link).startsWith(real + path.sep);
  } catch {
    return false;
  }
}

/** `x HASH` for a program, `- HASH` for another file, `> TARGET` for a link. */
async function contentOf(file: string): Promise<string> {
  const stat = lstatSync(file);
  if (stat.isSymbolicLink()) return `> ${readlinkSync(file)}`;
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return `${(stat.mode & 0o111) === 0 ? '-' : 'x'} ${hash.digest('hex')}`;
}

function filesIn(root: string, below = ''): string[] {
  return readdirSync(path.join(root, below), { withFileTypes: true })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      if (isCache(entry.name)) return [];
      const name = path.join(below, entry.name);
      return entry.isDirectory() ? filesIn(root, name) : [name];
    });
}

async function changesOf(root: string, manifest: Manifest): Promise<readonly string[]> {
  let present: readonly string[];
  try {
    present = filesIn(root).map((name) => name.split(path.sep).join('/'));
  } catch {
    return ['its folder is missing'];
  }
  const changes: string[] = [];
  for (const name of present) {
    if (!Object.hasOwn(manifest, name)) changes.push(`${name} was added`);
    else if ((await contentOf(path.join(root, name))) !== manifest[name]) changes.push(`${name} was changed`);
  }
  const left = new Set(present);
  for (const name of Object.keys(manifest)) if (!left.has(name)) changes.push(`${name} is missing`);
  return changes;
}
