// Facts about processes that are not our children. Linux reads /proc, other systems run ps.
import path from 'node:path';
import { pidsByProc, statByProc, statsByProc, stringsByProc } from '../platform/linux/proc.ts';
import { startTimeByPs } from '../platform/macos/ps.ts';
import { here } from '../platform/platform.ts';
import { MARK } from './spawn.ts';

/** Whether a process with this pid exists; not which one. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

/** When a process started, as text that is stable and differs for another process with the same pid; undefined if there is none. */
export function startTimeOf(pid: number): string | undefined {
  try {
    if (here.processes === 'none') return undefined;
    return here.processes === 'ps' ? startTimeByPs(pid) : statByProc(pid)?.startTime;
  } catch {
    return undefined;
  }
}

/**
 * Whether a group has a member that is not a zombie. Linux only. It looks more than once before it says no: a member that forks and exits
 * between listing and reading hides its child.
 */
export function hasLivingMember(group: number): boolean {
  for (let look = 0; look < 3; look++) if (pidsByProc().some((pid) => statByProc(pid)?.group === group)) return true;
  return false;
}

/** The members of a group that are not zombies. Linux only. */
export const membersOf = (group: number): readonly { readonly pid: number; readonly parent: number }[] =>
  statsByProc().filter((stat) => stat.group === group);

/** The program a process runs, with the script of an interpreter. No other arguments: they may contain secrets. Linux only. */
export function programOf(pid: number): string | undefined {
  const [program = '', script = ''] = stringsByProc(pid, 'cmdline') ?? [];
  const words = [program, ...(script.includes('/') && !script.startsWith('-') ? [script] : [])].map((word) => path.basename(word));
  return (
    words
      .join(' ')
      .replace(/[^\x20-\x7e]/g, '?')
      .slice(0, MAX_PROGRAM) || undefined
  );
}

/** Whether a process runs a script, the first argument of its interpreter, whose path matches. Linux only. */
export function runsFrom(pid: number, place: RegExp): boolean {
  const script = stringsByProc(pid, 'cmdline')?.[1];
  return script !== undefined && place.test(script);
}

const MAX_PROGRAM = 80;

export type Marked = { readonly pid: number; readonly group: number };

/** Processes whose environment contains `mark`, in any group. Linux only; elsewhere groups must suffice. */
export function processesMarked(mark: string): readonly Marked[] {
  if (here.processes !== 'proc') return [];
  const wanted = `${MARK}=${mark}`;
  return pidsByProc().flatMap((pid) => (stringsByProc(pid, 'environ')?.includes(wanted) ? (statByProc(pid) ?? []) : []));
}
