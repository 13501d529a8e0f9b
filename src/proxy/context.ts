// Time as it is handed in, so that a simulator can hand in its own.

export type Clock = {
  /** ISO 8601, for records. */
  now(): string;
  /** For measuring: never jumps. */
  monotonicMs(): number;
  /** Calls back once; the returned function calls it off. */
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

/** A clock whose timers can all be called off at once, so that none outlives its connection. */
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
