// Paths and links as ACP wants them: absolute, and with a name.
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** A path of the agent's inside the directory of its session. */
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

/** What a link is called when nobody has named it: the last part of where it leads. */
export function nameOfUri(uri: string): string {
  const last = uri
    .replace(/[?#].*$/, '')
    .split('/')
    .findLast((part) => part !== '');
  return last ?? uri;
}
