// Files are read once, and what is judged is what was read: no look before the open, no second read after it.
import { close, constants, fstat, open, read } from 'node:fs';
import { promisify } from 'node:util';

export type Source = {
  readonly file: string;
  readonly text: string;
  /** The same for two paths that lead to one file. */
  readonly identity: string;
};

// Not those of `node:fs/promises`: to load that takes half a megabyte and a millisecond of every start, which needs nothing else of it.
const [openFile, statFile, readInto, closeFile] = [promisify(open), promisify(fstat), promisify(read), promisify(close)];

const MOST_PROJECT_BYTES = 256 * 1024;
const PIECE_BYTES = 64 * 1024;

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
    const { bytesRead, buffer } = await readInto(descriptor, Buffer.allocUnsafe(PIECE_BYTES), 0, PIECE_BYTES, null);
    if (bytesRead === 0) return Buffer.concat(pieces, total);
    pieces.push(buffer.subarray(0, bytesRead));
    total += bytesRead;
    // What was read, and not the stated size, which need not be true (/proc says 0).
    if (total > mostBytes) throw new Error(`larger than ${mostBytes} bytes`);
  }
}
