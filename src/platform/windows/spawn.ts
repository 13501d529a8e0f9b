// Starts programs as a Windows shell finds them: by PATH and PATHEXT, scripts by their first line.
import { createRequire } from 'node:module';
import type crossSpawn from 'cross-spawn';

export const spawnOnWindows = (): typeof crossSpawn => createRequire(import.meta.url)('cross-spawn');
