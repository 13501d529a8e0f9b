// A state directory on a real disk, removed after the test.
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, onTestFinished } from 'vitest';

/** A path that does not exist yet. */
export function newStateDir(): string {
  const root = mkdtempSync(path.join(os.tmpdir(), 'switchboard-store-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  return path.join(root, 'state', 'acp-switchboard');
}

export function noProblem(error: unknown): never {
  return expect.unreachable(`a problem was reported: ${error}`);
}
