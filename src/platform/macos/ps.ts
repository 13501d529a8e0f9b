// Facts about processes from `ps`, on macOS and other systems without /proc.
import { execFileSync } from 'node:child_process';
import type { ProcessRow } from '../process-row.ts';

/** When a process started, as text that is stable. */
export const startTimeByPs = (pid: number): string | undefined =>
  execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim() || undefined;

export const rowsByPs = (): readonly ProcessRow[] =>
  readPs(execFileSync('ps', ['-A', '-o', 'pid=,ppid=,pgid=,rss=,time='], { encoding: 'utf8' }));

/** `12 1 12 3400 1-02:03:04.50`: days, hours and hundredths may be missing. */
export function readPs(text: string): readonly ProcessRow[] {
  return text.split('\n').flatMap((line) => {
    const [, pid, parent, group, kilobytes, time = ''] = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s+([\d:.-]+)\s*$/.exec(line) ?? [];
    if (pid === undefined) return [];
    const [clock = '', days = '0'] = time.split('-').reverse();
    const seconds = clock.split(':').reduce((sum, part) => sum * 60 + Number(part), 0) + Number(days) * 86_400;
    const memoryBytes = Number(kilobytes) * 1024;
    return [{ pid: Number(pid), parent: Number(parent), group: Number(group), cpuMs: seconds * 1000, memoryBytes: () => memoryBytes }];
  });
}
