// A process and everything it started, as one thing that can be asked and ended. POSIX has process groups for it, Windows has taskkill.
import { type ChildProcess, spawn } from 'node:child_process';
import { hasLivingMember } from './process-table.ts';

export type ProcessTree = {
  isAlive(): boolean;
  /** `term` asks, `kill` does not. */
  end(how: 'term' | 'kill'): void;
};

const NOTHING: ProcessTree = { isAlive: () => false, end: () => {} };

/** The tree of a child that was started detached, so that it leads a group of its own. */
export function treeOf(child: ChildProcess): ProcessTree {
  const { pid } = child;
  if (pid === undefined) return NOTHING;
  const hasExited = () => child.exitCode !== null || child.signalCode !== null;
  return process.platform === 'win32' ? windowsTree(pid, hasExited) : posixTree(pid, hasExited);
}

/** `pid` must be the leader of a group of its own. */
export function posixTree(
  pid: number,
  hasExited: () => boolean = () => false,
  kill: (pid: number, signal: NodeJS.Signals | 0) => unknown = process.kill,
): ProcessTree {
  return {
    isAlive() {
      try {
        kill(-pid, 0);
        // Looking through all processes is dear, so only once the leader has gone.
        return !hasExited() || process.platform !== 'linux' || hasLivingMember(pid);
      } catch (error) {
        // Whatever else keeps us from looking, such as no free descriptor, does not say that nobody is there.
        return (error as NodeJS.ErrnoException).code !== 'ESRCH';
      }
    },
    end(how) {
      try {
        kill(-pid, how === 'term' ? 'SIGTERM' : 'SIGKILL');
      } catch {
        // Gone already, which is what was wanted.
      }
    },
  };
}

type RunCommand = (command: string, args: readonly string[]) => void;

/** Windows knows parents and children only while the parent lives, so the tree is ended from its root. */
export function windowsTree(pid: number, hasExited: () => boolean, run: RunCommand = runQuietly): ProcessTree {
  return {
    isAlive: () => !hasExited(),
    end: (how) => run('taskkill', ['/PID', String(pid), '/T', ...(how === 'kill' ? ['/F'] : [])]),
  };
}

function runQuietly(command: string, args: readonly string[]): void {
  spawn(command, [...args], { stdio: 'ignore', windowsHide: true }).on('error', () => {});
}
