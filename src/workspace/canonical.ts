// Symlinks resolved, as far as the path exists: the I/O that the policy engine leaves to its caller.
import { readlinkSync, realpathSync } from 'node:fs';
import path from 'node:path';

/** As many as Linux follows before it gives up. */
const MAX_LINKS = 40;

/**
 * The real path of the nearest part that exists, and the rest behind it. A file that is yet to be written has no real path of its own.
 * A link that leads nowhere yet counts as what it names: whoever writes through it creates that, wherever it is.
 */
export function canonicalPath(file: string): string {
  return resolve(file, { links: MAX_LINKS });
}

function resolve(file: string, left: { links: number }): string {
  let at = file;
  let rest: string[] = [];
  for (;;) {
    try {
      return path.join(realpathSync.native(at), ...rest);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      const parent = path.dirname(at);
      // A loop of links, or a directory we may not look into, is not "does not exist": whoever asks must not take it for a plain path.
      if ((code !== 'ENOENT' && code !== 'ENOTDIR') || parent === at) throw error;
      const target = linkAt(at);
      if (target === undefined) {
        rest = [path.basename(at), ...rest];
        at = parent;
      } else {
        if (--left.links < 0) throw error;
        at = follow(realpathSync.native(parent), target, left);
      }
    }
  }
}

/** `from` is where the link really lies. In what it names, `..` counts from where the name before it really leads. */
function follow(from: string, target: string, left: { links: number }): string {
  let at = path.isAbsolute(target) ? path.parse(target).root : from;
  for (const part of target.split(path.sep)) at = part === '..' ? path.dirname(resolve(at, left)) : path.join(at, part);
  return at;
}

/** What a link names; undefined when there is no link of this name. */
function linkAt(file: string): string | undefined {
  try {
    return readlinkSync(file);
  } catch {
    return undefined;
  }
}
