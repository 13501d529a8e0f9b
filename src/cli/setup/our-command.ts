// How another program starts us: by absolute paths, since desktop programs have not the PATH of a shell.
import path from 'node:path';
import { packageFile } from '../../app/package-files.ts';
import type { Start } from '../../setup/start-command.ts';

export function ourCommand(flags: { readonly config?: string; readonly agent?: string }): Start {
  const config = flags.config === undefined ? [] : ['--config', path.resolve(flags.config)];
  const agent = flags.agent === undefined ? [] : ['--agent', flags.agent];
  return { command: process.execPath, args: [packageFile('bin', 'switchboard.js'), 'acp', ...config, ...agent] };
}

/** Why the paths may soon lead nowhere, if so. */
export function passingPlace(): string | undefined {
  const script = packageFile('bin', 'switchboard.js');
  if (/[\\/]_npx[\\/]/.test(script))
    return `${script} lies in the cache of npx, which is emptied at times; install acp-switchboard first (npm install --global acp-switchboard)`;
  return undefined;
}
