// Paths and links as ACP requires them: absolute, and with a name.
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** Resolves an agent's path against the directory of its session. */
export function absolute(cwd: string | undefined, file: string): string {
  if (file.startsWith('file://')) {
    try {
      return fileURLToPath(file);
    } catch {
      return file;
    }
  }
  return cwd === undefined || path.isAbsolute(file) ? file : path.resolve(cwd, file);
}

/** A name for a link without one: the last part of its path. */
export function nameOfUri(uri: string): string {
  const last = uri
    .replace(/[?#].*$/, '')
    .split('/')
    .findLast((part) => part !== '');
  return last ?? uri;
}
