// Starting a program by its name. On Windows that takes looking for it, and for what its first line says; elsewhere the system does it.
import { spawn as spawnDirectly } from 'node:child_process';
import { createRequire } from 'node:module';
import type crossSpawn from 'cross-spawn';

const forWindows = (): typeof crossSpawn => createRequire(import.meta.url)('cross-spawn');

export const spawn = process.platform === 'win32' ? forWindows() : spawnDirectly;

/** What tells a process of ours from any other, also when it has left its group and its parent is gone. */
export const MARK = 'SWITCHBOARD_AGENT_MARK';
