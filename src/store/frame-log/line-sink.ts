// Writes lines to files in batches, without delaying frames. Lines that the disk cannot take in time are dropped and counted, so the queue
// stays bounded.
import { closeSync, constants, openSync, readdirSync, rmSync, statSync, write } from 'node:fs';
import path from 'node:path';
import { makeDirectory } from '../../private-files.ts';
import { RETRY_MS, writeFailure } from '../append-lines.ts';

export type LineSink = {
  /** Queues complete lines; `count` is their number. */
  write(lines: string, count: number): void;
  /** Counts lines that were dropped before they reached the sink. */
  drop(count: number): void;
  /** Resolves when everything queued is on disk. */
  flush(): Promise<void>;
  close(): Promise<void>;
};

export type LineSinkOptions = {
  readonly dir: string;
  /** The file name without extension; further files get a number. */
  readonly name: string;
  readonly maxFileBytes: number;
  /** Above these limits the oldest files of the directory are deleted. */
  readonly maxTotalBytes: number;
  readonly maxAgeMs: number;
  readonly maxQueueBytes: number;
  readonly now: () => number;
  readonly onProblem: (error: unknown) => void;
};

const BATCH_BYTES = 256 * 1024;
const BATCH_MS = 250;

/** Never another program's file, never through a link. */
const FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_APPEND;

export function createLineSink(options: LineSinkOptions): LineSink {
  const { dir, now, onProblem } = options;
  /** Encoded on arrival: encoding a whole batch at once would delay frames. */
  let queue: Buffer[] = [];
  let queued = 0;
  /** The number of records in the queue. */
  let records = 0;
  let dropped = 0;
  let fd: number | undefined;
  let fileBytes = 0;
  let files = 0;
  let file = dir;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> | undefined;
  /** Set until the next retry. */
  let isBroken = false;
  let isClosed = false;

  function open(): number {
    const suffix = files === 0 ? '' : `.${String(files).padStart(4, '0')}`;
    file = path.join(dir, `${options.name}${suffix}.jsonl`);
    makeDirectory(dir);
    files++;
    fileBytes = 0;
    prune(options);
    return openSync(file, FLAGS, 0o600);
  }
  function take(): Buffer {
    if (dropped > 0) queue.push(Buffer.from(`${JSON.stringify({ t: now(), event: 'dropped', records: dropped })}\n`));
    const batch = Buffer.concat(queue);
    queue = [];
    queued = 0;
    records = 0;
    dropped = 0;
    return batch;
  }
  async function writeAll(): Promise<void> {
    let batch = 0;
    try {
      while (!isBroken && (queued > 0 || dropped > 0)) {
        if (fd !== undefined && fileBytes >= options.maxFileBytes) {
          closeSync(fd);
          fd = undefined;
        }
        fd ??= open();
        batch = records + dropped;
        fileBytes += await writeWhole(fd, take());
        batch = 0;
      }
    } catch (error) {
      rest(batch);
      onProblem(writeFailure(file, error));
    }
  }
  /** Counts lines and keeps none. The next write opens a new file: the last one may end in an incomplete line. */
  function rest(lost: number): void {
    isBroken = true;
    dropped += lost + records;
    queue = [];
    queued = 0;
    records = 0;
    if (fd !== undefined) closeSync(fd);
    fd = undefined;
    setTimeout(() => {
      isBroken = isClosed;
      if (!isBroken && dropped > 0) schedule();
    }, RETRY_MS).unref();
  }
  function start(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    // Cleared here and not in writeAll: with an empty queue, writeAll finishes before this assignment, and the sink would never write
    // again.
    writing ??= writeAll().finally(() => {
      writing = undefined;
      if (!isBroken && queued > 0) schedule();
    });
    return writing;
  }
  /** Delays the write: one write costs as much as many frames. */
  function schedule(): void {
    if (isBroken) return;
    if (queued >= BATCH_BYTES) void start();
    else timer ??= setTimeout(() => void start(), BATCH_MS).unref();
  }

  return {
    write(lines, count) {
      if (isClosed) return;
      if (isBroken || queued + lines.length > options.maxQueueBytes) dropped += count;
      else {
        const bytes = Buffer.from(lines);
        queue.push(bytes);
        queued += bytes.length;
        records += count;
      }
      schedule();
    },
    drop(count) {
      dropped += count;
      schedule();
    },
    flush: start,
    async close() {
      await writing;
      await start();
      if (fd !== undefined) closeSync(fd);
      fd = undefined;
      isBroken = true;
      isClosed = true;
    },
  };
}

function writeWhole(fd: number, bytes: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    const from = (at: number) =>
      write(fd, bytes, at, bytes.length - at, null, (error, written) => {
        if (error) reject(error);
        else if (at + written < bytes.length) from(at + written);
        else resolve(bytes.length);
      });
    from(0);
  });
}

type Retention = Pick<LineSinkOptions, 'dir' | 'maxTotalBytes' | 'maxAgeMs' | 'now' | 'maxFileBytes'>;

/** Deletes the oldest files, to make room for another within the limits. */
export function prune({ dir, maxTotalBytes, maxAgeMs, now, maxFileBytes }: Retention): void {
  let left = maxTotalBytes - maxFileBytes;
  const files = readdirSync(dir).flatMap((name) => {
    if (!name.endsWith('.jsonl')) return [];
    // Not `path.join`: for some dozens of files V8 would start its optimizing compiler, 4 MB in an idle process.
    const file = `${dir}${path.sep}${name}`;
    const about = statSync(file, { throwIfNoEntry: false });
    return about ? [{ file, bytes: about.size, changedMs: about.mtimeMs }] : [];
  });
  for (const { file, bytes, changedMs } of files.toSorted((a, b) => b.changedMs - a.changedMs)) {
    left -= bytes;
    if (left < 0 || now() - changedMs > maxAgeMs) rmSync(file, { force: true });
  }
}
