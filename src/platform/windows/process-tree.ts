// Ends a process and everything it started. Windows knows parents and children only while the parent lives, so the tree is killed from its root.
import { spawn } from 'node:child_process';

type RunCommand = (command: string, args: readonly string[]) => void;

export const windowsTree = (pid: number, hasExited: () => boolean, run: RunCommand = runQuietly) => ({
  isAlive: () => !hasExited(),
  end: (how: 'term' | 'kill') => run('taskkill', ['/PID', String(pid), '/T', ...(how === 'kill' ? ['/F'] : [])]),
});

function runQuietly(command: string, args: readonly string[]): void {
  spawn(command, [...args], { stdio: 'ignore', windowsHide: true }).on('error', () => {});
}
