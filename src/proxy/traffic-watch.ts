// What a peer sends that is allowed and still worth a word to people: very large frames, and very many. Each is said once.
import type { Clock } from './context.ts';

/** Far below what is skipped (`limits.max_frame_bytes`), and far above what a conversation needs. */
const LARGE_BYTES = 1024 * 1024;
/** More than this within the time is a flood; it is slowed by whoever reads it, and nothing is dropped. */
const FLOOD_FRAMES = 20_000;
const FLOOD_MS = 10_000;

/** To be called with the size of every frame; looks at the clock once in many. */
export function createTrafficWatch(clock: Clock, who: string, report: (text: string) => void): (bytes: number) => void {
  let isLargeTold = false;
  let isFloodTold = false;
  let frames = 0;
  let sinceMs = clock.monotonicMs();
  return (bytes) => {
    if (bytes > LARGE_BYTES && !isLargeTold) {
      isLargeTold = true;
      report(`${who} sent a frame of ${bytes} bytes; it was passed on, but frames of more than 1 MB slow everyone down`);
    }
    if (++frames < FLOOD_FRAMES) return;
    frames = 0;
    const nowMs = clock.monotonicMs();
    const tookMs = nowMs - sinceMs;
    sinceMs = nowMs;
    if (tookMs > FLOOD_MS || isFloodTold) return;
    isFloodTold = true;
    report(`${who} sent ${FLOOD_FRAMES} frames within ${Math.ceil(tookMs / 1000)} s; they are passed on as fast as they are read`);
  };
}
