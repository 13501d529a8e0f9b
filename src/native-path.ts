// Paths as this machine writes them. Paths in the form of policies are compared in policy/paths/path.ts.
import path from 'node:path';

/** Whether `file` is `directory` or below it. A sibling with the same prefix (`/root-evil`) is not. */
export function isInside(directory: string, file: string): boolean {
  return file === directory || file.startsWith(directory.endsWith(path.sep) ? directory : directory + path.sep);
}
