// Windows: no modes, no process groups, no signals between programs.
import path from 'node:path';
import type { Platform } from '../platform.ts';
import { fileProblem } from './file-names.ts';

// Shells unset a variable for a single command by making it empty.
const roaming = (env: NodeJS.ProcessEnv, home: string) => env.APPDATA || path.join(home, 'AppData', 'Roaming');

export const windows: Platform = {
  configHome: roaming,
  unixConfigHome: roaming,
  stateHome: (env, home) => path.join(env.LOCALAPPDATA || path.join(home, 'AppData', 'Local'), 'acp-switchboard'),
  managedPolicy: (env) => path.win32.join(env.ProgramData ?? 'C:\\ProgramData', 'acp-switchboard', 'policy.yaml'),
  desktopPath: undefined,
  path: path.win32,
  fileProblem,
  pseudoFiles: [],
  programEndings: (env, command) => endingsOf(env.PATHEXT || '.EXE;.CMD;.BAT', command.toLowerCase()),
  python: { bin: 'Scripts', ending: '.exe' },
  opener: 'explorer.exe',
  shell: 'unknown',
  // SIGHUP means that the console window closed.
  endingSignals: ['SIGTERM', 'SIGINT', 'SIGHUP'],
  hasUserSignals: false,
  hasProcessGroups: false,
  processes: 'none',
  hasModes: false,
  replacesOpenFiles: false,
  restrictsLinks: true,
  hasNamedPipes: true,
  sandbox: 'none',
};

/** A file without an ending, such as the `npx` for other shells next to `npx.cmd`, is no program. */
function endingsOf(known: string, command: string): readonly string[] {
  const endings = known.split(';');
  return endings.some((ending) => command.endsWith(ending.toLowerCase())) ? [''] : endings;
}
