// Tells when one of a few files has other content than before. The folders are watched and not the files: editors replace a file by
// renaming another over it, and a file that is not there yet can only be seen in its folder.
import { close, constants, type FSWatcher, fstat, open, read, readlinkSync, realpathSync, statSync, watch } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { createSerialQueue } from '../serial-queue.ts';

// Files are read once, and what is judged is what was read: no look before the open, no second read after it.
export type Source = {
  readonly file: string;
  readonly text: string;
  /** The same for two paths that lead to one file. */
  readonly identity: string;
};

// Not those of `node:fs/promises`: to load that takes half a megabyte and a millisecond of every start, which needs nothing else of it.
const [openFile, statFile, readInto, closeFile] = [promisify(open), promisify(fstat), promisify(read), promisify(close)];

const MOST_PROJECT_BYTES = 256 * 1024;
const CHUNK_BYTES = 64 * 1024;

/** A file the user chose, whatever it is: also a pipe. */
export function readOwn(file: string): Promise<Source> {
  return readWhole(file, constants.O_RDONLY, Number.POSITIVE_INFINITY);
}

/** A file that came with a repository. A link to /dev/zero or a pipe nobody writes to must not hang the editor. */
export function readForeign(file: string, mostBytes = MOST_PROJECT_BYTES): Promise<Source> {
  return readWhole(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0), mostBytes);
}

/** Whether a read failed because there is no such file. */
export function isAbsent(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes(errorCode(error));
}

/** Why a read failed, in few words and without the path. */
export function errorCode(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code ?? message;
}

async function readWhole(file: string, flags: number, mostBytes: number): Promise<Source> {
  const descriptor = await openFile(file, flags);
  try {
    const stat = await statFile(descriptor, { bigint: true });
    if (mostBytes !== Number.POSITIVE_INFINITY && !stat.isFile()) throw new Error('not a regular file');
    const bytes = await readAll(descriptor, mostBytes);
    return { file, text: bytes.toString('utf8').replace(/^\uFEFF/, ''), identity: `${stat.dev}:${stat.ino}` };
  } finally {
    await closeFile(descriptor);
  }
}

/** By hand, not through a stream: an editor waits for us, and a stream takes longer to be made than the file to be read. */
async function readAll(descriptor: number, mostBytes: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let total = 0;
  for (;;) {
    const { bytesRead, buffer } = await readInto(descriptor, Buffer.allocUnsafe(CHUNK_BYTES), 0, CHUNK_BYTES, null);
    if (bytesRead === 0) return Buffer.concat(pieces, total);
    pieces.push(buffer.subarray(0, bytesRead));
    total += bytesRead;
    // What was read, and not the stated size, which need not be true (/proc says 0).
    if (total > mostBytes) throw new Error(`larger than ${mostBytes} bytes`);
  }
}

export type WatchOptions = {
  /** A change is looked at when nothing more has happened for this long: editors empty a file before they fill it. */
  readonly settleMs?: number;
  /** Where the system cannot tell of changes (too many watchers, some network disks), they are looked for in this interval. */
  readonly pollMs?: number;
  /** Told once when that is so. */
  readonly onProblem?: (error: unknown) => void;
};

export type FileWatch = {
  /** Resolves when the content at the start is known: what changes from then on is told. */
  readonly ready: Promise<void>;
  close(): void;
};

/** Files that are too large to be looked at, unreadable ones and absent ones all count as absent. */
export function watchFiles(
  files: readonly string[],
  onChange: (changed: readonly string[]) => void,
  options: WatchOptions = {},
): FileWatch {
  const { settleMs = 50, pollMs = 2000, onProblem = () => {} } = options;
  /** As they are, and no hashes: those would load a megabyte into every proxy that is at rest. */
  const contents = new Map<string, string | undefined>();
  const watchers = new Map<string, { readonly watcher: FSWatcher; readonly inode: bigint }>();
  let timer: NodeJS.Timeout | undefined;
  let firstAt = 0;
  let poll: NodeJS.Timeout | undefined;
  const looks = createSerialQueue();
  let isClosed = false;

  function arm(): void {
    const wanted = new Map(files.flatMap(foldersOf).map((folder) => [folder, inodeOf(folder)]));
    for (const [folder, { watcher, inode }] of watchers) {
      if (wanted.get(folder) === inode) continue;
      watcher.close(); // not needed any more, or another folder of the same name by now
      watchers.delete(folder);
    }
    for (const [folder, inode] of wanted) {
      if (inode === undefined || watchers.has(folder)) continue;
      try {
        const watcher = watch(folder, { persistent: false }, soon).on('error', soon);
        watchers.set(folder, { watcher, inode });
      } catch (error) {
        if (poll === undefined) onProblem(error);
        poll ??= setInterval(soon, pollMs).unref();
      }
    }
  }
  function soon(): void {
    if (isClosed) return;
    const now = process.uptime() * 1000; // `performance` would load a module more
    if (timer === undefined) firstAt = now;
    else if (now - firstAt > MOST_POSTPONED * settleMs) return; // in a busy folder, quiet may never come
    clearTimeout(timer);
    timer = setTimeout(() => {
      timer = undefined;
      void looks.run(look).catch(onProblem);
    }, settleMs).unref();
  }
  async function look(): Promise<void> {
    if (isClosed) return;
    arm(); // before reading: what happens behind this is told by a watcher that is there
    const changed: string[] = [];
    for (const file of files) {
      const content = await contentOf(file);
      if (contents.get(file) !== content) changed.push(file);
      contents.set(file, content);
    }
    if (changed.length > 0 && !isClosed) onChange(changed);
  }
  async function begin(): Promise<void> {
    arm();
    for (const file of files) contents.set(file, await contentOf(file));
    soon(); // whatever happened while the first were read
  }

  const ready = begin();
  void looks.run(() => ready).catch(() => {}); // the caller gets the failure from `ready`
  return {
    ready,
    close() {
      isClosed = true;
      clearTimeout(timer);
      clearInterval(poll);
      for (const { watcher } of watchers.values()) watcher.close();
      watchers.clear();
    },
  };
}

/** A user's own file may be larger than one that came with a repository. */
const MOST_WATCHED_BYTES = 16 * 1024 * 1024;
const MOST_POSTPONED = 10;

async function contentOf(file: string): Promise<string | undefined> {
  try {
    return (await readForeign(file, MOST_WATCHED_BYTES)).text;
  } catch {
    return undefined;
  }
}

/** The folder a file is in, and that of the file a link leads to; where there is none yet, the nearest one above. */
function foldersOf(file: string): string[] {
  return [path.resolve(file), targetOf(file)].map(path.dirname).map((folder) => {
    let at = folder;
    while (inodeOf(at) === undefined && path.dirname(at) !== at) at = path.dirname(at);
    return at;
  });
}

/** Also when there is nothing at the moment: dotfiles are replaced by removing them first. */
function targetOf(file: string): string {
  try {
    return realpathSync(file);
  } catch {}
  try {
    return path.resolve(path.dirname(file), readlinkSync(file));
  } catch {
    return path.resolve(file);
  }
}

function inodeOf(folder: string): bigint | undefined {
  try {
    const { ino, dev } = statSync(folder, { bigint: true });
    return (dev << 64n) | ino;
  } catch {
    return undefined;
  }
}
