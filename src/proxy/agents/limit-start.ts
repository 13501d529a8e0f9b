// How long an agent may take to answer initialize. The time in which a package runner downloads it does not count.
import { INSTALL_MS, isInstalling } from '../../agents/package-runner.ts';
import type { Clock } from '../context.ts';

/** How often a runner is checked, at least. */
const CHECK_MS = 5000;

export type StartLimit = {
  readonly clock: Clock;
  readonly limitMs: number;
  /** The package runner that starts the agent. */
  readonly runner: string | undefined;
  readonly pid: number | undefined;
};

/** `onDownload` is called once, `onTimeout` with the exceeded limit. Returns a function that stops the timer. */
export function limitStart(
  { clock, limitMs, runner, pid }: StartLimit,
  onDownload: (runner: string) => void,
  onTimeout: (limitMs: number) => void,
): () => void {
  if (runner === undefined || pid === undefined) return clock.after(limitMs, () => onTimeout(limitMs));
  const beganMs = clock.monotonicMs();
  let installingMs = beganMs;
  let isReported = false;
  let cancel = () => {};
  const check = () => {
    const now = clock.monotonicMs();
    if (isInstalling(pid)) {
      installingMs = now;
      if (!isReported) onDownload(runner);
      isReported = true;
    }
    if (now - beganMs >= INSTALL_MS + limitMs) return onTimeout(INSTALL_MS + limitMs);
    if (now - installingMs >= limitMs) return onTimeout(limitMs);
    cancel = clock.after(Math.min(CHECK_MS, limitMs / 2), check);
  };
  cancel = clock.after(Math.min(CHECK_MS, limitMs / 2), check);
  return () => cancel();
}
