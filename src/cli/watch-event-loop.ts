// Nothing on the frame path may block; if something does, somebody should hear of it.
import { systemClock } from '../proxy/context.ts';

const EVERY_MS = 500;
const BLOCKED_MS = 1000;

/** Calls `onBlocked` after the loop has been held up for more than a second; returns how to stop looking. */
export function watchEventLoop(onBlocked: (ms: number) => void): () => void {
  let last = systemClock.monotonicMs();
  const timer = setInterval(() => {
    const now = systemClock.monotonicMs();
    const blockedMs = now - last - EVERY_MS;
    last = now;
    if (blockedMs > BLOCKED_MS) onBlocked(Math.round(blockedMs));
  }, EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}
