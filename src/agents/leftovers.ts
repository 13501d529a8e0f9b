// Some agents of a killed proxy ignore the end of their input. The next proxy ends them at its start.
import { readdirSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { draftsIn } from '../private-files.ts';
import { isAlive, processesMarked } from '../processes/process-table.ts';
import { posixTree } from '../processes/process-tree.ts';
import { type Daemon, findDaemons, forgetDeadDaemons, rememberDaemons } from './daemons.ts';
import { isRunning, type RunningRecord, readRunningRecords } from './running-record.ts';

export type Leftovers = { readonly ended: number; readonly daemons: readonly Daemon[] };

/** Ends the agents of proxies that are gone. A process that left its agent's group did so on purpose: it is only reported and recorded. */
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
  // A group outlives its leader, and its number cannot be given away while it does; the mark says that it is still ours.
  const orphaned = marked.filter(({ group }) => children.some(({ pid }) => pid === group));
  const groups = new Set([...children.filter(isRunning).map(({ pid }) => pid), ...orphaned.map(({ group }) => group)]);
  for (const group of groups) posixTree(group).end('kill');
  return { ended: groups.size, daemons: findDaemons(mark, (group) => groups.has(group)) };
}

// Temporary files of a process that was killed while it wrote them. The files they were to replace are intact.
/** A draft is a file for some milliseconds. An older one was left behind, even if another process has its pid now. */
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

/** All that we write to are in it or just below. Where there is none yet, nothing was left. */
function directoriesOf(stateDir: string): readonly string[] {
  try {
    const below = readdirSync(stateDir, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    return [stateDir, ...below.map(({ name }) => path.join(stateDir, name))];
  } catch {
    return [];
  }
}
