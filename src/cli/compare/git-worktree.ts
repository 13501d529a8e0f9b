// A worktree of a repository, with what is not committed yet: the history is shared, the files are not.
import { execFile } from 'node:child_process';
import { cp, mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { joinWords } from '../../setup/shell-words.ts';
import { CommandFailure } from '../command-failure.ts';
import type { Change, WorkDirectory } from './work-directory.ts';

const MAX_OUTPUT = 64 * 1024 * 1024;
/** For the commit that holds what is not committed: nobody sees it, and it goes by and by. */
const NOBODY = { NAME: 'switchboard', EMAIL: 'switchboard@localhost' };
const STATUS: Readonly<Record<string, Change['status']>> = { A: 'added', D: 'deleted' };

/** How to make worktrees of the repository around `cwd`; undefined where there is none, or none with a commit. */
export async function repositoryAt(cwd: string): Promise<((root: string) => Promise<WorkDirectory>) | undefined> {
  const place = await git(cwd, 'rev-parse', '--show-toplevel', '--show-prefix', '--verify', 'HEAD').catch(() => undefined);
  if (place === undefined) return undefined;
  const [top = '', prefix = ''] = place.split('\n');
  const state = (await git(top, 'stash', 'create').catch(refused)).trim();
  const untracked = names(await git(top, 'ls-files', '--others', '--exclude-standard', '-z'));
  return async (root) => {
    await git(top, 'worktree', 'add', '--quiet', '--detach', root, 'HEAD').catch(refused);
    if (state !== '') await git(root, 'read-tree', '--reset', '-u', state);
    for (const file of untracked) await cp(path.join(top, file), path.join(root, file), { recursive: true, verbatimSymlinks: true });
    await git(root, 'add', '--all');
    const base = (await git(root, 'write-tree')).trim();
    const cwd = path.join(root, prefix);
    await mkdir(cwd, { recursive: true }); // git knows no empty directory
    return {
      kind: 'worktree',
      root,
      cwd,
      look: joinWords(['git', '-C', root, 'diff', base.slice(0, 12)]),
      discard: joinWords(['git', 'worktree', 'remove', '--force', root]),
      changes: () => changesSince(base, root).catch(() => undefined),
      async remove() {
        await git(top, 'worktree', 'remove', '--force', root).catch(async () => {
          // The agent has broken it: its files go, and git forgets it the next time it looks.
          await rm(root, { recursive: true, force: true });
          await git(top, 'worktree', 'prune').catch(() => {});
        });
      },
    };
  };
}

/** Against the files, whatever the agent has added or committed in between. */
async function changesSince(base: string, root: string): Promise<readonly Change[]> {
  await git(root, 'add', '--intent-to-add', '.'); // so that new files are part of every diff, ours and the user's
  const words = names(await git(root, 'diff', '--no-ext-diff', '--no-renames', '--name-status', '-z', base));
  return words.flatMap((word, index): Change[] =>
    index % 2 === 0 ? [{ status: STATUS[word] ?? 'changed', path: words[index + 1] ?? '' }] : [],
  );
}

const names = (output: string): string[] => output.split('\0').filter((name) => name !== '');

/** Without the hooks of the repository: nothing is checked out for anybody to work in but the agent. */
async function git(cwd: string, ...args: readonly string[]): Promise<string> {
  const { GIT_DIR, GIT_WORK_TREE, GIT_INDEX_FILE, GIT_PREFIX, ...inherited } = process.env;
  const somebody = Object.entries(NOBODY).flatMap(([key, value]) =>
    [`GIT_AUTHOR_${key}`, `GIT_COMMITTER_${key}`].map((name) => [name, value]),
  );
  const env = { ...inherited, ...Object.fromEntries(somebody), LC_ALL: 'C', GIT_OPTIONAL_LOCKS: '0' };
  const { stdout } = await promisify(execFile)('git', ['-c', 'core.hooksPath=/dev/null', ...args], { cwd, env, maxBuffer: MAX_OUTPUT });
  return stdout;
}

function refused(error: { readonly stderr?: string; readonly message: string }): never {
  const [why = error.message] = (error.stderr ?? '').split('\n').filter((line) => line.trim() !== '');
  throw new CommandFailure(1, `git cannot make a worktree: ${why}`, 'mend that, or compare without --write');
}
