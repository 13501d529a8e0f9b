// Finds the configuration. Finding and reading a file is one step, so that nobody can swap the file in between.
import path from 'node:path';
import { escapeControls } from '../control-characters.ts';
import { platformOf } from '../platform/platform.ts';
import { ConfigError, fileProblem } from './problems.ts';
import { errorCode, isAbsent, readAgain, readForeign, readOwn, type Source } from './watch-files.ts';

export type Surroundings = {
  /** An explicit configuration file: no search. */
  readonly given?: Source | undefined;
  readonly configFlag?: string | undefined;
  /** The source of that path, if not `--config`. */
  readonly configBy?: string | undefined;
  /** The files were read before; one that became a pipe is an error. */
  readonly isReload?: boolean | undefined;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly home: string;
  readonly platform: NodeJS.Platform;
};

/** `own` belongs to the user; `project` came with a repository. */
export type Found = {
  readonly origin: 'flag' | 'env' | 'search';
  readonly own: Source | undefined;
  readonly project: Source | undefined;
  readonly notices: readonly string[];
};

export async function discover(surroundings: Surroundings): Promise<Found> {
  const { given, configFlag, configBy = '--config', env, cwd, isReload } = surroundings;
  const read = isReload ? readAgain : readOwn;
  if (given) return { origin: 'flag', own: given, project: undefined, notices: [] };
  if (configFlag !== undefined) return named('flag', configBy, path.resolve(cwd, configFlag), read);
  if (isSet(env.SWITCHBOARD_CONFIG)) return named('env', '$SWITCHBOARD_CONFIG', path.resolve(cwd, env.SWITCHBOARD_CONFIG), read);
  const own = await readIfThere(userConfigFile(surroundings), read);
  const { project, notices } = await searchUpwards(cwd);
  // The user's own file stays trusted when it is linked into a project, or when the project directory contains it.
  return { origin: 'search', own, project: project?.identity === own?.identity ? undefined : project, notices };
}

/** The user's own file, whether it exists or not. */
export function userConfigFile({ env, home, platform }: Pick<Surroundings, 'env' | 'home' | 'platform'>): string {
  return path.join(platformOf(platform).configHome(env, home), 'acp-switchboard', 'config.jsonc');
}

// Shells unset a variable for a single command by making it empty.
function isSet(value: string | undefined): value is string {
  return value !== undefined && value !== '';
}

async function named(origin: 'flag' | 'env', by: string, file: string, read: typeof readOwn): Promise<Found> {
  const own = await readIfThere(file, read);
  if (!own) throw new ConfigError([fileProblem(file, `file not found (set by ${by})`)]);
  return { origin, own, project: undefined, notices: [] };
}

async function readIfThere(file: string, read: typeof readOwn): Promise<Source | undefined> {
  try {
    return await read(file);
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw new ConfigError([fileProblem(file, `cannot read the file (${errorCode(error)})`)]);
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
        // Not an error: a repository must not prevent switchboard from starting.
        if (!isAbsent(error)) notices.push(escapeControls(`ignoring ${file}: cannot read it (${errorCode(error)})`));
      }
    }
    if (directory === path.dirname(directory)) return { project: undefined, notices };
  }
}
