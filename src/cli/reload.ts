// Reloads the configuration when a file changes and on SIGHUP. An invalid configuration changes nothing.
import { statSync } from 'node:fs';
import path from 'node:path';
import type { Assembled } from '../app/assemble.ts';
import { isAlike } from '../app/reconfigure.ts';
import type { Config } from '../config/config.ts';
import { userConfigFile } from '../config/discover.ts';
import { trustedFile } from '../config/trust.ts';
import { type FileWatch, watchFiles } from '../config/watch-files.ts';
import { createSerialQueue } from '../serial-queue.ts';
import { notice } from './output.ts';
import { type ConfigFlags, resolveConfig, surroundings } from './resolve-config.ts';

/** Watching starts after the first response to the client. `setImmediate` would run before it. */
const AFTER_ANSWER_MS = 100;

/** The configuration at start-up. */
export type Read = { readonly config: Config; readonly files: readonly string[] };

/** `onSignal`: also reload on SIGHUP. Returns a stop function. Does not keep the process alive. */
export function reloadOnChange(flags: ConfigFlags, first: Read, switchboard: Assembled, onSignal: boolean): () => void {
  let current = first.config;
  let isStopped = false;
  let watch: FileWatch | undefined;

  async function readAgain(isAsked: boolean): Promise<void> {
    try {
      refusePipes(first.files); // for the message alone: reading again never blocks
      const notices: string[] = [];
      const { config, origin } = await resolveConfig({ ...flags, isReload: true }, (text) => notices.push(text));
      if (isStopped || (!isAsked && isAlike(current, config))) return;
      if (origin === 'none' && first.files.length > 0) throw new Error('the configuration file is gone');
      for (const text of notices) notice(text);
      const { isTaken, message, later } = switchboard.reconfigure(config);
      if (isTaken) current = config;
      notice(isTaken ? `reloaded the configuration for new sessions (${message})` : `the configuration did not change: ${message}`);
      if (later.length > 0) notice(`restart switchboard to apply changes to ${later.join(', ')}`);
    } catch (error) {
      notice(`THE NEW CONFIGURATION IS INVALID; keeping the previous one: ${(error as Error).message}`);
    }
  }
  // Reload one at a time, so that an older read does not win.
  const reads = createSerialQueue();
  const reload = (isAsked: boolean) => void reads.run(() => readAgain(isAsked));
  async function startWatching(): Promise<void> {
    if (isStopped) return;
    refusePipes(first.files);
    watch = watchFiles(filesToWatch(flags, first.files), () => reload(false), {
      onProblem: (error) => notice(`cannot watch the configuration, checking it every two seconds: ${(error as Error).message}`),
    });
    await watch.ready;
    reload(false); // catches changes before the watch started
  }
  const unwatched = (error: Error) => notice(`not watching the configuration for changes: ${error.message}`);
  setTimeout(() => void startWatching().catch(unwatched), AFTER_ANSWER_MS).unref();
  const onHangUp = () => reload(true);
  if (onSignal) process.on('SIGHUP', onHangUp);
  return () => {
    isStopped = true;
    watch?.close();
    process.off('SIGHUP', onHangUp);
  };
}

/** A pipe, as from `--config <(…)`, can be read only once; a second read would block. */
function refusePipes(files: readonly string[]): void {
  const once = files.find((file) => statSync(file, { throwIfNoEntry: false })?.isFile() === false);
  if (once !== undefined) throw new Error(`${once} is not a regular file, so it is read only once`);
}

/** The files in use, the places where a file may appear, and the list of trusted files. */
function filesToWatch(flags: ConfigFlags, found: readonly string[]): readonly string[] {
  const here = surroundings(flags);
  const trusted = trustedFile(here.stateDir);
  if (here.configFlag !== undefined || here.env.SWITCHBOARD_CONFIG) return [...found, trusted];
  const inProject = ['switchboard.jsonc', 'switchboard.json'].map((name) => path.join(here.cwd, name));
  return [...new Set([...found, userConfigFile(here), ...inProject, trusted])];
}
