// Memory and processor time of process trees. Linux reads /proc, other systems run ps.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

export type Usage = { readonly processes: number; readonly memoryBytes: number; readonly cpuMs: number };

type Row = {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly cpuMs: number;
  readonly memoryBytes: () => number;
};

/** For each process with everything it started: its group and its descendants. A missing process has no entry. */
export function usageOf(leaders: readonly number[]): ReadonlyMap<number, Usage> {
  const rows = leaders.length === 0 ? [] : table();
  const children = new Map<number, Row[]>();
  for (const row of rows) children.set(row.parent, [...(children.get(row.parent) ?? []), row]);
  const found = new Map<number, Usage>();
  for (const leader of leaders) {
    const tree = new Set(rows.filter(({ pid, group }) => pid === leader || group === leader));
    for (const { pid } of tree) for (const child of children.get(pid) ?? []) tree.add(child);
    if (tree.size > 0) found.set(leader, sumOf([...tree]));
  }
  return found;
}

function sumOf(tree: readonly Row[]): Usage {
  return {
    processes: tree.length,
    memoryBytes: tree.reduce((sum, { memoryBytes }) => sum + memoryBytes(), 0),
    cpuMs: tree.reduce((sum, { cpuMs }) => sum + cpuMs, 0),
  };
}

function table(): readonly Row[] {
  if (process.platform === 'win32') return [];
  return process.platform === 'linux' ? fromProc() : fromPs(execFileSync('ps', PS_FIELDS, { encoding: 'utf8' }));
}

/** A kernel tick is a hundredth of a second on every system that Node runs on. */
const TICK_MS = 10;

function fromProc(): readonly Row[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      // The name before it is in parentheses and may contain anything.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (fields[0] === 'Z') return [];
      const [parent, group, user, system] = [1, 2, 11, 12].map((at) => Number(fields[at])) as [number, number, number, number];
      return [{ pid: Number(name), parent, group, cpuMs: (user + system) * TICK_MS, memoryBytes: () => residentBytes(name) }];
    } catch {
      return []; // exited in the meantime
    }
  });
}

function residentBytes(pid: string): number {
  try {
    const [, kilobytes = '0'] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return Number(kilobytes) * 1024;
  } catch {
    return 0;
  }
}

const PS_FIELDS = ['-A', '-o', 'pid=,ppid=,pgid=,rss=,time='];

/** `12 1 12 3400 1-02:03:04.50`: days, hours and hundredths may be missing. */
export function fromPs(text: string): readonly Row[] {
  return text.split('\n').flatMap((line) => {
    const [, pid, parent, group, kilobytes, time = ''] = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s+([\d:.-]+)\s*$/.exec(line) ?? [];
    if (pid === undefined) return [];
    const [clock = '', days = '0'] = time.split('-').reverse();
    const seconds = clock.split(':').reduce((sum, part) => sum * 60 + Number(part), 0) + Number(days) * 86_400;
    const memoryBytes = Number(kilobytes) * 1024;
    return [{ pid: Number(pid), parent: Number(parent), group: Number(group), cpuMs: seconds * 1000, memoryBytes: () => memoryBytes }];
  });
}
