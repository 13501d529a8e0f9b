// A process and everything it started, as one thing that can be asked and ended. POSIX has process groups for it, Windows has taskkill.
import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
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

// Ending a process tree: the polite way first (the order the ACP transport page gives), then what cannot be refused.
const POLL_MS = 10;
const SLOWEST_POLL_MS = 200;
/** For the system to clear away what was killed. */
const CLEARING_MS = 1000;

/** Resolves when nothing of the tree is left, or when nothing more can be done about it. */
export async function stopProcess(tree: ProcessTree, closeStdin: () => void, graceMs: number): Promise<void> {
  closeStdin();
  if (await isGone(tree, graceMs)) return;
  await endTree(tree, graceMs);
}

/** The same without a stdin to close: asked at once, forced after the grace. */
export async function endTree(tree: ProcessTree, graceMs: number): Promise<void> {
  if (!tree.isAlive()) return;
  tree.end('term');
  if (await isGone(tree, graceMs)) return;
  tree.end('kill');
  await isGone(tree, CLEARING_MS);
}

/** Waits for the tree and not only for its root: agents leave children behind that live a little longer. */
async function isGone(tree: ProcessTree, withinMs: number): Promise<boolean> {
  const deadline = performance.now() + withinMs;
  let pollMs = POLL_MS;
  while (tree.isAlive()) {
    if (performance.now() >= deadline) return false;
    await delay(pollMs);
    pollMs = Math.min(pollMs * 1.5, SLOWEST_POLL_MS);
  }
  return true;
}
