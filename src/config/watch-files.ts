// Reports when the content of a file changes. Watches directories, not files: editors replace files by renaming, and only the
// directory can announce a file that does not exist yet.
import { close, constants, type FSWatcher, fstat, open, read, readlinkSync, realpathSync, statSync, watch } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { createSerialQueue } from '../serial-queue.ts';

// Each file is opened and read once, so that the checked content is the content in use.
export type Source = {
  readonly file: string;
  readonly text: string;
  /** Equal for two paths to the same file. */
  readonly identity: string;
};

// Promisified here, because loading `node:fs/promises` costs half a megabyte and a millisecond at every start.
const [openFile, statFile, readInto, closeFile] = [promisify(open), promisify(fstat), promisify(read), promisify(close)];

const MOST_PROJECT_BYTES = 256 * 1024;
const CHUNK_BYTES = 64 * 1024;
const NOT_REGULAR = 'not a regular file';

/** Reads a file that the user chose; it may be a pipe. */
export function readOwn(file: string): Promise<Source> {
  return readWhole(file, constants.O_RDONLY, Number.POSITIVE_INFINITY);
}

/** Reads a file of the user's again. A pipe, as from `--config <(…)`, has no second content, and opening it would block forever. */
export function readAgain(file: string): Promise<Source> {
  return readWhole(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0), Number.MAX_SAFE_INTEGER).catch((error: Error) => {
    throw error.message === NOT_REGULAR ? new Error(`${file} is not a regular file, so it is read only once`) : error;
  });
}

/** Reads a file from a repository. A link to /dev/zero, or a pipe without a writer, must not block start-up. */
export function readForeign(file: string, mostBytes = MOST_PROJECT_BYTES): Promise<Source> {
  return readWhole(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0), mostBytes);
}

/** Whether a read failed because the file does not exist. */
export function isAbsent(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes(errorCode(error));
}

/** A short reason for a failed read, without the path. */
export function errorCode(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code ?? message;
}

async function readWhole(file: string, flags: number, mostBytes: number): Promise<Source> {
  const descriptor = await openFile(file, flags);
  try {
    const stat = await statFile(descriptor, { bigint: true });
    if (mostBytes !== Number.POSITIVE_INFINITY && !stat.isFile()) throw new Error(NOT_REGULAR);
    const bytes = await readAll(descriptor, mostBytes);
    return { file, text: bytes.toString('utf8').replace(/^\uFEFF/, ''), identity: `${stat.dev}:${stat.ino}` };
  } finally {
    await closeFile(descriptor);
  }
}

/** Reads without a stream: creating a stream takes longer than reading the file, and the client is waiting. */
async function readAll(descriptor: number, mostBytes: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let total = 0;
  for (;;) {
    const { bytesRead, buffer } = await readInto(descriptor, Buffer.allocUnsafe(CHUNK_BYTES), 0, CHUNK_BYTES, null);
    if (bytesRead === 0) return Buffer.concat(pieces, total);
    pieces.push(buffer.subarray(0, bytesRead));
    total += bytesRead;
    // Count the bytes read: the reported size may be wrong (0 for /proc files).
    if (total > mostBytes) throw new Error(`larger than ${mostBytes} bytes`);
  }
}

export type WatchOptions = {
  /** Waits until a file is quiet for this long: editors truncate a file before they write it. */
  readonly settleMs?: number;
  /** Polling interval where the system cannot report changes (too many watchers, some network disks). */
  readonly pollMs?: number;
  /** Called once when polling starts. */
  readonly onProblem?: (error: unknown) => void;
};

export type FileWatch = {
  /** Resolves when the initial content is known; later changes are reported. */
  readonly ready: Promise<void>;
  close(): void;
};

/** Files that are too large, unreadable or missing all count as missing. */
export function watchFiles(
  files: readonly string[],
  onChange: (changed: readonly string[]) => void,
  options: WatchOptions = {},
): FileWatch {
  const { settleMs = 50, pollMs = 2000, onProblem = () => {} } = options;
  /** Stores contents, not hashes: the crypto module would cost every idle proxy a megabyte. */
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
      watcher.close(); // no longer needed, or the directory was replaced
      watchers.delete(folder);
    }
    for (const [folder, inode] of wanted) {
      if (inode === undefined || watchers.has(folder)) continue;
      try {
        const watcher = watch(folder, { persistent: false }, schedule).on('error', schedule);
        watchers.set(folder, { watcher, inode });
      } catch (error) {
        if (poll === undefined) onProblem(error);
        poll ??= setInterval(schedule, pollMs).unref();
      }
    }
  }
  function schedule(): void {
    if (isClosed) return;
    const now = process.uptime() * 1000; // avoids loading `performance`
    if (timer === undefined) firstAt = now;
    else if (now - firstAt > MOST_POSTPONED * settleMs) return; // a busy directory may never become quiet
    clearTimeout(timer);
    timer = setTimeout(() => {
      timer = undefined;
      void looks.run(look).catch(onProblem);
    }, settleMs).unref();
  }
  async function look(): Promise<void> {
    if (isClosed) return;
    arm(); // before reading, so that the watcher reports later changes
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
    schedule(); // catches changes during the first read
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

/** The user's own files may be larger than files from a repository. */
const MOST_WATCHED_BYTES = 16 * 1024 * 1024;
const MOST_POSTPONED = 10;

async function contentOf(file: string): Promise<string | undefined> {
  try {
    return (await readForeign(file, MOST_WATCHED_BYTES)).text;
  } catch {
    return undefined;
  }
}

/** The directory of a file and of its link target; if it does not exist, the nearest existing one above. */
function foldersOf(file: string): string[] {
  return [path.resolve(file), targetOf(file)].map(path.dirname).map((folder) => {
    let at = folder;
    while (inodeOf(at) === undefined && path.dirname(at) !== at) at = path.dirname(at);
    return at;
  });
}

/** Also while the file is missing: dotfile managers remove a file before they replace it. */
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
