// Memory and processor time of process trees. Linux reads /proc, other systems run ps.
import { rowsByProc } from '../platform/linux/proc.ts';
import { rowsByPs } from '../platform/macos/ps.ts';
import { here } from '../platform/platform.ts';
import type { ProcessRow } from '../platform/process-row.ts';

export type Usage = { readonly processes: number; readonly memoryBytes: number; readonly cpuMs: number };

/** For each process with everything it started: its group and its descendants. A missing process has no entry. */
export function usageOf(leaders: readonly number[]): ReadonlyMap<number, Usage> {
  const rows = leaders.length === 0 ? [] : allProcesses();
  const children = new Map<number, ProcessRow[]>();
  for (const row of rows) children.set(row.parent, [...(children.get(row.parent) ?? []), row]);
  const found = new Map<number, Usage>();
  for (const leader of leaders) {
    const tree = new Set(rows.filter(({ pid, group }) => pid === leader || group === leader));
    for (const { pid } of tree) for (const child of children.get(pid) ?? []) tree.add(child);
    if (tree.size > 0) found.set(leader, sumOf([...tree]));
  }
  return found;
}

function sumOf(tree: readonly ProcessRow[]): Usage {
  return {
    processes: tree.length,
    memoryBytes: tree.reduce((sum, { memoryBytes }) => sum + memoryBytes(), 0),
    cpuMs: tree.reduce((sum, { cpuMs }) => sum + cpuMs, 0),
  };
}

/** Empty where the system tells nothing. */
export function allProcesses(): readonly ProcessRow[] {
  if (here.processes === 'none') return [];
  return here.processes === 'proc' ? rowsByProc() : rowsByPs();
}
