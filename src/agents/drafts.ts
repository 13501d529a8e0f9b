// Files of ours that a process was killed in the middle of writing: what they were to replace is whole, and they are for nobody.
import { readdirSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { isAlive } from '../processes/process-table.ts';
import { draftsIn } from '../replace-file.ts';

/** A draft is a file for some milliseconds. One that is older than this was left, whoever has the number of its process now. */
const LONGEST_DRAFT_MS = 60 * 60_000;

export function removeDrafts(stateDir: string, onProblem: (error: unknown) => void): void {
  for (const dir of directoriesOf(stateDir))
    try {
      for (const { file, pid } of draftsIn(dir)) if (!isAlive(pid) || ageMs(file) > LONGEST_DRAFT_MS) rmSync(file, { force: true });
    } catch (error) {
      onProblem(error);
    }
}

const ageMs = (file: string): number => Date.now() - (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY);

/** All that we write to are in it or just below. Where there is none yet, nothing was left. */
function directoriesOf(stateDir: string): readonly string[] {
  try {
    const below = readdirSync(stateDir, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    return [stateDir, ...below.map(({ name }) => path.join(stateDir, name))];
  } catch {
    return [];
  }
}
