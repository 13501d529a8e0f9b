// fs/read_text_file: text, whole or by lines, from a descriptor that was verified.
import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { failure } from '../errors.ts';
import type { Descriptors } from './descriptors.ts';
import { fileFailure, namesDirectory, notAFile } from './file-errors.ts';
import { resolveInside } from './resolve-inside.ts';
import { holdTo, type Roots } from './roots.ts';

const METHOD = 'fs/read_text_file';
/** What one answer may carry; JSON may make six bytes of one, and a frame has 32 MiB. */
export const MAX_TEXT_BYTES = 5 * 1024 * 1024;
const CHUNK_BYTES = 64 * 1024;
const LF = 0x0a;

export type ReadParams = { readonly path?: unknown; readonly line?: unknown; readonly limit?: unknown };

/** `judged` is where the path led when a policy judged it. */
export async function readTextFile(
  descriptors: Descriptors,
  roots: Roots,
  params: ReadParams,
  judged?: string,
): Promise<{ readonly content: string }> {
  const line = count('line', params.line);
  const limit = count('limit', params.limit);
  try {
    const real = await resolveInside(METHOD, params.path, roots, judged);
    if (namesDirectory(params.path)) throw notAFile(METHOD);
    const { handle, stats } = await descriptors.openFile(real, constants.O_RDONLY, holdTo(roots, judged));
    try {
      if (!stats.isFile()) throw notAFile(METHOD);
      // A file may grow while it is read, but not for ever.
      return { content: decode(await readLines(handle, line ?? 1, limit ?? Number.POSITIVE_INFINITY, stats.size + MAX_TEXT_BYTES)) };
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw fileFailure(METHOD, error, params.path);
  }
}

/** A number of lines; `line` counts from 1, and 0 is taken for it as editors do. */
function count(name: string, value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (!Number.isSafeInteger(value) || (value as number) < 0) throw failure('PARAMS', [METHOD, `${name} must be a whole number from 0`]);
  return value as number;
}

/** The bytes of `limit` lines from `line` on, with their line ends as they are; of what comes before, nothing is kept. */
async function readLines(handle: FileHandle, line: number, limit: number, mostBytes: number): Promise<Buffer> {
  const kept: Buffer[] = [];
  let keptBytes = 0;
  let readBytes = 0;
  let skip = Math.max(line - 1, 0);
  let wanted = limit;
  while (wanted > 0) {
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(CHUNK_BYTES), 0, CHUNK_BYTES, null);
    if (bytesRead === 0) break;
    const chunk = buffer.subarray(0, bytesRead);
    let start = 0;
    while (skip > 0 && start < bytesRead) {
      const lf = chunk.indexOf(LF, start);
      if (lf === -1) start = bytesRead;
      else {
        start = lf + 1;
        skip--;
      }
    }
    let end = start;
    if (wanted === Number.POSITIVE_INFINITY) end = bytesRead;
    while (wanted > 0 && end < bytesRead) {
      const lf = chunk.indexOf(LF, end);
      if (lf === -1) end = bytesRead;
      else {
        end = lf + 1;
        wanted--;
      }
    }
    kept.push(chunk.subarray(start, end));
    keptBytes += end - start;
    readBytes += bytesRead;
    if (keptBytes > MAX_TEXT_BYTES || readBytes > mostBytes) throw failure('FILE_TOO_LARGE', [MAX_TEXT_BYTES]);
  }
  return Buffer.concat(kept);
}

/** Replacement characters would come back in the next write and destroy the file, so there are none. A byte order mark stays. */
export function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw failure('FILE_UNUSABLE', [METHOD, 'it is not text in UTF-8']);
  }
}
