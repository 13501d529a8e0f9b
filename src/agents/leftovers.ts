// After a proxy was killed its agents see the end of their input, and some do not mind. The next proxy to start ends those.
import { rmSync } from 'node:fs';
import { processesMarked } from '../processes/process-table.ts';
import { posixTree } from '../processes/process-tree.ts';
import { type Daemon, findDaemons, forgetDeadDaemons, rememberDaemons } from './daemons.ts';
import { isRunning, type RunningRecord, readRunningRecords } from './running-record.ts';

export type Leftovers = { readonly ended: number; readonly daemons: readonly Daemon[] };

/** Ends the agents of proxies that are no more. A process that has left its agent's group did so on purpose: it is only named, and remembered. */
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
