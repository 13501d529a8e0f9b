// Reads sessions from their transcripts, for agents that do not store them.

import { historyOf, type ReplayMatcher } from './replay-matcher.ts';
import { readStats, type SessionStats } from './session-stats.ts';
import { MOST_BYTES, readTranscript, transcriptBytes } from './transcript-files.ts';
import type { TranscriptObserver } from './transcript-observer.ts';
import { type Update, updatesOf } from './transcript-updates.ts';

export type TranscriptSource = {
  /** The updates that replay the session, or its first `upTo` bytes; undefined if there is no transcript. */
  updates(sessionId: string, upTo?: number): readonly Update[] | undefined;
  /** The length of its transcript now, for `upTo`; an incomplete message is not part of it. */
  mark(sessionId: string): number;
  /** Knows a replay of the session; undefined if there is no transcript. `isInTurn`: leaves out the last prompt and what follows it. */
  history(sessionId: string, isInTurn: boolean): ReplayMatcher | undefined;
  stats(): ReadonlyMap<string, SessionStats>;
  /** A prompt that waits for a turn has another text now. `id` is its JSON-RPC id. */
  promptChanged(sessionId: string, id: string, text: string): void;
  /** Records the session that the client knows by this id under another one. */
  recordAs(sessionId: string, recordId: string): void;
  /** The session was deleted. */
  forget(sessionId: string): void;
};

/** `observer` has the lines that are still in memory. An unreadable transcript is reported and counts as missing. */
export function createTranscriptSource(
  dir: string,
  observer: Pick<TranscriptObserver, 'settle' | 'forget' | 'promptChanged' | 'recordAs' | 'recordIdOf'>,
  clean: (text: string) => string,
  onProblem: (error: unknown) => void,
): TranscriptSource {
  function orElse<T>(read: () => T, otherwise: T): T {
    try {
      observer.settle();
      return read();
    } catch (error) {
      onProblem(error);
      return otherwise;
    }
  }
  return {
    mark: (sessionId) => orElse(() => transcriptBytes(dir, observer.recordIdOf(sessionId)), 0),
    updates: (sessionId, upTo) =>
      orElse(() => {
        const transcript = readTranscript(dir, observer.recordIdOf(sessionId), MOST_BYTES, upTo);
        return transcript && updatesOf(transcript);
      }, undefined),
    history: (sessionId, isInTurn) => orElse(() => historyOf(dir, observer.recordIdOf(sessionId), isInTurn, clean), undefined),
    promptChanged: (sessionId, id, text) => orElse(() => observer.promptChanged(sessionId, id, text), undefined),
    forget(sessionId) {
      try {
        observer.forget(sessionId);
      } catch (error) {
        onProblem(error);
      }
    },
    recordAs: observer.recordAs,
    stats: () => orElse(() => readStats(dir), new Map()),
  };
}
