// The directory of our files: private to the user, created on first use (`private-files.ts`).
import path from 'node:path';

/** `$SWITCHBOARD_HOME`, else the platform's state directory. */
export function stateDir(env: NodeJS.ProcessEnv, home: string, platform: NodeJS.Platform): string {
  if (env.SWITCHBOARD_HOME) return path.resolve(env.SWITCHBOARD_HOME);
  if (platform === 'win32') return path.join(env.LOCALAPPDATA || path.join(home, 'AppData', 'Local'), 'acp-switchboard');
  if (platform === 'darwin') return path.join(home, 'Library', 'Application Support', 'acp-switchboard', 'state');
  // The XDG specification says to ignore a relative path.
  const xdg = env.XDG_STATE_HOME && path.isAbsolute(env.XDG_STATE_HOME) ? env.XDG_STATE_HOME : path.join(home, '.local', 'state');
  return path.join(xdg, 'acp-switchboard');
}
