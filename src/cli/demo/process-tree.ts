// Finds the processes of a command, so that the tour can report how many are left.
import { startTimeOf } from '../../processes/process-table.ts';
import { allProcesses } from '../../processes/usage.ts';

/** The process and its descendants; undefined on systems where this is not supported. */
export function processTree(root: number): readonly number[] | undefined {
  const rows = rowsOrNone();
  if (rows.length === 0) return undefined;
  const tree = [root];
  for (const member of tree) for (const { pid, parent } of rows) if (parent === member) tree.push(pid);
  return tree;
}

function rowsOrNone(): ReturnType<typeof allProcesses> {
  try {
    return allProcesses();
  } catch {
    return []; // there is no `ps`
  }
}

/** Excludes zombies. */
export function stillAlive(pids: readonly number[]): readonly number[] {
  return pids.filter((pid) => startTimeOf(pid) !== undefined);
}
