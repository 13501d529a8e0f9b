// `switchboard sessions`: lists, shows, exports, searches and deletes sessions.
import path from 'node:path';
import { isRunning, readRunningRecords } from '../../agents/running-record.ts';
import { errorCode } from '../../config/watch-files.ts';
import { withoutControls } from '../../control-characters.ts';
import { nearestOf } from '../../policy/format/nearest.ts';
import { createSessionStore, type SessionRecord } from '../../store/sessions/session-store.ts';
import { readStats, removeStats, type SessionStats } from '../../store/transcripts/session-stats.ts';
import { readTranscript, removeTranscript, transcriptsDir } from '../../store/transcripts/transcript-files.ts';
import type { TranscriptRecord } from '../../store/transcripts/transcript-record.ts';
import { CommandFailure } from '../failure.ts';
import { notice, printJson, printTable } from '../output.ts';
import { resolveConfig, surroundings } from '../resolve-config.ts';
import { runningDaemon } from '../running-daemon/daemon-file.ts';
import { toHtml, toMarkdown, toText, wordsOf } from './render-transcript.ts';

export type ListFlags = {
  readonly agent?: string;
  readonly cwd?: string;
  readonly since?: string;
  readonly limit?: string;
  readonly json?: boolean;
};
export type ExportFlags = { readonly format?: 'md' | 'json' | 'html' };

type Listed = {
  readonly sessionId: string;
  readonly agent: string;
  readonly nativeId: string;
  readonly cwd?: string | undefined;
  readonly additionalDirectories?: SessionRecord['additionalDirectories'];
  readonly created: string;
  readonly lastActivity: string;
  readonly turns: number;
  readonly title?: string | undefined;
  readonly stopReason?: string | undefined;
  readonly stopReasons: Readonly<Record<string, number>>;
  readonly usage?: unknown;
  readonly tools?: SessionRecord['tools'];
};

export async function listSessions(flags: ListFlags): Promise<number> {
  const all = allSessions();
  await checkAgent(flags.agent, all);
  const sessions = wanted(all, flags);
  if (flags.json) printJson({ sessions });
  else if (sessions.length === 0) reportNone(all, flags);
  else
    printTable(
      ['SESSION', 'AGENT', 'LAST ACTIVITY', 'TURNS', 'ENDED', 'TITLE', 'DIRECTORY'],
      sessions.map(({ sessionId, agent, lastActivity, turns, stopReason, title, cwd }) =>
        [
          sessionId,
          agent,
          lastActivity.slice(0, 16).replace('T', ' '),
          String(turns),
          stopReason ?? '',
          (title ?? '').slice(0, 60),
          cwd ?? '',
        ].map(withoutControls),
      ),
    );
  return 0;
}

function reportNone(all: readonly Listed[], { agent }: ListFlags): void {
  if (all.length === 0) return notice('no sessions yet');
  notice(agent === undefined ? `none of the ${all.length} sessions matches` : `no session of agent "${agent}" matches`);
}

/** An agent is known by its sessions, also when it is not configured any more, or by the configuration. */
async function checkAgent(agent: string | undefined, all: readonly Listed[]): Promise<void> {
  const seen = new Set(all.map((session) => session.agent));
  if (agent === undefined || seen.has(agent)) return;
  const configured = await configuredNames();
  // With a broken configuration nobody knows.
  if (configured === undefined || configured.includes(agent)) return;
  const known = [...new Set([...configured, ...seen])];
  throw new CommandFailure(4, `unknown agent "${withoutControls(agent)}"`, nearestOf(agent, known, 'agents'));
}

async function configuredNames(): Promise<readonly string[] | undefined> {
  try {
    const { config, switchedOff } = await resolveConfig({ isOnlyShown: true }, () => {});
    return [...config.agents.map(({ name }) => name), ...switchedOff];
  } catch {
    return undefined;
  }
}

export async function showSession(id: string, flags: { readonly json?: boolean }): Promise<number> {
  const { session, transcript } = find(id);
  const queued = queuedIn(session.sessionId);
  if (flags.json) printJson({ session, transcript, queued });
  else {
    const waiting = queued.map((text) => `  - ${text}\n`);
    const change = runningDaemon(surroundings({}).stateDir)
      ? `to edit or remove one: switchboard sessions queue ${session.sessionId}\n`
      : '';
    const all = waiting.length === 0 ? '' : `\nprompts that wait for the end of the turn:\n${waiting.join('')}${change}`;
    process.stdout.write(withoutControls(toText(session, transcript) + all));
  }
  return 0;
}

export async function exportSession(id: string, { format = 'md' }: ExportFlags): Promise<number> {
  const { session, transcript } = find(id);
  if (format === 'json') process.stdout.write(`${JSON.stringify({ session, transcript }, null, 2)}\n`);
  else process.stdout.write(format === 'html' ? toHtml(session, transcript) : toMarkdown(session, transcript));
  return 0;
}

/** The prompts of a session that wait in a running switchboard. */
export function queuedIn(sessionId: string): readonly string[] {
  return readRunningRecords(surroundings({}).stateDir)
    .flatMap(({ record }) => (record && isRunning(record.owner) ? (record.queued ?? []) : []))
    .flatMap((one) => (one.sessionId === sessionId ? [one.text] : []));
}

/** Deletes our own records; the agent keeps its data. */
export async function deleteSession(id: string): Promise<number> {
  const record = forgetSession(surroundings({}).stateDir, id);
  process.stdout.write(`deleted: ${withoutControls(id)}\n`);
  if (record) notice(`agent "${record.agent}" may still have its own data of this session`);
  return 0;
}

/** Returns the session record, if there was one. Throws if we know nothing about the session. */
export function forgetSession(stateDir: string, id: string): SessionRecord | undefined {
  const log = createSessionStore(stateDir, onProblem(stateDir));
  const record = log.records().get(id);
  const wasThere = removeTranscript(transcriptsDir(stateDir), id);
  if (!record && !wasThere) throw unknown(id);
  removeStats(transcriptsDir(stateDir), id);
  if (record) log.append({ ...record, at: new Date().toISOString(), isGone: true });
  return record;
}

/** Finds sessions whose transcript contains every word. */
export async function searchSessions(words: readonly string[], flags: ListFlags): Promise<number> {
  const dir = transcriptsDir(surroundings({}).stateDir);
  await checkAgent(flags.agent, allSessions());
  const needles = words.map((word) => word.toLowerCase());
  const found = wanted(allSessions(), { ...flags, limit: flags.limit ?? '1000000' }).flatMap((session) => {
    const text = (readTranscript(dir, session.sessionId) ?? []).map(wordsOf).filter((part) => part !== '');
    const whole = text.join('\n').toLowerCase();
    if (!needles.every((needle) => whole.includes(needle))) return [];
    const line = text.flatMap((part) => part.split('\n')).find((part) => needles.some((needle) => part.toLowerCase().includes(needle)));
    return [{ ...session, line: (line ?? '').slice(0, 200) }];
  });
  if (flags.json) printJson({ sessions: found });
  else if (found.length === 0) notice(`no session contains: ${withoutControls(words.join(' '))}`);
  else
    printTable(
      ['SESSION', 'AGENT', 'FOUND'],
      found.map(({ sessionId, agent, line }) => [sessionId, agent, line].map(withoutControls)),
    );
  return 0;
}

/** The newest session with a prompt in this directory. */
export function latestSession(cwd: string, agent: string | undefined): Listed | undefined {
  const inDirectory = allSessions().filter((session) => session.turns > 0 && session.cwd === cwd);
  return inDirectory
    .filter((session) => agent === undefined || session.agent === agent)
    .toSorted((a, b) => b.lastActivity.localeCompare(a.lastActivity))[0];
}

/** For completion. */
export const recentSessions = (): readonly string[] => wanted(allSessions(), {}).map(({ sessionId }) => sessionId);

function allSessions(): Listed[] {
  const { stateDir } = surroundings({});
  const records = createSessionStore(stateDir, onProblem(stateDir)).records();
  const stats = readStats(transcriptsDir(stateDir));
  return [...records.values()].map((record) => listed(record, stats.get(record.sessionId)));
}

function listed(record: SessionRecord, stats: SessionStats | undefined): Listed {
  const { sessionId, agent, nativeId, cwd, additionalDirectories, at, created = at, tools } = record;
  const lastActivity = stats ? new Date(stats.t).toISOString() : at;
  return {
    ...{ sessionId, agent, nativeId, cwd, additionalDirectories, created, lastActivity },
    ...{ turns: stats?.turns ?? 0, title: stats?.title, stopReason: stats?.stopReason, stopReasons: stats?.stopReasons ?? {} },
    ...{ usage: stats?.usage, tools },
  };
}

/** The newest first. */
function wanted(all: readonly Listed[], { agent, cwd, since, limit = '50' }: ListFlags): Listed[] {
  const from = since === undefined ? 0 : moment(since);
  const below = cwd === undefined ? undefined : path.resolve(cwd);
  const count = Number(limit);
  if (!Number.isInteger(count) || count < 1) throw new CommandFailure(2, `--limit expects a whole number of at least 1, not "${limit}"`);
  return all
    .filter((one) => agent === undefined || one.agent === agent)
    .filter((one) => below === undefined || one.cwd === below || one.cwd?.startsWith(below + path.sep) === true)
    .map((one) => ({ one, ms: Date.parse(one.lastActivity) }))
    .filter(({ ms }) => ms >= from)
    .sort((a, b) => b.ms - a.ms)
    .map(({ one }) => one)
    .slice(0, count);
}

const UNITS = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

/** `3d`, `12h`, or a date. */
function moment(text: string): number {
  const [, amount, unit] = /^(\d+)([mhdw])$/.exec(text) ?? [];
  if (amount !== undefined) return Date.now() - Number(amount) * UNITS[unit as keyof typeof UNITS];
  const at = Date.parse(text);
  if (Number.isNaN(at))
    throw new CommandFailure(2, `invalid time "${text}" for --since`, 'use 30m, 12h, 3d, 2w or a date such as 2026-11-01');
  return at;
}

/** The last used one in this directory, else anywhere. */
function newest(all: readonly Listed[]): Listed | undefined {
  return latestSession(process.cwd(), undefined) ?? wanted(all, { limit: '1' })[0];
}

/** Finds a session by its id or a unique prefix; `latest` is the last used one. */
export function findSession(id: string): Listed {
  const all = allSessions();
  const exact = all.find(({ sessionId }) => sessionId === id) ?? (id === 'latest' ? newest(all) : undefined);
  const beginning = exact ? [exact] : all.filter(({ sessionId }) => sessionId.startsWith(id));
  const [session] = beginning;
  if (!session) throw unknown(id);
  if (beginning.length > 1) {
    const ids = beginning.slice(0, 5).map(({ sessionId }) => sessionId);
    throw new CommandFailure(4, `"${id}" matches ${beginning.length} sessions`, `such as: ${ids.join(', ')}`);
  }
  return session;
}

function find(id: string): { readonly session: Listed; readonly transcript: readonly TranscriptRecord[] } {
  const { stateDir } = surroundings({});
  const session = findSession(id);
  const transcript = readTranscript(transcriptsDir(stateDir), session.sessionId);
  if (!transcript) notice('no transcript: store.transcripts was off, or the transcript expired');
  return { session, transcript: transcript ?? [] };
}

function unknown(id: string): CommandFailure {
  return new CommandFailure(4, `unknown session "${id}"`, 'to list sessions, run: switchboard sessions list');
}

const onProblem =
  (stateDir: string) =>
  (error: unknown): never => {
    const why = `cannot use the state directory ${stateDir} (${errorCode(error)})`;
    throw new CommandFailure(1, why, 'check this path; switchboard doctor shows where switchboard keeps its files');
  };
