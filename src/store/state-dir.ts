// Where our own files live: private to the user, made when first needed (`make-directory.ts`).
import path from 'node:path';

/** `$SWITCHBOARD_HOME`, else the platform's place for state. */
export function stateDir(env: NodeJS.ProcessEnv, home: string, platform: NodeJS.Platform): string {
  if (env.SWITCHBOARD_HOME) return path.resolve(env.SWITCHBOARD_HOME);
  if (platform === 'win32') return path.join(env.LOCALAPPDATA || path.join(home, 'AppData', 'Local'), 'acp-switchboard');
  if (platform === 'darwin') return path.join(home, 'Library', 'Application Support', 'acp-switchboard', 'state');
  // A relative path there is to be ignored, says the XDG specification.
  const xdg = env.XDG_STATE_HOME && path.isAbsolute(env.XDG_STATE_HOME) ? env.XDG_STATE_HOME : path.join(home, '.local', 'state');
  return path.join(xdg, 'acp-switchboard');
}
