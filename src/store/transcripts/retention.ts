// Deletes old transcripts. One process per day does this, possibly when it exits: many processes run for one turn only.
import { existsSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { compactStats } from './session-stats.ts';
import { pruneTranscripts } from './transcript-files.ts';

export type Retention = { readonly maxAgeMs: number; readonly maxTotalBytes: number };

const DAY_MS = 86_400_000;
const FIRST_MS = 5000;
const LOOK_EVERY_MS = 3_600_000;

/** Does today's cleanup if it is due, and reports whether it was. */
export function tidyTranscripts(dir: string, bounds: Retention, nowMs: number): boolean {
  const mark = path.join(dir, '.tidied');
  const lastMs = statSync(mark, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (nowMs - lastMs < DAY_MS || !existsSync(dir)) return false;
  writeFileSync(mark, '', { mode: 0o600 }); // first, so that no other process starts
  pruneTranscripts(dir, bounds, nowMs);
  compactStats(dir);
  return true;
}

/** Cleans up when the process is idle, then whenever it is due; returns how to stop. */
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
