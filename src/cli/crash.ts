// A bug of ours that nobody caught. Its words may quote what passed by, so they are cleaned like any others before they are seen.
import { writeSync } from 'node:fs';
import type { Redactor } from '../log/redact.ts';

const FAILED = 1;
const STDERR = 2;

let tell: ((error: unknown) => void) | undefined;

/** From now on a crash is told by these means, instead of those given before. `redactor` makes them when there is a need. */
export function tellCrashes(redactor: () => Redactor): void {
  if (tell) process.off('uncaughtException', tell);
  tell = (error) => {
    const words = error instanceof Error ? (error.stack ?? error.message) : String(error);
    try {
      writeSync(STDERR, `switchboard: this should not have happened; please report it\n${redactor()(words)}\n`);
    } finally {
      process.exit(FAILED);
    }
  };
  process.on('uncaughtException', tell);
}
