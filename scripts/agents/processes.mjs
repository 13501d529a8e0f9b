// Processes on Linux, by /proc.
import { readdirSync, readFileSync } from 'node:fs';

export function processesWith(variable) {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => (read(pid, 'environ') ?? '').split('\0').includes(variable)).map(Number);
}

export function parentOf(pid) {
  const stat = read(pid, 'stat');
  return stat === undefined ? undefined : Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
}

/** Undefined when the process has ended, or belongs to another user. */
function read(pid, file) {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return undefined;
  }
}
