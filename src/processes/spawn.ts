// Starting a program by its name. On Windows that takes looking for it, and for what its first line says; elsewhere the system does it.
import { spawn as spawnDirectly } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type crossSpawn from 'cross-spawn';

const forWindows = (): typeof crossSpawn => createRequire(import.meta.url)('cross-spawn');

export const spawn = process.platform === 'win32' ? forWindows() : spawnDirectly;

/** What tells a process of ours from any other, also when it has left its group and its parent is gone. */
export const MARK = 'SWITCHBOARD_AGENT_MARK';

/**
 * Why a program did not start, as an error code. The system says EACCES for a command that it found nowhere when it may not search one
 * directory of PATH, as after `su` with root's PATH; that is ENOENT.
 */
export function startFailure({ code }: NodeJS.ErrnoException, command: string, env: NodeJS.ProcessEnv): string | undefined {
  if (code !== 'EACCES' || command.includes('/')) return code;
  const directories = env.PATH?.split(path.delimiter) ?? [];
  return directories.some((directory) => existsSync(path.join(directory, command))) ? code : 'ENOENT';
}
