// Limits of time that hold on a busy machine: CPU time of this process, compared with work that takes as long as the limit on an idle machine.
import { expect } from 'vitest';

const WORDS = Array.from({ length: 4000 }, (_, n) => `word${n % 700}`).join(' ');

/** Half a millisecond on the idle machine on which the limits were set. Like an analysis, it takes time for text and for memory. */
function halfMillisecond(): number {
  const counts = new Map<string, number>();
  for (const word of WORDS.split(' ')) counts.set(word, (counts.get(word) ?? 0) + word.charCodeAt(0));
  return counts.size;
}
// The compiler needs some rounds.
for (let round = 0; round < 50; round++) halfMillisecond();

export function cpuMs(work: () => unknown): number {
  const start = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

/**
 * The fastest of several rounds counts, and of more while it is over the limit: the compiler, the collector and programs that empty the caches count
 * as little as possible. Where the comparison takes longer than it should, so may the work.
 */
export function expectCpuBelow(limitMs: number, work: () => unknown): void {
  let [took, compared] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let round = 0; round < 5 || (took >= Math.max(limitMs, compared) && round < 100); round++) {
    compared = Math.min(
      compared,
      cpuMs(() => {
        for (let half = 0; half < 2 * limitMs; half++) halfMillisecond();
      }),
    );
    took = Math.min(took, cpuMs(work));
  }
  expect(took, `ms of CPU time; the comparison took ${compared}`).toBeLessThan(Math.max(limitMs, compared));
}
