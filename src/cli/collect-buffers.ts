// Frees the read buffers of large frames early. Node reads into a new buffer of 64 kB each time, and V8 waits for 32 MB of them before it
// collects. A collection of young objects takes 0.1 to 0.5 ms. This sets a V8 flag, so only the command does it, never the library.
// Gain: 21 MB less peak memory with frames of 1 MB, 7 MB less with frames of 8 MB (goal G4).
const EVERY_BYTES = 8 * 1024 * 1024;

/** To be called with the size of each large frame that was handled. */
export function createBufferCollector(): (bytes: number) => void {
  let bytesSince = 0;
  let isScheduled = false;
  let collect: (() => void) | undefined;
  function run(): void {
    isScheduled = false;
    bytesSince = 0;
    collect ??= youngCollection();
    collect();
  }
  return (bytes) => {
    bytesSince += bytes;
    if (bytesSince < EVERY_BYTES || isScheduled) return;
    isScheduled = true;
    setImmediate(run);
  };
}

/** V8 provides `gc` only in a new context, and only while the flag is set. Where it does not, it collects later by itself. */
function youngCollection(): () => void {
  try {
    const { setFlagsFromString } = process.getBuiltinModule('node:v8');
    const { runInNewContext } = process.getBuiltinModule('node:vm');
    setFlagsFromString('--expose-gc');
    const gc: unknown = runInNewContext('gc');
    setFlagsFromString('--no-expose-gc');
    return typeof gc === 'function' ? () => void gc({ type: 'minor' }) : () => {};
  } catch {
    return () => {};
  }
}
