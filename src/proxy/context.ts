// What every part of a proxy may read: time, limits, counters, stores and the policy's enforcement. Nothing here can be replaced; only
// `counters` and `lastFrame` are written.
import type { Review } from '../review/review.ts';
import type { CapabilityCache } from '../store/capability-cache.ts';
import type { SessionStore } from '../store/sessions/session-store.ts';
import type { TranscriptSource } from '../store/transcripts/transcript-source.ts';
import type { Activity } from '../telemetry/activity.ts';
import type { Workspace } from '../workspace/workspace.ts';
import type { Multiplexer } from './boundary.ts';
import type { ClientScope } from './client-scope.ts';
import type { Enforcement } from './enforcement/enforcement.ts';
import type { AlwaysAnswers } from './requests/always-answers.ts';

export type Context = {
  readonly clock: Clock;
  readonly counters: Counters;
  /** The newest frame, to explain a delay. */
  readonly lastFrame: { method: string | undefined; bytes: number };
  readonly version: string;
  readonly initializeWaitMs: number;
  readonly maxQueueBytes: number;
  /** Prompts that arrive during a turn wait, also for a single agent. */
  readonly queuesPrompts: boolean;
  /** Writes a message for people to the log and to stderr. */
  readonly report: (text: string, level?: 'debug') => void;
  /** The proxy cancels the turns of a session because its agent is silent. */
  readonly onStallCancel: (sessionId: string) => void;
  readonly log: SessionStore;
  /** Undefined when transcripts are off. */
  readonly transcripts: TranscriptSource | undefined;
  readonly cache: CapabilityCache;
  /** Our own files and terminals, for a client that has none; undefined when they are off. */
  readonly workspace: Workspace | undefined;
  /** Whether agents are offered `workspace` where the client lacks the capability. */
  readonly servesMissing: boolean;
  /** The changes of sessions at the level `review`; undefined if nothing can be contained. */
  readonly review: Review | undefined;
  /** Undefined without a policy. */
  readonly enforcement: Enforcement | undefined;
  /** Answers with "always" that are kept without a policy; undefined with one, or where nothing is stored. */
  readonly always: AlwaysAnswers | undefined;
  /** What a network client may do; undefined for one on this machine. */
  readonly scope: ClientScope | undefined;
  /** Undefined if the connection has one client. */
  readonly multiplexer: Multiplexer | undefined;
  /** Undefined while telemetry is off. */
  readonly activity: Activity | undefined;
};

// The clock is handed in so that the simulator can hand in its own.

export type Clock = {
  /** ISO 8601, for records. */
  now(): string;
  /** For measuring: never jumps. */
  monotonicMs(): number;
  /** Calls back once; the returned function cancels it. */
  after(ms: number, callback: () => void): () => void;
};

export const systemClock: Clock = {
  now: () => new Date().toISOString(),
  monotonicMs: () => process.uptime() * 1000, // `performance` would load a module more at the start
  after(ms, callback) {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
};

/** A clock whose timers can all be cancelled at once, so that none outlives its connection. */
export function createTimers(clock: Clock): Clock & { stop(): void } {
  const pending = new Set<() => void>();
  return {
    now: clock.now,
    monotonicMs: clock.monotonicMs,
    after(ms, callback) {
      const abandon = clock.after(ms, () => {
        pending.delete(abandon);
        callback();
      });
      pending.add(abandon);
      return () => {
        pending.delete(abandon);
        abandon();
      };
    },
    stop() {
      for (const abandon of pending) abandon();
      pending.clear();
    },
  };
}

/** Frames that reached nobody: counted, so that none disappears unseen. */
export type Counters = {
  strayAnswers: number;
  refusedFromAgents: number;
  refusedFromClient: number;
  lateUpdates: number;
  unsentToAgents: number;
};

const COUNTED: Readonly<Record<keyof Counters, string>> = {
  strayAnswers: 'unexpected answers',
  refusedFromAgents: 'refused lines from agents',
  refusedFromClient: 'refused lines from the editor',
  lateUpdates: 'updates for closed sessions',
  unsentToAgents: 'notifications for exited agents',
};

export const noCounts = (): Counters => ({
  strayAnswers: 0,
  refusedFromAgents: 0,
  refusedFromClient: 0,
  lateUpdates: 0,
  unsentToAgents: 0,
});

/** A summary in one line; undefined when every frame was delivered. */
export function countsMessage(counters: Counters): string | undefined {
  const counted = (Object.keys(COUNTED) as (keyof Counters)[]).flatMap((key) =>
    counters[key] > 0 ? [`${counters[key]} ${COUNTED[key]}`] : [],
  );
  return counted.length === 0 ? undefined : `not passed on in this connection: ${counted.join(', ')}`;
}

const MAX_REPORTED_LINES = 10;

/** Counts an agent's line that is not passed on, and reports the first few. */
export function skipLine({ counters, report }: Context, agent: string, reason: string): void {
  if (counters.refusedFromAgents++ < MAX_REPORTED_LINES) report(`a line from agent "${agent}" was skipped: ${reason}`);
}
