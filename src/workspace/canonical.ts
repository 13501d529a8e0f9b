// Resolves symlinks as far as the path exists: the I/O that the policy engine leaves to its caller.
import { lstatSync, readlinkSync, realpathSync } from 'node:fs';
import path from 'node:path';

/** Linux's limit. */
const MAX_LINKS = 40;

/**
 * The real path of the nearest existing part, followed by the rest: a file that does not exist yet has no real path. A dangling link counts
 * as its target, because writing through it creates the target.
 */
export function canonicalPath(file: string): string {
  return resolve(file, { links: MAX_LINKS });
}

function resolve(file: string, left: { links: number }): string {
  if (file.length > MAX_CHARACTERS) throw Object.assign(new Error(`ENAMETOOLONG: ${file.length} characters`), { code: 'ENAMETOOLONG' });
  let at = file;
  let rest: readonly string[] = [];
  for (;;) {
    try {
      const found = path.join(realpathSync.native(at), ...rest);
      // After a missing name, `..` may lead back to an existing directory; links there count.
      return rest.includes('..') ? resolve(found, left) : found;
    } catch (error) {
      // A loop of links, or an unreadable directory, is not "does not exist": the caller must not treat it as a plain path.
      if (!isMissing(error)) throw error;
      const there = nearest(at);
      if (there === undefined) throw error;
      rest = [...there.rest, ...rest];
      const target = linkAt(there.path);
      if (target === undefined) at = there.path;
      else if (--left.links < 0) throw error;
      else at = follow(realpathSync.native(path.dirname(there.path)), target, left);
    }
  }
}

/** Linux's limit. */
const MAX_CHARACTERS = 4096;

const isMissing = (error: unknown): boolean => ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');

/** The longest existing part of a path (a dangling link exists) and the names after it. Everything after a missing name is missing. */
function nearest(file: string): { readonly path: string; readonly rest: readonly string[] } | undefined {
  const above = [file];
  for (let at = file; path.dirname(at) !== at; at = path.dirname(at)) above.push(path.dirname(at));
  let missing = -1;
  let there = above.length;
  while (there - missing > 1) {
    const middle = (missing + there) >> 1;
    if (isThere(above[middle] as string)) there = middle;
    else missing = middle;
  }
  const found = above[there];
  const names = above.slice(0, there).map((one) => path.basename(one));
  return found === undefined ? undefined : { path: found, rest: names.reverse() };
}

function isThere(file: string): boolean {
  try {
    lstatSync(file);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

/** `from` is the real directory of the link. In its target, `..` counts from the real path of the name before it. */
function follow(from: string, target: string, left: { links: number }): string {
  let at = path.isAbsolute(target) ? path.parse(target).root : from;
  for (const part of target.split(path.sep)) at = part === '..' ? path.dirname(resolve(at, left)) : path.join(at, part);
  return at;
}

/** The target of a link; undefined if the name is no link. */
function linkAt(file: string): string | undefined {
  try {
    return readlinkSync(file);
  } catch {
    return undefined;
  }
}
