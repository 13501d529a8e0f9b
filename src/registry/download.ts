// Downloads an archive, verifies it and unpacks it into an empty folder.
import { createHash } from 'node:crypto';
import { chmodSync, copyFileSync, createReadStream, createWriteStream, lstatSync, realpathSync, rmSync } from 'node:fs';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { bunzip2 } from './archives/bzip2.ts';
import { unpackTar } from './archives/tar.ts';
import { createTree, LIMITS, type Limits, unsafe } from './archives/tree.ts';
import { unpackZip } from './archives/zip.ts';
import { failed, fetchSafely } from './fetch.ts';
import type { ArchiveFormat, Source } from './plan.ts';
import { RegistryError } from './registry-error.ts';

export type DownloadOptions = {
  readonly allowUnverified: boolean;
  readonly isLocal: boolean;
  readonly limits?: Limits;
  readonly maxBytes?: number;
  readonly onProgress?: (received: number, total: number | undefined) => void;
};

type Binary = Extract<Source, { kind: 'binary' }>;

const MAX_DOWNLOAD = 2 ** 30;

/** Refuses what nobody vouches for, before anything is downloaded. */
export function refuseUnverified(id: string, { sha256 }: Binary, { allowUnverified }: Pick<DownloadOptions, 'allowUnverified'>): void {
  if (sha256 !== undefined || allowUnverified) return;
  throw new RegistryError(
    'UNVERIFIED',
    `the registry names no checksum for the archive of "${id}", so nobody can tell whether it is the right one`,
    'to install it all the same and pin what comes now, add --allow-unverified',
  );
}

export async function downloadBinary(
  binary: Binary,
  folder: string,
  options: DownloadOptions,
): Promise<{ readonly sha256: string /** Its path in the folder. */; readonly program: string }> {
  const { limits = LIMITS, maxBytes = MAX_DOWNLOAD, isLocal, onProgress } = options;
  const archive = `${folder}.download`;
  try {
    const { status, body } = await fetchSafely(binary.url, { maxBytes, isLocal, ...(onProgress && { onProgress }) });
    if (status !== 200) throw failed(binary.url, `the server answered ${status}`);
    const hash = createHash('sha256');
    async function* hashed() {
      for await (const chunk of body) {
        hash.update(chunk);
        yield chunk;
      }
    }
    await pipeline(hashed(), createWriteStream(archive, { flags: 'wx', mode: 0o600 }));
    const sha256 = hash.digest('hex');
    if (binary.sha256 !== undefined && binary.sha256 !== sha256)
      throw new RegistryError(
        'CHECKSUM',
        `the checksum of ${binary.url} is wrong: sha256 ${sha256}, expected ${binary.sha256}`,
        'nothing was installed; try again later, or report this to the registry',
      );
    await unpack(archive, binary.format, folder, binary.program, limits);
    return { sha256, program: makeProgram(folder, binary) };
  } finally {
    rmSync(archive, { force: true });
  }
}

async function unpack(archive: string, format: ArchiveFormat, folder: string, program: string, limits: Limits): Promise<void> {
  if (format === 'raw') {
    const file = path.join(folder, path.basename(program));
    copyFileSync(archive, file);
    return;
  }
  const tree = createTree(folder, limits);
  if (format === 'zip') return unpackZip(archive, tree, limits);
  const packed = createReadStream(archive) as AsyncIterable<Buffer>;
  return unpackTar(format === 'tar.gz' ? gunzipped(packed) : bunzip2(packed), tree, limits);
}

async function* gunzipped(packed: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  const gunzip = createGunzip();
  const fed = pipeline(packed, gunzip).catch(() => {}); // the reader gets the error
  try {
    yield* gunzip as AsyncIterable<Buffer>;
  } catch (error) {
    throw String((error as NodeJS.ErrnoException).code).startsWith('Z_') ? unsafe('its gzip data is damaged, or it is not gzip') : error;
  } finally {
    gunzip.destroy();
    await fed;
  }
}

/** Makes it executable, because zip files often do not say that it is. */
function makeProgram(folder: string, { format, program }: Binary): string {
  const inside = format === 'raw' ? path.basename(program) : program;
  const file = path.join(folder, inside);
  if (!isFileInside(folder, file))
    throw new RegistryError(
      'ARCHIVE_UNSAFE',
      `the archive has no program ${JSON.stringify(program)}`,
      'nothing was installed; report this to the registry',
    );
  chmodSync(file, 0o755);
  return inside;
}

function isFileInside(folder: string, file: string): boolean {
  try {
    const real = realpathSync(file);
    return real.startsWith(realpathSync(folder) + path.sep) && lstatSync(real).isFile();
  } catch {
    return false;
  }
}
