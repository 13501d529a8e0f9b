// Who holds a lock file. A process id alone may belong to another program by now; with the start time and the host it cannot.
import { readFileSync } from 'node:fs';
import os from 'node:os';

let own: string | undefined;

/** This process, as text for a lock file: `<pid>.<start time>.<host>`. */
export function lockOwner(): string {
  own ??= `${process.pid}.${startTicksOf(process.pid) ?? 0}.${os.hostname()}`;
  return own;
}

/** False only if the owner is known to be dead: the owner on another host counts as alive, since nobody here can look. */
export function mayBeAlive(owner: string): boolean {
  const [, pid, start, host] = /^(\d+)\.(\d+)\.(.*)$/s.exec(owner) ?? [];
  if (pid === undefined || host !== os.hostname()) return true;
  try {
    process.kill(Number(pid), 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
  const started = startTicksOf(Number(pid));
  return start === '0' || started === undefined || String(started) === start; // another start time: the pid was reused
}

/** When a process started, in the kernel's ticks; Linux only. */
function startTicksOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const ticks = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]);
    return Number.isSafeInteger(ticks) ? ticks : undefined;
  } catch {
    return undefined;
  }
}
