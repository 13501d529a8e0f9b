// Some agents of a killed proxy ignore the end of their input. The next proxy stops them when it starts.
import { readdirSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { draftsIn } from '../private-files.ts';
import { isAlive, processesMarked } from '../processes/process-table.ts';
import { posixTree } from '../processes/process-tree.ts';
import { type Daemon, findDaemons, forgetDeadDaemons, rememberDaemons } from './daemons.ts';
import { isRunning, type RunningRecord, readRunningRecords } from './running-record.ts';

export type Leftovers = { readonly ended: number; readonly daemons: readonly Daemon[] };

/**
 * Stops the agents of proxies that have exited. A process that left its agent's group did so on purpose, so it is only reported and
 * recorded.
 */
export function endLeftovers(stateDir: string, onProblem: (error: unknown) => void): Leftovers {
  let ended = 0;
  const daemons: Daemon[] = [];
  for (const { file, record } of readRunningRecords(stateDir)) {
    if (record && isRunning(record.owner)) continue;
    try {
      const found = record ? endAll(record) : { ended: 0, daemons: [] };
      ended += found.ended;
      daemons.push(...found.daemons);
      if (record) rememberDaemons(stateDir, record.mark, found.daemons);
      rmSync(file, { force: true });
    } catch (error) {
      onProblem(error);
    }
  }
  forgetDeadDaemons(stateDir);
  return { ended, daemons };
}

function endAll({ mark, children }: RunningRecord): Leftovers {
  const marked = processesMarked(mark);
  // A group outlives its leader, and the system does not reuse its id meanwhile. The mark proves that the group is ours.
  const orphaned = marked.filter(({ group }) => children.some(({ pid }) => pid === group));
  const groups = new Set([...children.filter(isRunning).map(({ pid }) => pid), ...orphaned.map(({ group }) => group)]);
  for (const group of groups) posixTree(group).end('kill');
  return { ended: groups.size, daemons: findDaemons(mark, (group) => groups.has(group)) };
}

// Temporary files of a process that was killed while it wrote them. The files they were to replace are intact.
/** A draft exists for some milliseconds. An older one is a leftover, even if another process has its pid now. */
const LONGEST_DRAFT_MS = 60 * 60_000;

export function removeDrafts(stateDir: string, onProblem: (error: unknown) => void): void {
  for (const dir of directoriesOf(stateDir))
    try {
      for (const { file, pid } of draftsIn(dir)) if (!isAlive(pid) || ageMs(file) > LONGEST_DRAFT_MS) rmSync(file, { force: true });
    } catch (error) {
      onProblem(error);
    }
}

const ageMs = (file: string): number => Date.now() - (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY);

/** The state directory and its subfolders, where all our files are. Without a state directory there are no leftovers. */
function directoriesOf(stateDir: string): readonly string[] {
  try {
    const below = readdirSync(stateDir, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    return [stateDir, ...below.map(({ name }) => path.join(stateDir, name))];
  } catch {
    return [];
  }
}
