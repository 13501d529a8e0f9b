// How long an agent may take to answer initialize. The time in which a package runner downloads it does not count.
import { INSTALL_MS, isInstalling } from '../../agents/package-runner.ts';
import type { Clock } from '../context.ts';

/** How often a runner is looked at, at least. */
const LOOK_MS = 5000;

export type StartLimit = {
  readonly clock: Clock;
  readonly limitMs: number;
  /** The package runner that starts the agent. */
  readonly runner: string | undefined;
  readonly pid: number | undefined;
};

/** `downloading` is called once, `late` with the limit that is over. Returns a function that ends the wait. */
export function limitStart(
  { clock, limitMs, runner, pid }: StartLimit,
  downloading: (runner: string) => void,
  late: (limitMs: number) => void,
): () => void {
  if (runner === undefined || pid === undefined) return clock.after(limitMs, () => late(limitMs));
  const beganMs = clock.monotonicMs();
  let installingMs = beganMs;
  let isReported = false;
  let cancel = () => {};
  const look = () => {
    const now = clock.monotonicMs();
    if (isInstalling(pid)) {
      installingMs = now;
      if (!isReported) downloading(runner);
      isReported = true;
    }
    if (now - beganMs >= INSTALL_MS + limitMs) return late(INSTALL_MS + limitMs);
    if (now - installingMs >= limitMs) return late(limitMs);
    cancel = clock.after(Math.min(LOOK_MS, limitMs / 2), look);
  };
  cancel = clock.after(Math.min(LOOK_MS, limitMs / 2), look);
  return () => cancel();
}
