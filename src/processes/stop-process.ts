// Ending a process tree: the polite way first (the order the ACP transport page gives), then what cannot be refused.
import { setTimeout as delay } from 'node:timers/promises';
import type { ProcessTree } from './process-tree.ts';

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
