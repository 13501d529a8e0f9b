// What a list of sessions shows beside their ids, a line for each turn, so that a list need not read the transcripts.
import path from 'node:path';
import { appendLines, readJsonLines } from './transcript-files.ts';

export type SessionStats = {
  readonly sessionId: string;
  /** When the last turn ended. */
  readonly t: number;
  readonly turns: number;
  readonly title?: string | undefined;
  readonly stopReason?: string | undefined;
  readonly usage?: unknown;
};

const fileIn = (dir: string): string => path.join(dir, 'index.jsonl');

export function appendStats(dir: string, stats: SessionStats): void {
  appendLines(fileIn(dir), `${JSON.stringify(stats)}\n`);
}

/** The newest of each session. Turns are counted by each process for itself, so they add up. */
export function readStats(dir: string): ReadonlyMap<string, SessionStats> {
  const bySession = new Map<string, SessionStats>();
  for (const line of readJsonLines(fileIn(dir)) ?? []) {
    const { sessionId, t } = line;
    if (typeof sessionId !== 'string' || typeof t !== 'number') continue;
    const before = bySession.get(sessionId);
    const { title = before?.title, usage = before?.usage } = line as Partial<SessionStats>;
    const stopReason = typeof line.stopReason === 'string' ? line.stopReason : undefined;
    bySession.set(sessionId, { sessionId, t, turns: (before?.turns ?? 0) + 1, title, stopReason, usage });
  }
  return bySession;
}
