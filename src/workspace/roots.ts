// The directories of a session, for reading, writing and running. Resolved once, when the session opens, so that a later replacement cannot
// move them.
import path from 'node:path';
import { failure } from '../errors.ts';
import { isInside } from '../native-path.ts';
import { here } from '../platform/platform.ts';
import { canonicalPath } from './canonical.ts';

export type Roots = {
  /** As named and as resolved: a path outside all of them is refused before any disk access. */
  readonly named: readonly string[];
  /** Descriptors are checked against these. */
  readonly real: readonly string[];
};

/** Skips entries that are not absolute or cannot be resolved: fewer roots allow less, never more. */
export function rootsOf(directories: readonly unknown[]): Roots {
  const given = directories.filter((one): one is string => typeof one === 'string' && path.isAbsolute(one) && !one.includes('\0'));
  const pairs = given.flatMap((one) => {
    const named = withoutEnd(path.normalize(one));
    try {
      const real = canonicalPath(named);
      // Names that are not UTF-8 look alike, so they cannot be told apart.
      return real.includes('\ufffd') ? [] : [{ named, real }];
    } catch {
      return []; // a loop of links, or an unreadable directory
    }
  });
  const real = [...new Set(pairs.map((pair) => pair.real))];
  const named = [...new Set([...pairs.map((pair) => pair.named), ...real])];
  // Most sessions share a directory; this avoids a copy for each.
  if (!isSame(named, last.named) || !isSame(real, last.real)) last = { named, real };
  return last;
}

let last: Roots = { named: [], real: [] };
const isSame = (some: readonly string[], others: readonly string[]): boolean =>
  some.length === others.length && some.every((one, index) => one === others[index]);

/** Whether a path lies in one of the directories, as text. */
export const isNamedInside = ({ named }: Roots, file: string): boolean => named.some((root) => isWithin(root, file));

/** Whether a real path does. */
export const isReallyInside = ({ real }: Roots, file: string): boolean => real.some((root) => isWithin(root, file));

export const outside = () => failure('PATH_OUTSIDE', []);

/**
 * The check for a descriptor: it lies inside and, under a policy, exactly at the evaluated path. Otherwise a link that changes in between
 * would lead from an allowed file to a denied one, both inside.
 */
export const holdTo =
  (roots: Roots, evaluatedPath: string | undefined) =>
  (where: string): void => {
    if (!isReallyInside(roots, where)) throw outside();
    if (evaluatedPath !== undefined && plain(where) !== plain(evaluatedPath)) throw failure('PATH_MOVED', []);
  };

/** As a policy writes paths. */
const plain = (file: string): string => file.replaceAll(path.sep, '/').normalize('NFC');

function isWithin(root: string, file: string): boolean {
  if (!isInside(root, file)) return false;
  // Not files but the state of the system and of this process: its environment, memory and descriptors.
  return here.pseudoFiles.every((pseudo) => !isInside(pseudo, file) || isInside(pseudo, root));
}

function withoutEnd(file: string): string {
  return file.length > path.parse(file).root.length && file.endsWith(path.sep) ? file.slice(0, -1) : file;
}
