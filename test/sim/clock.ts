// Virtual time: stands still while something happens, and jumps to the next timer when the simulator says so.
import type { Clock } from '../../src/proxy/context.ts';

type Timer = { readonly atMs: number; readonly order: number; readonly owner: string; readonly callback: () => void };

export type VirtualClock = {
  readonly nowMs: number;
  /** A clock whose timers are counted under `owner`. */
  for(owner: string): Clock;
  pending(owner: string): number;
  /** When the next timer is due; undefined when there is none. */
  nextAtMs(): number | undefined;
  /** Whose timer is due next. */
  nextOwner(): string | undefined;
  /** Lets time pass, but not beyond the next timer. */
  passTo(ms: number): void;
  /** Goes to the next timer and fires only that, so that its effects are done before the next one. */
  fireNext(): void;
};

const EPOCH_MS = Date.UTC(2026, 0, 1);

export function createVirtualClock(): VirtualClock {
  let nowMs = 0;
  let count = 0;
  /** In the order in which they are due; of those due together, the oldest first. */
  const timers: Timer[] = [];

  function add(timer: Timer): void {
    let at = timers.length;
    while (at > 0 && (timers[at - 1] as Timer).atMs > timer.atMs) at--;
    timers.splice(at, 0, timer);
  }
  return {
    get nowMs() {
      return nowMs;
    },
    for: (owner) => ({
      now: () => new Date(EPOCH_MS + nowMs).toISOString(),
      monotonicMs: () => nowMs,
      after(ms, callback) {
        const timer: Timer = { atMs: nowMs + Math.max(0, ms), order: count++, owner, callback };
        add(timer);
        return () => {
          const at = timers.indexOf(timer);
          if (at !== -1) timers.splice(at, 1);
        };
      },
    }),
    pending: (owner) => timers.filter((timer) => timer.owner === owner).length,
    nextAtMs: () => timers[0]?.atMs,
    nextOwner: () => timers[0]?.owner,
    passTo(ms) {
      nowMs = Math.max(nowMs, Math.min(ms, timers[0]?.atMs ?? ms));
    },
    fireNext() {
      const timer = timers.shift();
      if (!timer) return;
      nowMs = Math.max(nowMs, timer.atMs);
      timer.callback();
    },
  };
}
