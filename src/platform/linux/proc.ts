// Facts about processes from /proc. What has exited in the meantime, or belongs to another user, is left out.
import { readdirSync, readFileSync } from 'node:fs';
import type { ProcessRow } from '../process-row.ts';

type Stat = { readonly pid: number; readonly parent: number; readonly group: number; readonly startTime: string | undefined };

/** A kernel tick is a hundredth of a second on every system that Node runs on. */
const TICK_MS = 10;

export const pidsByProc = (): readonly number[] => readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));

/** The second field of a stat line is the name in parentheses, which may contain anything, so the fields are counted after it. */
function fieldsOf(pid: number): readonly string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

/** Undefined for a zombie: without a reaper, zombies stay forever. */
export function statByProc(pid: number): Stat | undefined {
  try {
    const fields = fieldsOf(pid);
    return fields[0] === 'Z' ? undefined : { pid, parent: Number(fields[1]), group: Number(fields[2]), startTime: fields[19] };
  } catch {
    return undefined;
  }
}

export const statsByProc = (): readonly Stat[] => pidsByProc().flatMap((pid) => statByProc(pid) ?? []);

/** The NUL-terminated strings of `cmdline` or `environ`; undefined if they cannot be read. */
export function stringsByProc(pid: number, file: 'cmdline' | 'environ'): readonly string[] | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, file === 'environ' ? 'latin1' : 'utf8').split('\0');
  } catch {
    return undefined;
  }
}

export const rowsByProc = (): readonly ProcessRow[] =>
  pidsByProc().flatMap((pid) => {
    try {
      const fields = fieldsOf(pid);
      if (fields[0] === 'Z') return [];
      const [parent, group, user, system] = [1, 2, 11, 12].map((at) => Number(fields[at])) as [number, number, number, number];
      return [{ pid, parent, group, cpuMs: (user + system) * TICK_MS, memoryBytes: () => residentBytes(pid) }];
    } catch {
      return [];
    }
  });

function residentBytes(pid: number): number {
  try {
    const [, kilobytes = '0'] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return Number(kilobytes) * 1024;
  } catch {
    return 0;
  }
}
