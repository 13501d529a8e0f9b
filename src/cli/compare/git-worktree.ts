// A git worktree that includes uncommitted changes.
import { execFile } from 'node:child_process';
import { cp, lstat, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { joinWords } from '../../agents/shell-words.ts';
import { CommandFailure } from '../failure.ts';
import type { Change, WorkDirectory } from './work-directory.ts';

const MAX_OUTPUT = 64 * 1024 * 1024;
/** The author of the commit that holds uncommitted changes. No branch refers to it, so git removes it eventually. */
const NOBODY = { NAME: 'switchboard', EMAIL: 'switchboard@localhost' };
const STATUS: Readonly<Record<string, Change['status']>> = { A: 'added', D: 'deleted' };

/** `inherited`: git's environment; filters that a repository names run with it. Returns a function that creates worktrees of the repository around `cwd`; undefined without a repository or a commit. */
export async function repositoryAt(
  cwd: string,
  inherited: NodeJS.ProcessEnv,
): Promise<((root: string) => Promise<WorkDirectory>) | undefined> {
  const git = gitIn(inherited);
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
    // Read now and not again later: the agent can write to the worktree, and git runs programs that its settings name.
    const pointer = await readFile(path.join(root, '.git'), 'utf8');
    const inside = [`--git-dir=${(await git(root, 'rev-parse', '--absolute-git-dir')).trim()}`, `--work-tree=${root}`];
    const cwd = path.join(root, prefix);
    await mkdir(cwd, { recursive: true }); // git does not track empty directories
    return {
      kind: 'worktree',
      root,
      cwd,
      look: joinWords(['git', '-C', root, 'diff', base.slice(0, 12)]),
      discard: joinWords(['git', 'worktree', 'remove', '--force', root]),
      changes: () =>
        putBack(path.join(root, '.git'), pointer)
          .then(() => changesSince(git, base, root, inside))
          .catch(() => undefined),
      async remove() {
        await git(top, 'worktree', 'remove', '--force', root).catch(async () => {
          // The agent broke the worktree: delete its files; git prunes the entry later.
          await rm(root, { recursive: true, force: true });
          await git(top, 'worktree', 'prune').catch(() => {});
        });
      },
    };
  };
}

/** Users inspect the changes with git in that directory, so make it a worktree of this repository again, whatever the agent did to it. */
async function putBack(file: string, pointer: string): Promise<void> {
  const about = await lstat(file).catch(() => undefined);
  if (about?.isFile() && about.size === Buffer.byteLength(pointer) && (await readFile(file, 'utf8')) === pointer) return;
  await rm(file, { recursive: true, force: true });
  await writeFile(file, pointer, { flag: 'wx' });
}

/** Compares with the files at the start, whatever the agent has staged or committed. */
async function changesSince(git: Git, base: string, root: string, inside: readonly string[]): Promise<readonly Change[]> {
  await git(root, ...inside, 'add', '--intent-to-add', '.'); // includes new files in every diff, ours and the user's
  const diff = ['diff', '--no-ext-diff', '--no-renames', '--name-status', '-z', base];
  const words = names(await git(root, ...inside, ...diff));
  return words.flatMap((word, index): Change[] =>
    index % 2 === 0 ? [{ status: STATUS[word] ?? 'changed', path: words[index + 1] ?? '' }] : [],
  );
}

const names = (output: string): string[] => output.split('\0').filter((name) => name !== '');

/** Runs nothing that a repository brings: no hooks, no file monitor, and no settings of nested repositories. */
const HARMLESS = ['core.hooksPath=/dev/null', 'core.fsmonitor=false', 'diff.ignoreSubmodules=dirty'].flatMap((setting) => ['-c', setting]);

type Git = (cwd: string, ...args: readonly string[]) => Promise<string>;

function gitIn({ GIT_DIR, GIT_WORK_TREE, GIT_INDEX_FILE, GIT_PREFIX, ...inherited }: NodeJS.ProcessEnv): Git {
  const somebody = Object.entries(NOBODY).flatMap(([key, value]) =>
    [`GIT_AUTHOR_${key}`, `GIT_COMMITTER_${key}`].map((name) => [name, value]),
  );
  const env = { ...inherited, ...Object.fromEntries(somebody), LC_ALL: 'C', GIT_OPTIONAL_LOCKS: '0' };
  return async (cwd, ...args) => (await promisify(execFile)('git', [...HARMLESS, ...args], { cwd, env, maxBuffer: MAX_OUTPUT })).stdout;
}

function refused(error: { readonly stderr?: string; readonly message: string }): never {
  const [why = error.message] = (error.stderr ?? '').split('\n').filter((line) => line.trim() !== '');
  throw new CommandFailure(1, `git could not create a worktree: ${why}`, 'fix this, or compare without --write');
}
