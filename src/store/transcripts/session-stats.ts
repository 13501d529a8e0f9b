// What a list of sessions shows beside their ids, a line for each turn, so that a list need not read the transcripts.
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { replaceFile } from '../../private-files.ts';
import { appendLines } from '../append-lines.ts';
import { readJsonLines } from './transcript-files.ts';

export type SessionStats = {
  readonly sessionId: string;
  /** When the last turn ended. */
  readonly t: number;
  readonly turns: number;
  readonly title?: string | undefined;
  /** How the last turn ended, and how many ended how. */
  readonly stopReason?: string | undefined;
  readonly stopReasons: Readonly<Record<string, number>>;
  /** As the agent reported it last. */
  readonly usage?: unknown;
};

/** What a turn adds. */
export type TurnStats = Omit<SessionStats, 'turns' | 'stopReasons'>;

const fileIn = (dir: string): string => path.join(dir, 'index.jsonl');

export function appendStats(dir: string, turns: readonly TurnStats[]): void {
  appendLines(fileIn(dir), turns.map((turn) => `${JSON.stringify(turn)}\n`).join(''));
}

/** By session. A line is a turn, or the sum of many. */
export function readStats(dir: string): ReadonlyMap<string, SessionStats> {
  const bySession = new Map<string, Sum>();
  for (const line of readJsonLines(fileIn(dir)) ?? []) {
    const { sessionId, t, turns = 1, title, stopReason, stopReasons, usage } = line as Partial<SessionStats>;
    if (typeof sessionId !== 'string' || typeof t !== 'number') continue;
    const sum: Sum = bySession.get(sessionId) ?? { sessionId, t, turns: 0, title, stopReason, stopReasons: {}, usage };
    bySession.set(sessionId, sum);
    sum.t = t;
    sum.turns += turns;
    sum.title = title ?? sum.title;
    sum.usage = usage ?? sum.usage;
    sum.stopReason = stopReason;
    if (stopReasons) for (const [name, count] of Object.entries(stopReasons)) sum.stopReasons[name] = (sum.stopReasons[name] ?? 0) + count;
    else if (stopReason !== undefined) sum.stopReasons[stopReason] = (sum.stopReasons[stopReason] ?? 0) + 1;
  }
  return bySession;
}

/** Added to in place: there may be very many lines, and somebody waits for the list. */
type Sum = { -readonly [Key in keyof SessionStats]: SessionStats[Key] } & { stopReasons: Record<string, number> };

const COMPACT_ABOVE_BYTES = 4 * 1024 * 1024;

/** A line for each session instead of one for each turn, once there are very many. */
export function compactStats(dir: string, aboveBytes = COMPACT_ABOVE_BYTES): void {
  if (sizeOf(fileIn(dir)) <= aboveBytes) return;
  rewrite(dir, [...readStats(dir).values()].map((stats) => `${JSON.stringify(stats)}\n`).join(''));
}

/** A session that is deleted leaves no title behind. */
export function removeStats(dir: string, sessionId: string): void {
  if (sizeOf(fileIn(dir)) === 0) return;
  const text = readFileSync(fileIn(dir), 'utf8');
  // As `JSON.stringify` wrote it, so that few of very many lines need to be read.
  const written = JSON.stringify(sessionId);
  if (!text.includes(written)) return;
  const isOther = (line: string): boolean => !line.includes(written) || !isOf(sessionId, line);
  rewrite(dir, text.split('\n').filter(isOther).join('\n'));
}

function isOf(sessionId: string, line: string): boolean {
  try {
    return JSON.parse(line).sessionId === sessionId;
  } catch {
    return true; // what nobody can read is better gone than kept
  }
}

/** A turn that another process adds in that very moment is lost to the list, and to nothing else. */
function rewrite(dir: string, text: string): void {
  replaceFile(fileIn(dir), text);
}

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
