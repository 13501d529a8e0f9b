// Metrics of this process: memory, CPU time and the delay of its event loop.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Registry } from './registry.ts';

/** The monitor wakes the process this often. */
const RESOLUTION_MS = 100;
/** Delays are reported over this time at least, and over twice this time at most. */
const WINDOW_MS = 30_000;

type Delays = { readonly p50: number; readonly p99: number; readonly max: number };

/** Returns a function that stops measuring. */
export function measureProcess(registry: Registry, version: string): () => void {
  const monitor = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  monitor.enable();
  const read = (): Delays | undefined =>
    monitor.count === 0
      ? undefined
      : { p50: secondsOf(monitor.percentile(50)), p99: secondsOf(monitor.percentile(99)), max: secondsOf(monitor.max) };
  let before: Delays | undefined;
  const window = setInterval(() => {
    before = read();
    monitor.reset();
  }, WINDOW_MS).unref();
  registry.series('buildInfo', version).value = 1;
  registry.series('startTime').value = Math.round(performance.timeOrigin) / 1000;
  registry.onCollect(() => {
    for (const [kind, bytes] of Object.entries(memory())) registry.series('memory', kind).value = bytes;
    const { user, system } = process.cpuUsage();
    registry.series('cpuSeconds').value = (user + system) / 1e6;
    const now = read() ?? before ?? { p50: 0, p99: 0, max: 0 };
    registry.series('eventLoopDelay', 'p50').value = now.p50;
    registry.series('eventLoopDelay', 'p99').value = Math.max(now.p99, before?.p99 ?? 0);
    registry.series('eventLoopDelay', 'max').value = Math.max(now.max, before?.max ?? 0);
  });
  return () => {
    clearInterval(window);
    monitor.disable();
  };
}

function memory(): Readonly<Record<string, number>> {
  try {
    const { rss, heapUsed, heapTotal, external } = process.memoryUsage();
    return { rss, heap_used: heapUsed, heap_total: heapTotal, external };
  } catch {
    return {}; // there is no /proc
  }
}

/** The monitor measures the time between its own wake-ups. */
const secondsOf = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e9 - RESOLUTION_MS / 1000);
