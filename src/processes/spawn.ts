// Starts a program by its name. On Windows this includes the search in PATH and the shebang line; elsewhere the system does it.
import { spawn as spawnDirectly } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type crossSpawn from 'cross-spawn';

const forWindows = (): typeof crossSpawn => createRequire(import.meta.url)('cross-spawn');

export const spawn = process.platform === 'win32' ? forWindows() : spawnDirectly;

/** The environment variable that identifies our processes, even after they leave their group and their parent exits. */
export const MARK = 'SWITCHBOARD_AGENT_MARK';

/**
 * Why a program did not start, as an error code. If one directory of PATH is not searchable, as after `su` with root's PATH, the system
 * reports EACCES for a command that does not exist; that is ENOENT.
 */
export function startFailure({ code }: NodeJS.ErrnoException, command: string, env: NodeJS.ProcessEnv): string | undefined {
  if (code !== 'EACCES' || command.includes('/')) return code;
  const directories = env.PATH?.split(path.delimiter) ?? [];
  return directories.some((directory) => existsSync(path.join(directory, command))) ? code : 'ENOENT';
}
