// Gives each agent its own directory: a git worktree, or a copy.
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rmdir } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { CommandFailure } from '../failure.ts';
import { copyOf } from './copied-directory.ts';
import { repositoryAt } from './git-worktree.ts';

export type Change = { readonly path: string; readonly status: 'added' | 'changed' | 'deleted' };

export type WorkDirectory = {
  readonly kind: 'worktree' | 'copy';
  /** The directory that `remove` deletes. */
  readonly root: string;
  /** The counterpart of the directory in which the command was started. */
  readonly cwd: string;
  /** The changes since its creation; undefined if they cannot be determined. */
  changes(): Promise<readonly Change[] | undefined>;
  /** The commands that show the changes and delete them. */
  readonly look: string;
  readonly discard: string;
  remove(): Promise<void>;
};

export type WorkDirectories = {
  readonly byAgent: ReadonlyMap<string, WorkDirectory>;
  /** Removes their directories, and the parent if it is empty. */
  remove(agents: readonly string[]): Promise<void>;
};

/** `into` is the parent of all directories; default: a new temporary directory. */
export async function makeDirectories(
  cwd: string,
  agents: readonly string[],
  into: string | undefined,
  environment: NodeJS.ProcessEnv,
): Promise<WorkDirectories> {
  const around = into === undefined ? await temporary(cwd) : await given(cwd, into);
  const byAgent = new Map<string, WorkDirectory>();
  const directories: WorkDirectories = {
    byAgent,
    async remove(names) {
      for (const name of names) {
        await byAgent.get(name)?.remove();
        byAgent.delete(name);
      }
      await rmdir(around).catch(() => {}); // not empty: it holds something to keep
    },
  };
  try {
    const make = (await repositoryAt(cwd, environment)) ?? (await copyOf(cwd));
    for (const name of agents) byAgent.set(name, await make(path.join(around, name)));
    return directories;
  } catch (error) {
    await directories.remove([...byAgent.keys()]);
    throw error;
  }
}

async function temporary(cwd: string): Promise<string> {
  const folder = await realpath(os.tmpdir());
  refuseInside(cwd, folder, 'choose another folder: --into DIR');
  const stamp = new Date().toISOString().slice(0, 16).replaceAll(/[-:]/g, '').replace('T', '-');
  return mkdtemp(path.join(folder, `switchboard-compare-${stamp}-`));
}

async function given(cwd: string, into: string): Promise<string> {
  const around = path.resolve(into);
  refuseInside(cwd, around, 'choose a folder outside of it');
  if (existsSync(around)) throw new CommandFailure(2, `--into ${into} already exists`, 'choose a new folder');
  await mkdir(around, { recursive: true });
  return realpath(around);
}

/** A copy inside its own source would recurse, and a worktree inside a repository would show up in its status. */
function refuseInside(cwd: string, folder: string, hint: string): void {
  const way = path.relative(cwd, folder);
  if (way === '' || (!way.startsWith('..') && !path.isAbsolute(way)))
    throw new CommandFailure(2, `the directories for the agents would be inside ${cwd}`, hint);
}
