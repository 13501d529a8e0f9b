// Where the configuration is. Finding a file and reading it is one step, so that nothing can be swapped in between.
import path from 'node:path';
import { escapeControls } from '../control-characters.ts';
import { ConfigError, fileProblem } from './problems.ts';
import { errorCode, isAbsent, readForeign, readOwn, type Source } from './watch-files.ts';

export type Surroundings = {
  /** A configuration at hand: nothing is looked for. */
  readonly given?: Source | undefined;
  readonly configFlag?: string | undefined;
  /** What named that file, where it was no `--config`. */
  readonly configBy?: string | undefined;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly home: string;
  readonly platform: NodeJS.Platform;
};

/** `own` is the user's word; `project` came with a repository. */
export type Found = {
  readonly origin: 'flag' | 'env' | 'search';
  readonly own: Source | undefined;
  readonly project: Source | undefined;
  readonly notices: readonly string[];
};

export async function discover(surroundings: Surroundings): Promise<Found> {
  const { given, configFlag, configBy = '--config', env, cwd } = surroundings;
  if (given) return { origin: 'flag', own: given, project: undefined, notices: [] };
  if (configFlag !== undefined) return named('flag', configBy, path.resolve(cwd, configFlag));
  if (isSet(env.SWITCHBOARD_CONFIG)) return named('env', '$SWITCHBOARD_CONFIG', path.resolve(cwd, env.SWITCHBOARD_CONFIG));
  const own = await readIfThere(userConfigFile(surroundings));
  const { project, notices } = await searchUpwards(cwd);
  // Somebody may link the user's file into a project, or work beside it; it does not become foreign by that.
  return { origin: 'search', own, project: project?.identity === own?.identity ? undefined : project, notices };
}

/** The user's own file, whether it exists or not. */
export function userConfigFile({ env, home, platform }: Pick<Surroundings, 'env' | 'home' | 'platform'>): string {
  return path.join(configDir(env, home, platform), 'acp-switchboard', 'config.jsonc');
}

function configDir(env: NodeJS.ProcessEnv, home: string, platform: NodeJS.Platform): string {
  if (platform === 'win32') return isSet(env.APPDATA) ? env.APPDATA : path.join(home, 'AppData', 'Roaming');
  if (platform === 'darwin') return path.join(home, 'Library', 'Application Support');
  // The XDG specification has a relative path ignored.
  const xdg = env.XDG_CONFIG_HOME;
  return xdg !== undefined && path.isAbsolute(xdg) ? xdg : path.join(home, '.config');
}

// An empty variable is how shells unset one for a single command.
function isSet(value: string | undefined): value is string {
  return value !== undefined && value !== '';
}

async function named(origin: 'flag' | 'env', by: string, file: string): Promise<Found> {
  const own = await readIfThere(file);
  if (!own) throw new ConfigError([fileProblem(file, `no such file, though ${by} names it`)]);
  return { origin, own, project: undefined, notices: [] };
}

async function readIfThere(file: string): Promise<Source | undefined> {
  try {
    return await readOwn(file);
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw new ConfigError([fileProblem(file, `cannot be read (${errorCode(error)})`)]);
  }
}

async function searchUpwards(cwd: string): Promise<{ project: Source | undefined; notices: string[] }> {
  const notices: string[] = [];
  for (let directory = path.resolve(cwd); ; directory = path.dirname(directory)) {
    for (const name of ['switchboard.jsonc', 'switchboard.json']) {
      const file = path.join(directory, name);
      try {
        return { project: await readForeign(file), notices };
      } catch (error) {
        // Not an error: a repository must not be able to keep the switchboard from starting.
        if (!isAbsent(error)) notices.push(escapeControls(`${file} is ignored: it cannot be read (${errorCode(error)})`));
      }
    }
    if (directory === path.dirname(directory)) return { project: undefined, notices };
  }
}
