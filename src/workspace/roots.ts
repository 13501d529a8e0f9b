// The directories of a session: what may be read, written and run in. Resolved once, when the session is opened, so that nothing put in
// their place later moves them.
import path from 'node:path';
import { failure } from '../errors.ts';
import { canonicalPath } from './canonical.ts';

export type Roots = {
  /** As they were named and as they really are: a path outside all of them is refused before the disk is touched. */
  readonly named: readonly string[];
  /** What descriptors are held against. */
  readonly real: readonly string[];
};

/** Entries that are no absolute path, or lead nowhere that can be told, are left out: without them less is allowed, never more. */
export function rootsOf(directories: readonly unknown[]): Roots {
  const given = directories.filter((one): one is string => typeof one === 'string' && path.isAbsolute(one) && !one.includes('\0'));
  const pairs = given.flatMap((one) => {
    const named = withoutEnd(path.normalize(one));
    try {
      const real = canonicalPath(named);
      // A name that is not UTF-8 looks like others that are not either, and nothing could be told apart in it.
      return real.includes('\ufffd') ? [] : [{ named, real }];
    } catch {
      return []; // links in a circle, or a directory that may not be looked into
    }
  });
  const real = [...new Set(pairs.map((pair) => pair.real))];
  const named = [...new Set([...pairs.map((pair) => pair.named), ...real])];
  // Most sessions are in the same directory, and each would keep its own copy of this for as long as it is open.
  if (!isSame(named, last.named) || !isSame(real, last.real)) last = { named, real };
  return last;
}

let last: Roots = { named: [], real: [] };
const isSame = (some: readonly string[], others: readonly string[]): boolean =>
  some.length === others.length && some.every((one, index) => one === others[index]);

/** Whether a path lies in one of the directories, going by names alone. */
export const isNamedInside = ({ named }: Roots, file: string): boolean => named.some((root) => isWithin(root, file));

/** Whether a real path does. */
export const isReallyInside = ({ real }: Roots, file: string): boolean => real.some((root) => isWithin(root, file));

export const outside = () => failure('PATH_OUTSIDE', []);

/**
 * What a descriptor must hold to: it lies inside, and, where a policy has judged the path, at the very place that was judged. Otherwise a link
 * that is changed in between would lead from what is allowed to what is not, both of them inside.
 */
export const holdTo =
  (roots: Roots, judged: string | undefined) =>
  (where: string): void => {
    if (!isReallyInside(roots, where)) throw outside();
    if (judged !== undefined && plain(where) !== plain(judged)) throw failure('PATH_MOVED', []);
  };

/** As a policy writes paths. */
const plain = (file: string): string => (process.platform === 'win32' ? file.replaceAll('\\', '/') : file).normalize('NFC');

/** What is there is not files but the state of the system and of this very process: its environment, its memory, its descriptors. */
const PSEUDO = process.platform === 'win32' ? [] : ['/proc', '/sys', '/dev'];

function isWithin(root: string, file: string): boolean {
  if (!isBelow(root, file)) return false;
  return PSEUDO.every((pseudo) => !isBelow(pseudo, file) || isBelow(pseudo, root));
}

/** By whole names: `/root-evil` does not lie in `/root`. */
function isBelow(root: string, file: string): boolean {
  return file === root || file.startsWith(root.endsWith(path.sep) ? root : root + path.sep);
}

function withoutEnd(file: string): string {
  return file.length > path.parse(file).root.length && file.endsWith(path.sep) ? file.slice(0, -1) : file;
}
