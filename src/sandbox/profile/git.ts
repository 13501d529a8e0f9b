// Git directories: which ones a project uses, and which of their parts make git run something.
import path from 'node:path/posix';
import { GIT_FILES } from './defaults.ts';
import type { Disk } from './profile.ts';

export type GitPlaces = {
  /** The directory with the objects, also of a linked worktree. */
  readonly common: string;
  /** `.git` in the project: a directory, or the file of a linked worktree. */
  readonly entry: string;
};

/** Looks in `directory` and above it, but not above `home`. */
export function gitOf(directory: string, home: string | undefined, disk: Disk): GitPlaces | undefined {
  for (let at = directory; ; at = path.dirname(at)) {
    const found = gitIn(at, disk);
    if (found || at === '/' || at === home) return found;
  }
}

function gitIn(directory: string, disk: Disk): GitPlaces | undefined {
  const entry = path.join(directory, '.git');
  const kind = disk.kindOf(entry);
  if (kind === 'directory') return { common: entry, entry };
  const [, named] = (kind === 'file' && /^gitdir: (.+)$/m.exec(disk.read(entry) ?? '')) || [];
  const gitDir = named && disk.real(path.resolve(directory, named));
  if (!gitDir) return undefined;
  // The agent could have made this file. A git directory that does not name this place in return is not its own.
  const back = disk.read(path.join(gitDir, 'gitdir'))?.trim();
  const commonDir = disk.real(path.resolve(gitDir, disk.read(path.join(gitDir, 'commondir'))?.trim() ?? '.'));
  const isLinked = back !== undefined && disk.real(path.resolve(gitDir, back)) === disk.real(entry);
  return isLinked && commonDir && isGitDirectory(commonDir, disk) ? { common: commonDir, entry } : undefined;
}

const isGitDirectory = (directory: string, disk: Disk): boolean =>
  ['HEAD', 'objects', 'refs'].every((name) => disk.kindOf(path.join(directory, name)) !== undefined);

/** The existing files and directories of a git directory that must stay as they are. */
export function gitCovers(gitDirectory: string, disk: Disk, depth = 0): readonly string[] {
  const own = [...GIT_FILES.map((name) => path.join(gitDirectory, name)), ...hooksOf(gitDirectory, disk)].filter(
    (file) => disk.kindOf(file) !== undefined,
  );
  if (depth >= MAX_DEPTH) return own;
  const nested = ['modules', 'worktrees'].flatMap((name) => {
    const directory = path.join(gitDirectory, name);
    const entries = disk.list(directory).filter(({ kind }) => kind === 'directory');
    return entries.flatMap((entry) => gitCovers(path.join(directory, entry.name), disk, depth + 1));
  });
  return [...own, ...nested];
}

/** `core.hooksPath`, from the root of the work tree. */
function hooksOf(gitDirectory: string, disk: Disk): readonly string[] {
  if (path.basename(gitDirectory) !== '.git') return [];
  const named = /^\s*hooksPath\s*=\s*"?([^"\n#;]+?)"?\s*(?:[#;].*)?$/im.exec(disk.read(path.join(gitDirectory, 'config')) ?? '')?.[1];
  return named === undefined || named.startsWith('~') ? [] : [path.resolve(path.dirname(gitDirectory), named)];
}

/** Submodules of submodules. */
const MAX_DEPTH = 3;
