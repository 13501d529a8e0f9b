import { chmodSync, rmSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * Removes a directory that a process may still write to while it exits: agents exit by themselves when the switchboard
 * that a test killed is gone. `rmSync` reads a directory once, so a file that appears after that makes it fail. The kernel makes
 * directories for overlays that nobody may read, not even their owner.
 */
export async function removeDirectory(dir: string): Promise<void> {
  for (const deadline = Date.now() + 10_000; ; await delay(20)) {
    try {
      return rmSync(dir, { recursive: true, force: true });
    } catch (error) {
      const { code, path } = error as NodeJS.ErrnoException;
      if (!['ENOTEMPTY', 'EACCES'].includes(code ?? '') || Date.now() > deadline) throw error;
      if (code === 'EACCES' && path !== undefined) chmodSync(path, 0o700); // an overlay's own directory
    }
  }
}
