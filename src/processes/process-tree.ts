// A process and everything it started, as one unit to inspect and stop. POSIX uses process groups, Windows taskkill.
import type { ChildProcess } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { here } from '../platform/platform.ts';
import { windowsTree } from '../platform/windows/process-tree.ts';
import { hasLivingMember } from './process-table.ts';

export type ProcessTree = {
  isAlive(): boolean;
  /** `term` requests, `kill` forces. */
  end(how: 'term' | 'kill'): void;
};

/** The start of a program in a sandbox: another command, and what must happen around it. */
export type ContainedStart = {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Descriptors from 3 on. */
  readonly stdio: readonly (number | 'pipe')[];
  tree(child: ChildProcess): ProcessTree;
  /** Call it once, after the start or its failure. */
  started(child: ChildProcess | undefined): void;
};

const NOTHING: ProcessTree = { isAlive: () => false, end: () => {} };

/** The tree of a child that was started detached, so that it leads its own group. */
export function treeOf(child: ChildProcess): ProcessTree {
  const { pid } = child;
  if (pid === undefined) return NOTHING;
  const hasExited = () => child.exitCode !== null || child.signalCode !== null;
  return here.hasProcessGroups ? posixTree(pid, hasExited) : windowsTree(pid, hasExited);
}

/** `pid` must lead its own group. */
export function posixTree(
  pid: number,
  hasExited: () => boolean = () => false,
  kill: (pid: number, signal: NodeJS.Signals | 0) => unknown = process.kill,
): ProcessTree {
  return {
    isAlive() {
      try {
        kill(-pid, 0);
        // Scanning all processes is expensive, so only after the leader has exited.
        return !hasExited() || here.processes !== 'proc' || hasLivingMember(pid);
      } catch (error) {
        // Any other error, such as no free descriptor, does not mean that the process is gone.
        return (error as NodeJS.ErrnoException).code !== 'ESRCH';
      }
    },
    end(how) {
      try {
        kill(-pid, how === 'term' ? 'SIGTERM' : 'SIGKILL');
      } catch {
        // It has already exited.
      }
    },
  };
}

// Stops a process tree: first as the ACP transport page orders it, then by force.
const POLL_MS = 10;
const SLOWEST_POLL_MS = 200;
/** Time for the system to remove killed processes. */
const CLEARING_MS = 1000;

/** Resolves when nothing of the tree is left, or when nothing more can be done. */
export async function stopProcess(tree: ProcessTree, closeStdin: () => void, graceMs: number): Promise<void> {
  closeStdin();
  if (await isGone(tree, graceMs)) return;
  await endTree(tree, graceMs);
}

/** Stops a tree without a stdin to close: TERM at once, KILL after the grace period. */
export async function endTree(tree: ProcessTree, graceMs: number): Promise<void> {
  if (!tree.isAlive()) return;
  tree.end('term');
  if (await isGone(tree, graceMs)) return;
  tree.end('kill');
  await isGone(tree, CLEARING_MS);
}

/** Waits for the tree, not only for its root: agents leave children that live a little longer. */
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
