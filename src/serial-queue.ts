export type SerialQueue = {
  /** Runs `work` once everything before it has settled, and settles as it does. A failure does not stop the work after it. */
  run<T>(work: () => T | Promise<T>): Promise<T>;
  /** Resolves when everything queued so far has settled. */
  idle(): Promise<void>;
};

export function createSerialQueue(): SerialQueue {
  let last = Promise.resolve();
  return {
    run(work) {
      const done = last.then(work);
      last = done.then(
        () => {},
        () => {},
      );
      return done;
    },
    idle: () => last,
  };
}
