// The configuration in force and the paths of switchboard's files.
import { statSync } from 'node:fs';
import path from 'node:path';
import { auditFile } from '../../audit/audit.ts';
import { loadConfig } from '../../config/load.ts';
import { ConfigError, renderProblem } from '../../config/problems.ts';
import type { Settings } from '../../console/protocol/settings.ts';
import { transcriptsDir } from '../../store/transcripts/transcript-files.ts';
import { type ConfigFlags, surroundings } from '../resolve-config.ts';
import { shownSettings } from '../setup/show-config.ts';

/** `files` were read at start. `isReadAgain`: they are reloaded on change. */
export function settingsHere(
  flags: ConfigFlags,
  files: readonly string[],
  stateDir: string,
  isReadAgain: boolean,
): () => Promise<Settings> {
  const atStart = new Map(files.map((file) => [file, stamp(file)]));
  const places = [
    { name: 'State', path: stateDir },
    { name: 'Sessions', path: path.join(stateDir, 'sessions.jsonl') },
    { name: 'Transcripts', path: transcriptsDir(stateDir) },
    { name: 'Decisions', path: auditFile(stateDir) },
    { name: 'Frames', path: path.join(stateDir, 'frames') },
  ];
  return async () => {
    const read = [...atStart].map(([file, then]) => ({ path: file, isChanged: stamp(file) !== then }));
    const here = { places, isReadAgain, pid: process.pid, node: process.version };
    try {
      const loaded = await loadConfig({ ...surroundings(flags), isOnlyShown: true });
      const settings = shownSettings(loaded).map(({ key, value, origin }) => ({
        key,
        value: JSON.stringify(value) ?? '',
        from: origin.kind === 'file' ? `${origin.file}:${origin.line}:${origin.column}` : '',
      }));
      const added = loaded.files.filter((file) => !atStart.has(file)).map((file) => ({ path: file, isChanged: true }));
      return { ...here, settings, files: [...read, ...added], problems: [], notices: loaded.notices };
    } catch (error) {
      const problems = error instanceof ConfigError ? error.problems.map(renderProblem) : [(error as Error).message];
      return { ...here, settings: [], files: read, problems, notices: [] };
    }
  };
}

function stamp(file: string): string {
  const about = statSync(file, { throwIfNoEntry: false });
  return about ? `${about.size}:${about.mtimeMs}` : '';
}
