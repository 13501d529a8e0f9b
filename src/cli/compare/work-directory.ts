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
  /** What is removed with it. */
  readonly root: string;
  /** The place in it that stands for the directory the command was started in. */
  readonly cwd: string;
  /** Since it was made; undefined when that cannot be told any more. */
  changes(): Promise<readonly Change[] | undefined>;
  /** What to type to see the changes, and to be rid of them. */
  readonly look: string;
  readonly discard: string;
  remove(): Promise<void>;
};

export type WorkDirectories = {
  readonly byAgent: ReadonlyMap<string, WorkDirectory>;
  /** Removes those, and the folder around all when it is empty. */
  remove(agents: readonly string[]): Promise<void>;
};

/** `into` is the folder for all of them; without it one is made where temporary files are. */
export async function makeDirectories(cwd: string, agents: readonly string[], into: string | undefined): Promise<WorkDirectories> {
  const around = into === undefined ? await temporary(cwd) : await given(cwd, into);
  const byAgent = new Map<string, WorkDirectory>();
  const directories: WorkDirectories = {
    byAgent,
    async remove(names) {
      for (const name of names) {
        await byAgent.get(name)?.remove();
        byAgent.delete(name);
      }
      await rmdir(around).catch(() => {}); // there is something in it to be kept
    },
  };
  try {
    const make = (await repositoryAt(cwd)) ?? (await copyOf(cwd));
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

/** A copy inside of what is copied has no end, and a worktree inside of a repository is in everybody's way. */
function refuseInside(cwd: string, folder: string, hint: string): void {
  const way = path.relative(cwd, folder);
  if (way === '' || (!way.startsWith('..') && !path.isAbsolute(way)))
    throw new CommandFailure(2, `the directories for the agents would be inside ${cwd}`, hint);
}
