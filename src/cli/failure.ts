import { writeSync } from 'node:fs';
import { SetupFailure } from '../app/setup-failure.ts';
import type { Redactor } from '../redaction/redact.ts';

/** Why a command ends without doing its work: an exit code of DESIGN's table, what went wrong, and what to do next. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure';
  readonly exitCode: number;
  readonly hint: string | undefined;
  /** For programs, where there is a better word than the exit code's. */
  readonly code: string | undefined;

  constructor(exitCode: number, message: string, hint?: string, code?: string) {
    super(message);
    this.exitCode = exitCode;
    this.hint = hint;
    this.code = code;
  }
}

/** By what went wrong while a switchboard was put together. */
const EXIT_CODES: Readonly<Record<SetupFailure['code'], number>> = {
  CONFIG_INVALID: 6,
  POLICY_INVALID: 6,
  TOOL_INVALID: 6,
  RECORD_FILE: 2,
  LOOP: 1,
};

/** The same failure as a command's; anything else stays what it is. */
export function asCommandFailure(error: unknown): unknown {
  return error instanceof SetupFailure ? new CommandFailure(EXIT_CODES[error.code], error.message, error.hint) : error;
}

// A bug of ours that nobody caught. Its words may quote what passed by, so they are cleaned like any others before they are seen.
const FAILED = 1;
const STDERR = 2;

/** What nobody has foreseen, and what to do about it. */
export function crashWords(error: unknown): { readonly message: string; readonly hint?: string } {
  const message = error instanceof Error ? error.message : String(error);
  // Nobody's mistake: the build gives this code, and the words, to parts that are gone (scripts/build.mjs).
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  if (code === 'PROGRAM_REPLACED') return { message };
  if (isOutOfFiles(error))
    return { message: `too many open files (${code})`, hint: 'raise the limit before you start switchboard: ulimit -n 1024' };
  return {
    message: `internal error: ${message}`,
    hint: 'this is a bug in switchboard: please report it; run with --debug for a stack trace',
  };
}

/** It says nothing of the file at which it was noticed. */
export function isOutOfFiles(error: unknown): boolean {
  const { code } = (error ?? {}) as NodeJS.ErrnoException;
  return code === 'EMFILE' || code === 'ENFILE';
}

let tell: ((error: unknown) => void) | undefined;

/** From now on a crash is told by these means, instead of those given before. `redactor` makes them when there is a need. */
export function tellCrashes(redactor: () => Redactor): void {
  if (tell) process.off('uncaughtException', tell);
  tell = (error) => {
    const where = process.argv.includes('--debug') && error instanceof Error ? `${error.stack}\n` : '';
    const { message, hint } = crashWords(error);
    try {
      writeSync(STDERR, redactor()(`switchboard: ${message}\n${hint === undefined ? '' : `  ${hint}\n`}${where}`));
    } finally {
      process.exit(FAILED);
    }
  };
  process.on('uncaughtException', tell);
}
