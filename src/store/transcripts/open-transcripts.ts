// The transcripts of active sessions. Lines wait in memory briefly, then each session's lines go to its file.
import { appendLines, RETRY_MS, writeFailure } from '../append-lines.ts';
import { dropSpare, PendingBlocks, PendingLines } from './pending-lines.ts';
import { appendStats, removeStats, type TurnStats } from './session-stats.ts';
import { type Cleaner, createTranscript, type Transcript } from './transcript.ts';
import { removeTranscript, transcriptFile } from './transcript-files.ts';

export type Kept = {
  readonly transcript: Transcript;
  readonly lines: PendingLines;
  /** The bytes that could not be written, and when to try again. */
  lost: number;
  retryAt: number;
  /** The agent replays earlier messages, which are already recorded. */
  isReplay: boolean;
  /** Whether an update that comes after the answer to a load still belongs to its replay. */
  lateReplay: ((update: unknown) => boolean) | undefined;
  /** The id of the prompt whose turn is being recorded. */
  openPrompt: string | undefined;
  /** Prompts that came during that turn, by id: each is written when the turn before it has ended. */
  laterPrompts: Map<string, () => void> | undefined;
  laterBytes: number;
  /** When the last turn ended, or a little later: two turns never have the same time, because it tells their lines apart. */
  turnEndedAt: number;
};

export type OpenTranscripts = {
  of(sessionId: string): Kept;
  turnEnded(turn: TurnStats): void;
  /** Schedules a write. */
  scheduleWrite(): void;
  writeAll(): void;
  /** Stops recording the session, also later updates, until `again`. Returns its state. */
  forget(sessionId: string): Kept | undefined;
  again(sessionId: string): void;
  /** The session that the client knows by this id is recorded under another one. */
  recordAs(sessionId: string, recordId: string): void;
  recordIdOf(sessionId: string): string;
  /** Writes everything, including incomplete messages. */
  close(): void;
};

export type TranscriptOptions = {
  readonly dir: string;
  readonly clean: Cleaner;
  readonly now: () => number;
  readonly onProblem: (error: unknown) => void;
  /** Whether the client may add to the transcript of this session; what it sends may be refused. Undefined: any session. */
  readonly mayRecord?: ((sessionId: string) => boolean) | undefined;
};

const WRITE_EVERY_MS = 250;
/** A write takes as long as many frames: with this many active sessions, write less often. */
const MANY_SESSIONS = 64;
const WRITE_MANY_EVERY_MS = 1000;
const WRITE_BYTES = 256 * 1024;
/** The files written before frames get a turn. */
const FILES_AT_ONCE = 16;

export function createOpenTranscripts({ dir, clean, now, onProblem, mayRecord }: TranscriptOptions): OpenTranscripts {
  const sessions = new Map<string, Kept>();
  const pending = new PendingBlocks();
  const dirty = new Set<string>();
  const forgotten = new Set<string>();
  const recordIds = new Map<string, string>();
  const recordIdOf = (sessionId: string): string => recordIds.get(sessionId) ?? sessionId;
  let endedTurns: TurnStats[] = [];
  /** Set while lines wait to be written. */
  let timer: NodeJS.Timeout | undefined;
  let immediate: NodeJS.Immediate | undefined;
  let hasWaited = false;

  function open(sessionId: string): Kept {
    if (mayRecord?.(sessionId) === false) forgotten.add(sessionId);
    const lines = new PendingLines(pending);
    const added = (): void => {
      dirty.add(sessionId);
      if (lines.length > WRITE_BYTES) write(sessionId);
    };
    const transcript = createTranscript(clean, {
      entry(entry) {
        if (forgotten.has(sessionId)) return;
        lines.text(`{"t":${now()},${JSON.stringify(entry).slice(1)}\n`);
        added();
      },
      escaped(before, bytes, start, end, after) {
        if (forgotten.has(sessionId)) return;
        lines.text(`{"t":${now()},${before}`);
        lines.bytes(bytes, start, end);
        lines.text(after);
        added();
      },
    });
    const kept: Kept = {
      transcript,
      lines,
      lost: 0,
      retryAt: 0,
      isReplay: false,
      lateReplay: undefined,
      openPrompt: undefined,
      laterPrompts: undefined,
      laterBytes: 0,
      turnEndedAt: 0,
    };
    sessions.set(sessionId, kept);
    return kept;
  }
  function whenDue(): void {
    if (dirty.size < MANY_SESSIONS || hasWaited) return writeSome([...dirty], 0);
    hasWaited = true;
    timer = setTimeout(whenDue, WRITE_MANY_EVERY_MS - WRITE_EVERY_MS).unref();
  }
  /** Writes the due sessions, a few at a time, including lines that arrive meanwhile. */
  function writeSome(due: readonly string[], done: number): void {
    const end = done + FILES_AT_ONCE;
    for (const sessionId of due.slice(done, end)) write(sessionId);
    if (end < due.length) {
      immediate = setImmediate(() => writeSome(due, end));
      return;
    }
    writeStats();
    rest();
    scheduleWrite();
  }
  function writeAll(): void {
    for (const sessionId of dirty) write(sessionId);
    writeStats();
    rest();
  }
  /** Called when nothing is pending. */
  function rest(): void {
    clearTimeout(timer);
    clearImmediate(immediate);
    timer = undefined;
    immediate = undefined;
    hasWaited = false;
    if (dirty.size > 0) return;
    pending.dropSpare();
    dropSpare();
  }
  function scheduleWrite(): void {
    if (dirty.size > 0) timer ??= setTimeout(whenDue, WRITE_EVERY_MS).unref();
  }
  function write(sessionId: string): void {
    dirty.delete(sessionId);
    const kept = sessions.get(sessionId);
    if (!kept || kept.lines.length === 0) return;
    const { lost } = kept;
    const lines = kept.lines.take();
    kept.lost += lines.length;
    if (lost > 0 && now() < kept.retryAt) return;
    const gap = `{"t":${now()},"kind":"omitted","bytes":${lost}}\n`;
    const file = transcriptFile(dir, recordIdOf(sessionId));
    try {
      appendLines(file, lost === 0 ? lines : Buffer.concat([Buffer.from(gap), lines]));
      kept.lost = 0;
    } catch (error) {
      kept.retryAt = now() + RETRY_MS;
      onProblem(writeFailure(file, error));
    }
  }
  function writeStats(): void {
    if (endedTurns.length === 0) return;
    const turns = endedTurns;
    endedTurns = [];
    try {
      appendStats(dir, turns);
    } catch (error) {
      onProblem(error);
    }
  }

  return {
    of: (sessionId) => sessions.get(sessionId) ?? open(sessionId),
    turnEnded(turn) {
      const { sessionId } = turn;
      if (forgotten.has(sessionId)) return;
      const kept = sessions.get(sessionId) ?? open(sessionId);
      kept.turnEndedAt = Math.max(turn.t, kept.turnEndedAt + 1);
      endedTurns.push({ ...turn, t: kept.turnEndedAt, sessionId: recordIdOf(sessionId) });
    },
    scheduleWrite,
    writeAll,
    forget(sessionId) {
      const kept = sessions.get(sessionId);
      kept?.lines.clear();
      sessions.delete(sessionId);
      const recordId = recordIdOf(sessionId);
      endedTurns = endedTurns.filter((turn) => turn.sessionId !== recordId);
      forgotten.add(sessionId);
      try {
        removeTranscript(dir, recordId);
        removeStats(dir, recordId);
      } catch (error) {
        onProblem(error);
      }
      return kept;
    },
    again: (sessionId) => void (mayRecord?.(sessionId) === false ? forgotten.add(sessionId) : forgotten.delete(sessionId)),
    recordAs: (sessionId, recordId) => void recordIds.set(sessionId, recordId),
    recordIdOf,
    close() {
      for (const { transcript, laterPrompts } of sessions.values()) {
        transcript.end();
        for (const write of laterPrompts?.values() ?? []) write();
      }
      writeAll();
    },
  };
}
