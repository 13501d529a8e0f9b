// Finds the files on the disk that globs name: directly where a glob names one place, else by a bounded walk.
import path from 'node:path/posix';
import type { PathGlob, Roots } from '../../policy/paths/path-glob.ts';
import { MAX_ENTRIES, SKIPPED_DIRECTORIES } from './defaults.ts';
import type { Disk } from './profile.ts';

export type Wanted = { readonly glob: PathGlob; readonly kind: 'hide' | 'protect'; readonly why: string };
export type Match = { readonly wanted: Wanted; readonly path: string; readonly isDirectory: boolean };

const WILD = /[*?[\]{}()!\\]/;

/** The places that a glob names without a wildcard: `$home/.ssh/**` is `~/.ssh`. A `**` at the beginning names none. */
export function namedPlaces(source: string, { cwd, home }: Roots): readonly string[] {
  const absolute = source.replace(/^\$cwd(?=\/|$)/, cwd).replace(/^(?:\$home|~)(?=\/|$)/, home ?? '/nowhere');
  // `$home/**/.ssh` is looked for at `$home/.ssh` only.
  return expanded(absolute)
    .map((one) => one.replace(/\/\*\*$/, '').replace(/(?<=.)\/\*\*\//g, '/'))
    .filter((one) => one.startsWith('/') && !WILD.test(one));
}

/** Without nested braces. */
function expanded(glob: string): readonly string[] {
  const braces = /^([^{}]*)\{([^{}]*)\}(.*)$/.exec(glob);
  return braces ? (braces[2] ?? '').split(',').flatMap((one) => expanded(`${braces[1]}${one}${braces[3]}`)) : [glob];
}

/** Names that no file has: a glob that matches them below a directory matches everything there. */
const ANY = '\u0001';

export type Found = { readonly matches: readonly Match[] /** Directories named `.git`. */; readonly gits: readonly string[] };

/** Every match below `root`, outermost only; `too many` if the directory holds more than is looked at. */
export function findMatches(root: string, wanted: readonly Wanted[], roots: Roots, disk: Disk): Found | 'too many' {
  const gits: string[] = [];
  const found: Match[] = [];
  const open: { readonly directory: string; readonly wanted: readonly Wanted[] }[] = [{ directory: root, wanted }];
  let count = 0;
  // Breadth first, and each glob stops at the directory that it covers as a whole.
  for (let index = 0; index < open.length; index++) {
    const { directory, wanted: here } = open[index] as (typeof open)[number];
    for (const { name, kind } of disk.list(directory)) {
      if (++count > MAX_ENTRIES) return 'too many';
      const file = path.join(directory, name);
      if (kind !== 'directory') {
        for (const one of here) if (touches(one.glob, file, roots)) found.push({ wanted: one, path: file, isDirectory: false });
        continue;
      }
      if (name === '.git') gits.push(file); // git.ts covers what matters in there
      if (name === '.git' || SKIPPED_DIRECTORIES.has(name)) continue;
      const whole = here.filter(({ glob }) => isWhole(glob, file, roots));
      for (const one of whole) found.push({ wanted: one, path: file, isDirectory: true });
      const rest = here.filter((one) => !whole.includes(one));
      if (rest.length > 0) open.push({ directory: file, wanted: rest });
    }
  }
  return { matches: found, gits };
}

const isWhole = (glob: PathGlob, directory: string, roots: Roots): boolean =>
  touches(glob, `${directory}/${ANY}`, roots) && touches(glob, `${directory}/${ANY}/${ANY}`, roots);

const touches = (glob: PathGlob, file: string, roots: Roots): boolean =>
  glob.touches({ path: file, written: file, folded: [file.toLowerCase()], access: 'unknown', evidence: 'raw' }, roots);
