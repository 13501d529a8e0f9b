// A bug of ours that nobody caught. Its words may quote what passed by, so they are cleaned like any others before they are seen.
import { writeSync } from 'node:fs';
import type { Redactor } from '../log/redact.ts';

const FAILED = 1;
const STDERR = 2;

export const WHAT_NOW = 'it is a mistake of the switchboard: please report it; with --debug it says where';
export const unforeseen = (error: unknown) => `this should not have happened: ${error instanceof Error ? error.message : String(error)}`;

let tell: ((error: unknown) => void) | undefined;

/** From now on a crash is told by these means, instead of those given before. `redactor` makes them when there is a need. */
export function tellCrashes(redactor: () => Redactor): void {
  if (tell) process.off('uncaughtException', tell);
  tell = (error) => {
    const where = process.argv.includes('--debug') && error instanceof Error ? `${error.stack}\n` : '';
    try {
      writeSync(STDERR, redactor()(`switchboard: ${unforeseen(error)}\n  ${WHAT_NOW}\n${where}`));
    } finally {
      process.exit(FAILED);
    }
  };
  process.on('uncaughtException', tell);
}
