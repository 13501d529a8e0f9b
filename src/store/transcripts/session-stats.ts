// Title, turns and usage for a list of sessions. One line per turn, so that a list need not read the transcripts.

import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import type { JsonObject } from '../../json-object.ts';
import { sleepSync } from '../../processes/lock-owner.ts';
import { appendToCurrent } from '../append-lines.ts';
import { rewriteLines } from '../rewrite-lines.ts';
import { jsonLines, readJsonLines } from './transcript-files.ts';

export type SessionStats = {
  readonly sessionId: string;
  /** When the last turn ended. */
  readonly t: number;
  readonly turns: number;
  /** The agent's, else the first words of the first prompt. */
  readonly title?: string | undefined;
  /** How the last turn ended, and how many turns ended in each way. */
  readonly stopReason?: string | undefined;
  readonly stopReasons: Readonly<Record<string, number>>;
  /** The agent's last report. */
  readonly usage?: unknown;
};

/** The line of one turn. */
export type TurnStats = Omit<SessionStats, 'turns' | 'stopReasons'> & {
  /** The first words of the first prompt of its process. */
  readonly prompt?: string | undefined;
};

const fileIn = (dir: string): string => path.join(dir, 'index.jsonl');

export function appendStats(dir: string, turns: readonly TurnStats[]): void {
  appendToCurrent(fileIn(dir), turns.map((turn) => `${JSON.stringify(turn)}\n`).join(''));
}

/** By session. A line covers one turn, or is a sum of many. */
export function readStats(dir: string): ReadonlyMap<string, SessionStats> {
  const sums = sumsOf(readJsonLines(fileIn(dir)) ?? []);
  for (const sum of sums.values()) {
    sum.title ??= sum.prompt;
    delete sum.prompt;
  }
  return sums;
}

function sumsOf(lines: readonly JsonObject[]): Map<string, Sum> {
  const bySession = new Map<string, Sum>();
  for (const line of lines) {
    const { sessionId, t, turns, title, prompt, stopReason, stopReasons, usage } = line as Partial<SessionStats & TurnStats>;
    if (typeof sessionId !== 'string' || typeof t !== 'number') continue;
    const known = bySession.get(sessionId);
    if (known?.t === t && turns === undefined) continue; // a duplicate line, because the file was replaced meanwhile
    const sum: Sum = known ?? { sessionId, t, turns: 0, title, stopReason, stopReasons: {}, usage };
    bySession.set(sessionId, sum);
    sum.t = t;
    sum.turns += turns ?? 1;
    sum.title = title ?? sum.title;
    if (prompt !== undefined) sum.prompt ??= prompt;
    sum.usage = usage ?? sum.usage;
    sum.stopReason = stopReason;
    if (stopReasons) for (const [name, count] of Object.entries(stopReasons)) sum.stopReasons[name] = (sum.stopReasons[name] ?? 0) + count;
    else if (stopReason !== undefined) sum.stopReasons[stopReason] = (sum.stopReasons[stopReason] ?? 0) + 1;
  }
  return bySession;
}

/** Mutable: there may be very many lines, and a user waits for the list. */
type Sum = { -readonly [Key in keyof SessionStats]: SessionStats[Key] } & {
  stopReasons: Record<string, number>;
  prompt?: string;
};

const COMPACT_ABOVE_BYTES = 4 * 1024 * 1024;

/** Replaces the lines of turns by one line per session once the file is large. */
export function compactStats(dir: string, aboveBytes = COMPACT_ABOVE_BYTES): void {
  const file = fileIn(dir);
  if (sizeOf(file) <= aboveBytes) return;
  const sums = (lines: readonly string[]) => [...sumsOf(jsonLines(lines)).values()].map((stats) => JSON.stringify(stats));
  rewriteLines(file, sums, asTheyAre); // another process with the lock does the same
}

const asTheyAre = (lines: readonly string[]): readonly string[] => lines;

/** Another process rewrites the file in a few milliseconds; a killed one holds no lock. */
const MAX_WAIT_MS = 2000;

/** Removes the lines of a deleted session, because they contain its title. */
export function removeStats(dir: string, sessionId: string): void {
  const file = fileIn(dir);
  if (sizeOf(file) === 0) return;
  // As `JSON.stringify` wrote it: few of very many lines need parsing.
  const written = JSON.stringify(sessionId);
  if (!readFileSync(file, 'utf8').includes(written)) return;
  const others = (lines: readonly string[]) => lines.filter((line) => !line.includes(written) || !isOf(sessionId, line));
  const until = performance.now() + MAX_WAIT_MS;
  while (!rewriteLines(file, others)) {
    if (performance.now() > until) throw new Error(`another process keeps ${file} locked`);
    sleepSync(1 + Math.random() * 10);
  }
}

function isOf(sessionId: string, line: string): boolean {
  try {
    return JSON.parse(line).sessionId === sessionId;
  } catch {
    return true; // an unreadable line that names the session
  }
}

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
