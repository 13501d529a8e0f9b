// Once what runs now is done, before anything else gets a turn. `queueMicrotask` does the same and makes an async resource for each call,
// which takes as long as a small frame.
const over = Promise.resolve();

/** `act` must not throw. */
export function soon(act: () => void): void {
  void over.then(act);
}
