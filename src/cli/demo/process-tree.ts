// Finds the processes of a command, so that the tour can report how many are left.
import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { startTimeOf } from '../../processes/process-table.ts';

/** The process and its descendants; undefined on systems where this is not supported. */
export async function processTree(root: number): Promise<readonly number[] | undefined> {
  const parents = (await fromProc()) ?? (await fromPs());
  if (!parents) return undefined;
  const tree = [root];
  for (const member of tree) for (const [pid, parent] of parents) if (parent === member) tree.push(pid);
  return tree;
}

/** Excludes zombies. */
export function stillAlive(pids: readonly number[]): readonly number[] {
  return pids.filter((pid) => startTimeOf(pid) !== undefined);
}

type Parents = ReadonlyMap<number, number>;

async function fromProc(): Promise<Parents | undefined> {
  if (process.platform !== 'linux') return undefined;
  const parents = new Map<number, number>();
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => ''); // exited meanwhile
    // The program name is in parentheses and may contain some itself; the state and the parent follow it.
    const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
    if (!Number.isNaN(parent)) parents.set(Number(name), parent);
  }
  return parents;
}

async function fromPs(): Promise<Parents | undefined> {
  if (process.platform === 'win32') return undefined;
  try {
    const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=']);
    return new Map([...stdout.matchAll(/(\d+)\s+(\d+)/g)].map(([, pid, parent]) => [Number(pid), Number(parent)]));
  } catch {
    return undefined;
  }
}
