// Time for links, leases, hosts and edges. It is handed in, so that the simulator can hand in its own.

export type BusClock = {
  /** For measuring: never jumps. */
  monotonicMs(): number;
  /** Calls back once; the returned function cancels it. */
  after(ms: number, callback: () => void): () => void;
};

export const systemBusClock: BusClock = {
  monotonicMs: () => performance.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
};

/** Calls back again and again, until the returned function is called. */
export function every(clock: BusClock, ms: number, callback: () => void): () => void {
  let stop = clock.after(ms, again);
  let isStopped = false;
  function again(): void {
    stop = clock.after(ms, again);
    callback();
    if (isStopped) stop();
  }
  return () => {
    isStopped = true;
    stop();
  };
}
