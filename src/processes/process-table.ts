// Facts about processes that are not our children. Linux reads /proc, other systems run ps.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
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
    if (process.platform === 'win32') return undefined;
    if (process.platform !== 'linux')
      return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim() || undefined;
    const { state, startTime } = statOf(pid);
    return state === 'Z' ? undefined : startTime;
  } catch {
    return undefined;
  }
}

/** The second field of a stat line is the name in parentheses, which may contain anything, so the fields are counted after it. */
function statOf(pid: number) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0], parent: Number(fields[1]), group: Number(fields[2]), startTime: fields[19] };
}

/**
 * Whether a group has a member that is not a zombie: without a reaper, zombies stay forever. Linux only. It looks more than once before it
 * says no: a member that forks and exits between listing and reading hides its child.
 */
export function hasLivingMember(group: number): boolean {
  for (let look = 0; look < 3; look++) if (readdirSync('/proc').some((name) => isLivingMember(name, group))) return true;
  return false;
}

function isLivingMember(name: string, group: number): boolean {
  if (!/^\d+$/.test(name)) return false;
  try {
    const stat = statOf(Number(name));
    return stat.group === group && stat.state !== 'Z';
  } catch {
    return false; // exited in the meantime
  }
}

/** The members of a group that are not zombies. Linux only. */
export function membersOf(group: number): readonly { readonly pid: number; readonly parent: number }[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const stat = statOf(Number(name));
      return stat.group === group && stat.state !== 'Z' ? [{ pid: Number(name), parent: stat.parent }] : [];
    } catch {
      return []; // exited in the meantime
    }
  });
}

/** The program a process runs, with the script of an interpreter. No other arguments: they may contain secrets. Linux only. */
export function programOf(pid: number): string | undefined {
  try {
    const [program = '', script = ''] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    const words = [program, ...(script.includes('/') && !script.startsWith('-') ? [script] : [])].map((word) => path.basename(word));
    return (
      words
        .join(' ')
        .replace(/[^\x20-\x7e]/g, '?')
        .slice(0, MAX_PROGRAM) || undefined
    );
  } catch {
    return undefined;
  }
}

/** Whether a process runs a script, the first argument of its interpreter, whose path matches. Linux only. */
export function runsFrom(pid: number, place: RegExp): boolean {
  try {
    const [, script = ''] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    return place.test(script);
  } catch {
    return false; // exited in the meantime
  }
}

const MAX_PROGRAM = 80;

export type Marked = { readonly pid: number; readonly group: number };

/** Processes whose environment contains `mark`, in any group. Linux only; elsewhere groups must suffice. */
export function processesMarked(mark: string): readonly Marked[] {
  if (process.platform !== 'linux') return [];
  const wanted = `${MARK}=${mark}`;
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const pid = Number(name);
        const isMarked = readFileSync(`/proc/${name}/environ`, 'latin1').split('\0').includes(wanted);
        return isMarked ? [{ pid, group: statOf(pid).group }] : [];
      } catch {
        return []; // exited in the meantime, or another user's
      }
    });
}
