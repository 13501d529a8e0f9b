// fs/read_text_file: text, whole or by lines, from a verified descriptor.
import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { failure } from '../errors.ts';
import type { Descriptors } from './descriptors.ts';
import { fileFailure, namesDirectory, notAFile } from './file-errors.ts';
import { resolveInside } from './resolve-inside.ts';
import { holdTo, type Roots } from './roots.ts';

const METHOD = 'fs/read_text_file';
/** The limit of one answer: JSON may turn one byte into six, and a frame has 32 MiB. */
export const MAX_TEXT_BYTES = 5 * 1024 * 1024;
const CHUNK_BYTES = 64 * 1024;
const LF = 0x0a;

export type ReadParams = { readonly path?: unknown; readonly line?: unknown; readonly limit?: unknown };

/** `evaluatedPath` is the real path when the policy was evaluated. */
export async function readTextFile(
  descriptors: Descriptors,
  roots: Roots,
  params: ReadParams,
  evaluatedPath?: string,
): Promise<{ readonly content: string }> {
  const line = count('line', params.line, 1);
  const limit = count('limit', params.limit, 0);
  try {
    const real = await resolveInside(METHOD, params.path, roots, evaluatedPath);
    if (namesDirectory(params.path)) throw notAFile(METHOD);
    const { handle, stats } = await descriptors.openFile(real, constants.O_RDONLY, holdTo(roots, evaluatedPath));
    try {
      if (!stats.isFile()) throw notAFile(METHOD);
      // A file may grow while it is read, but not without limit.
      return { content: decode(await readLines(handle, line ?? 1, limit ?? Number.POSITIVE_INFINITY, stats.size + MAX_TEXT_BYTES)) };
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw fileFailure(METHOD, error, params.path);
  }
}

function count(name: string, value: unknown, least: number): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (!Number.isSafeInteger(value) || (value as number) < least)
    throw failure('PARAMS', [METHOD, `${name} must be a whole number from ${least}`]);
  return value as number;
}

/** The bytes of `limit` lines starting at `line`, with their line ends. Nothing before them is buffered. */
async function readLines(handle: FileHandle, line: number, limit: number, mostBytes: number): Promise<Buffer> {
  const buffered: Buffer[] = [];
  let bufferedBytes = 0;
  let readBytes = 0;
  let skip = line - 1;
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
    buffered.push(chunk.subarray(start, end));
    bufferedBytes += end - start;
    readBytes += bytesRead;
    if (bufferedBytes > MAX_TEXT_BYTES || readBytes > mostBytes) throw failure('FILE_TOO_LARGE', [MAX_TEXT_BYTES]);
  }
  return Buffer.concat(buffered);
}

/** No replacement characters: the next write would destroy the file with them. A byte order mark stays. */
export function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw failure('FILE_UNUSABLE', [METHOD, 'it is not text in UTF-8']);
  }
}
