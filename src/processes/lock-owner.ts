// Who holds a lock file, and a short wait for it. A process id alone may belong to another program by now; with the start time and the host
// it cannot.
import { readFileSync } from 'node:fs';
import os from 'node:os';

let own: string | undefined;

/** This process, as text for a lock file: `<pid>.<start time>.<host>`. */
export function lockOwner(): string {
  own ??= `${process.pid}.${statOf(process.pid).started ?? 0}.${os.hostname()}`;
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
  const { state, started } = statOf(Number(pid));
  if (state === 'Z') return false; // killed, and its parent has not noticed
  return start === '0' || started === undefined || String(started) === start; // another start time: the pid was reused
}

/** Blocks the event loop on purpose: nothing may happen before the lock is free. */
export function sleepSync(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** The state of a process, and when it started, in the kernel's ticks; Linux only. */
function statOf(pid: number): { readonly state?: string | undefined; readonly started?: number } {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const ticks = Number(fields[19]);
    return { state: fields[0], ...(Number.isSafeInteger(ticks) && { started: ticks }) };
  } catch {
    return {};
  }
}
