// Starts a program by its name. On Windows this includes the search in PATH and the shebang line; elsewhere the system does it.
import { spawn as spawnDirectly } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { here } from '../platform/platform.ts';
import { spawnOnWindows } from '../platform/windows/spawn.ts';

export const spawn = here.shell === 'unknown' ? spawnOnWindows() : spawnDirectly;

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
