// System errors of files as messages for an agent.
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { failure, ProxyError } from '../errors.ts';

const WHY: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the disk is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  ELOOP: 'symbolic links lead in a circle, or the path changed while it was opened',
  ENAMETOOLONG: 'the path is too long',
  EMFILE: 'too many files are open',
  ENFILE: 'too many files are open',
  EISDIR: 'it is not a regular file',
  ENXIO: 'it is not a regular file',
  ENODEV: 'it is not a regular file',
  ETXTBSY: 'it is a program that is running',
};

export function fileFailure(method: string, error: unknown, file: unknown): ProxyError {
  if (error instanceof ProxyError) return error;
  const { code } = error as NodeJS.ErrnoException;
  if ((code === 'ENOENT' || code === 'ENOTDIR') && typeof file === 'string')
    return failure('FILE_MISSING', [], { uri: pathToFileURL(file).href });
  return failure('FILE_UNUSABLE', [method, WHY[code ?? ''] ?? code ?? 'an unknown error']);
}

/** A trailing slash means a directory. */
export const namesDirectory = (file: unknown): boolean => typeof file === 'string' && (file.endsWith('/') || file.endsWith(path.sep));

export const notAFile = (method: string) => failure('FILE_UNUSABLE', [method, 'it is not a regular file']);
