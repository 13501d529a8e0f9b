import { writeSync } from 'node:fs';
import { SetupFailure } from '../app/api.ts';
import { BusFailure } from '../bus/bus.ts';
import type { Redactor } from '../redaction/redact.ts';
import { RegistryError } from '../registry/registry-error.ts';

/** Why a command failed: the exit code, the message, and what to do next. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure';
  readonly exitCode: number;
  readonly hint: string | undefined;
  /** An error code for programs that is more specific than the exit code. */
  readonly code: string | undefined;

  constructor(exitCode: number, message: string, hint?: string, code?: string) {
    super(message);
    this.exitCode = exitCode;
    this.hint = hint;
    this.code = code;
  }
}

const FAILED = 1;
const NOT_FOUND = 4;

/** Exit codes for failures during setup. */
const EXIT_CODES: Readonly<Record<SetupFailure['code'], number>> = {
  CONFIG_INVALID: 6,
  POLICY_INVALID: 6,
  TOOL_INVALID: 6,
  RECORD_FILE: 2,
  LOOP: 1,
};

/** Converts a failure with a known cause to a CommandFailure; returns other errors unchanged. */
export function asCommandFailure(error: unknown): unknown {
  if (error instanceof RegistryError)
    return new CommandFailure(error.code === 'NOT_INSTALLABLE' ? NOT_FOUND : FAILED, error.message, error.next, error.code);
  if (error instanceof BusFailure) return new CommandFailure(FAILED, error.message, adviceFor(error));
  return error instanceof SetupFailure ? new CommandFailure(EXIT_CODES[error.code], error.message, error.hint) : error;
}

function adviceFor({ message }: BusFailure): string {
  if (message.includes('does not exist on the bus')) return 'with the settings of the admin, run: switchboard bus create --bus FILE';
  return 'to see what is wrong, run: switchboard doctor --bus URL';
}

// Uncaught errors. Their messages may quote traffic, so they are redacted.
const STDERR = 2;

/** The message and advice for an unexpected error. */
export function describeCrash(error: unknown): { readonly message: string; readonly hint?: string } {
  const message = error instanceof Error ? error.message : String(error);
  // Not a bug: the build gives missing chunks this code and message (scripts/build.mjs).
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  if (code === 'PROGRAM_REPLACED') return { message };
  if (isOutOfFiles(error))
    return { message: `too many open files (${code})`, hint: 'raise the limit before you start switchboard: ulimit -n 1024' };
  return {
    message: `internal error: ${message}`,
    hint: 'this is a bug in switchboard: please report it; run with --debug for a stack trace',
  };
}

/** The process ran out of file descriptors; the file in the error is incidental. */
export function isOutOfFiles(error: unknown): boolean {
  const { code } = (error ?? {}) as NodeJS.ErrnoException;
  return code === 'EMFILE' || code === 'ENFILE';
}

let reportUncaught: ((error: unknown) => void) | undefined;

/** Reports crashes with this redactor from now on. `redactor` is called only when a crash happens. */
export function reportCrashes(redactor: () => Redactor): void {
  if (reportUncaught) process.off('uncaughtException', reportUncaught);
  reportUncaught = (error) => {
    const where = process.argv.includes('--debug') && error instanceof Error ? `${error.stack}\n` : '';
    const { message, hint } = describeCrash(error);
    try {
      writeSync(STDERR, redactor()(`switchboard: ${message}\n${hint === undefined ? '' : `  ${hint}\n`}${where}`));
    } finally {
      process.exit(FAILED);
    }
  };
  process.on('uncaughtException', reportUncaught);
}
