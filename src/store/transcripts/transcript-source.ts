// What is known of sessions from their transcripts, for agents that keep no memory of their own.
import { readStats, type SessionStats } from './session-stats.ts';
import { readTranscript } from './transcript-files.ts';
import type { TranscriptObserver } from './transcript-observer.ts';
import { type Update, updatesOf } from './transcript-updates.ts';

export type TranscriptSource = {
  /** What would tell the session again; undefined when there is no transcript of it. */
  updates(sessionId: string): readonly Update[] | undefined;
  stats(): ReadonlyMap<string, SessionStats>;
  /** The session has been deleted. */
  forget(sessionId: string): void;
};

/** Nobody reads more of it, and reading it holds up everyone. The end counts. */
const MOST_BYTES = 8 * 1024 * 1024;

/** `tap` has what is still in memory; what cannot be read is told of, and counts as not there. */
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
