// Reports very large frames, and very many, once each. They are allowed and passed on.
import type { Clock } from './context.ts';

/** Far below `limits.max_frame_bytes`, and far above what a conversation needs. */
const LARGE_BYTES = 1024 * 1024;
/** More than this within `FLOOD_MS` is a flood. Back-pressure slows it, and nothing is dropped. */
const FLOOD_FRAMES = 20_000;
const FLOOD_MS = 10_000;

/** The returned function takes the size of every frame, or of several frames together, and reads the clock once in many. */
export function createTrafficWarnings(clock: Clock, who: string, report: (text: string) => void): (bytes: number, frames?: number) => void {
  let isLargeReported = false;
  let isFloodReported = false;
  let seen = 0;
  let sinceMs = clock.monotonicMs();
  return (bytes, frames = 1) => {
    if (bytes > LARGE_BYTES && frames === 1 && !isLargeReported) {
      isLargeReported = true;
      report(`${who} sent a frame of ${bytes} bytes; it was passed on, but frames of more than 1 MB slow everyone down`);
    }
    seen += frames;
    if (seen < FLOOD_FRAMES) return;
    seen = 0;
    const nowMs = clock.monotonicMs();
    const tookMs = nowMs - sinceMs;
    sinceMs = nowMs;
    if (tookMs > FLOOD_MS || isFloodReported) return;
    isFloodReported = true;
    report(`${who} sent ${FLOOD_FRAMES} frames within ${Math.ceil(tookMs / 1000)} s; they are passed on as fast as they are read`);
  };
}
