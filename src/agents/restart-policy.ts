// Decides when a failed agent may start again. Pure: the caller passes the time.

export type RestartOptions = { readonly max: number; readonly windowS: number };

export type Refusal = { readonly kind: 'backing-off' | 'crash-loop'; readonly waitMs: number };

export type RestartPolicy = {
  /** Why the agent may not start now; undefined if it may. */
  refusal(nowMs: number): Refusal | undefined;
  /** The agent failed before it answered initialize. */
  failedToStart(nowMs: number): void;
  started(): void;
  /** The agent exited after it had been ready. */
  crashed(nowMs: number): void;
  readonly restarts: number;
};

const FIRST_BACK_OFF_MS = 1000;
const LONGEST_BACK_OFF_MS = 60_000;

export function createRestartPolicy({ max, windowS }: RestartOptions): RestartPolicy {
  const windowMs = windowS * 1000;
  let crashes: number[] = [];
  let failures = 0;
  let notBeforeMs = 0;
  let restarts = 0;
  return {
    refusal(nowMs) {
      if (nowMs < notBeforeMs) return { kind: 'backing-off', waitMs: notBeforeMs - nowMs };
      crashes = crashes.filter((at) => nowMs - at < windowMs);
      const [oldest] = crashes;
      // Enough crashes are now outside the window, so it may try again: the user may have fixed the cause.
      if (oldest !== undefined && crashes.length > max) return { kind: 'crash-loop', waitMs: oldest + windowMs - nowMs };
      return undefined;
    },
    failedToStart(nowMs) {
      notBeforeMs = nowMs + Math.min(FIRST_BACK_OFF_MS * 2 ** failures, LONGEST_BACK_OFF_MS);
      failures++;
    },
    started() {
      failures = 0;
      notBeforeMs = 0;
    },
    crashed(nowMs) {
      crashes.push(nowMs);
      restarts++;
    },
    get restarts() {
      return restarts;
    },
  };
}

/**
 * For an agent on the bus. Its host restarts it by the host's own rules, and the edge knows at once which hosts there are: the loss of a host
 * with many sessions must not delay them on the next one.
 */
export function unlimitedRestarts(): RestartPolicy {
  let restarts = 0;
  return {
    refusal: () => undefined,
    failedToStart() {},
    started() {},
    crashed() {
      restarts++;
    },
    get restarts() {
      return restarts;
    },
  };
}
