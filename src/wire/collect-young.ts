// The chunks of long frames are of no use once they are written, but hardly any objects come with them: V8 does not look for garbage until
// tens of megabytes lie about, and then goes through its whole heap. A look at the young objects alone takes a tenth of a millisecond.

const EVERY_BYTES = 8 * 1024 * 1024;

let bytesSince = 0;
let isScheduled = false;
let collect: (() => void) | undefined;

/** A long frame of so many bytes has gone its way. */
export function notePassed(bytes: number): void {
  bytesSince += bytes;
  if (bytesSince < EVERY_BYTES || isScheduled) return;
  isScheduled = true;
  setImmediate(look);
}

function look(): void {
  isScheduled = false;
  bytesSince = 0;
  collect ??= collector();
  collect();
}

/** V8 hands it out in a new context only, and only while it is told to. Without it, it does so by itself, later. */
function collector(): () => void {
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
