// Sessions of before and of other processes, as rows for the console.
import { statSync } from 'node:fs';
import path from 'node:path';
import type { SessionRow } from '../../console/protocol/state.ts';
import { neutralise } from '../../console/state/neutralise.ts';
import { fields, usageOf } from '../../console/state/read-update.ts';
import type { SessionLog } from '../../store/sessions/session-store.ts';
import { readStats } from '../../store/transcripts/session-stats.ts';
import { transcriptsDir } from '../../store/transcripts/transcript-files.ts';

export function storedSessions(stateDir: string, log: SessionLog): () => readonly SessionRow[] {
  const files = [path.join(stateDir, 'sessions.jsonl'), path.join(transcriptsDir(stateDir), 'index.jsonl')];
  let seen = '';
  let rows: readonly SessionRow[] = [];
  return () => {
    // Asked every few seconds, and read only when there is something new: the files may be large, and an editor may be waiting.
    const now = files.map(stamp).join();
    if (now === seen) return rows;
    seen = now;
    const stats = readStats(transcriptsDir(stateDir));
    rows = [...log.records().values()].map(({ sessionId, agent, cwd, at }) => {
      const its = stats.get(sessionId);
      const usage = usageOf(fields(its?.usage));
      return {
        ...{ sessionId, agent, cwd: cwd ?? '', state: 'stored' as const, turns: its?.turns ?? 0, stopReason: its?.stopReason },
        title: neutralise(its?.title ?? ''),
        ...(usage?.e === 'usage' && usage.usage),
        at: its?.t ?? Date.parse(at),
      };
    });
    return rows;
  };
}

function stamp(file: string): string {
  const about = statSync(file, { throwIfNoEntry: false });
  return about ? `${about.size}:${about.mtimeMs}` : '';
}
