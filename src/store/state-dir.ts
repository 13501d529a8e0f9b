// The directory of our files: private to the user, created on first use (`private-files.ts`).
import path from 'node:path';
import { platformOf } from '../platform/platform.ts';

/** `$SWITCHBOARD_HOME`, else the platform's state directory. */
export const stateDir = (env: NodeJS.ProcessEnv, home: string, platform: NodeJS.Platform): string =>
  env.SWITCHBOARD_HOME ? path.resolve(env.SWITCHBOARD_HOME) : platformOf(platform).stateHome(env, home);
