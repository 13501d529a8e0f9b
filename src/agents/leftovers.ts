// After a proxy was killed its agents see the end of their input, and some do not mind. The next proxy to start ends those.
import { rmSync } from 'node:fs';
import { processesMarked } from '../processes/process-table.ts';
import { posixTree } from '../processes/process-tree.ts';
import { isRunning, type RunningRecord, readRunningRecords } from './running-record.ts';

export type Leftovers = { readonly ended: number; readonly escaped: readonly number[] };

/** Ends the agents of proxies that are no more. A process that has left its agent's group did so on purpose (a daemon): it is only named. */
export function endLeftovers(stateDir: string, onProblem: (error: unknown) => void): Leftovers {
  let ended = 0;
  const escaped: number[] = [];
  for (const { file, record } of readRunningRecords(stateDir)) {
    if (record && isRunning(record.owner)) continue;
    try {
      const found = record ? endAll(record) : { ended: 0, escaped: [] };
      ended += found.ended;
      escaped.push(...found.escaped);
      rmSync(file, { force: true });
    } catch (error) {
      onProblem(error);
    }
  }
  return { ended, escaped };
}

/** Processes of ours that have left their agents' groups, after all agents were ended. */
export function escapees(mark: string): readonly number[] {
  return processesMarked(mark).map(({ pid }) => pid);
}

function endAll({ mark, children }: RunningRecord): Leftovers {
  const marked = processesMarked(mark);
  // A group outlives its leader, and its number cannot be given away while it does; the mark says that it is still ours.
  const orphaned = marked.filter(({ group }) => children.some(({ pid }) => pid === group));
  const groups = new Set([...children.filter(isRunning).map(({ pid }) => pid), ...orphaned.map(({ group }) => group)]);
  for (const group of groups) posixTree(group).end('kill');
  return { ended: groups.size, escaped: marked.filter(({ group }) => !groups.has(group)).map(({ pid }) => pid) };
}
