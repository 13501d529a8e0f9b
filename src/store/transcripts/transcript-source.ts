// Reads sessions from their transcripts, for agents that do not store them.
import { readStats, type SessionStats } from './session-stats.ts';
import { readTranscript } from './transcript-files.ts';
import type { TranscriptObserver } from './transcript-observer.ts';
import { type Update, updatesOf } from './transcript-updates.ts';

export type TranscriptSource = {
  /** The updates that replay the session; undefined if there is no transcript. */
  updates(sessionId: string): readonly Update[] | undefined;
  stats(): ReadonlyMap<string, SessionStats>;
  /** The session was deleted. */
  forget(sessionId: string): void;
};

/** Nobody reads more, and reading blocks the process. The end of the transcript counts. */
const MOST_BYTES = 8 * 1024 * 1024;

/** `observer` has the lines that are still in memory. An unreadable transcript is reported and counts as missing. */
export function createTranscriptSource(
  dir: string,
  observer: Pick<TranscriptObserver, 'settle' | 'forget'>,
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
    updates: (sessionId) =>
      orElse(() => {
        const transcript = readTranscript(dir, sessionId, MOST_BYTES);
        return transcript && updatesOf(transcript);
      }, undefined),
    forget(sessionId) {
      try {
        observer.forget(sessionId);
      } catch (error) {
        onProblem(error);
      }
    },
    stats: () => orElse(() => readStats(dir), new Map()),
  };
}
