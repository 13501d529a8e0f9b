// Transcripts do not stay for ever. Once a day one of the processes looks after them, be it on its way out: many live only for a turn.
import { existsSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { compactStats } from './session-stats.ts';
import { pruneTranscripts } from './transcript-files.ts';

export type Retention = { readonly maxAgeMs: number; readonly maxTotalBytes: number };

const DAY_MS = 86_400_000;
const FIRST_MS = 5000;
const LOOK_EVERY_MS = 3_600_000;

/** Does what is due today, and says whether anything was. */
export function tidyTranscripts(dir: string, bounds: Retention, nowMs: number): boolean {
  const mark = path.join(dir, '.tidied');
  const lastMs = statSync(mark, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (nowMs - lastMs < DAY_MS || !existsSync(dir)) return false;
  writeFileSync(mark, '', { mode: 0o600 }); // first, so that nobody else begins
  pruneTranscripts(dir, bounds, nowMs);
  compactStats(dir);
  return true;
}

/** Soon, when nobody waits for anything else, and from then on as often as it is due; returns how to end that. */
export function keepTidy(dir: string, bounds: Retention, onProblem: (error: unknown) => void): () => void {
  const tidy = () => {
    try {
      tidyTranscripts(dir, bounds, Date.now());
    } catch (error) {
      onProblem(error);
    }
  };
  const first = setTimeout(tidy, FIRST_MS).unref();
  const others = setInterval(tidy, LOOK_EVERY_MS).unref();
  return () => {
    clearTimeout(first);
    clearInterval(others);
    tidy();
  };
}
