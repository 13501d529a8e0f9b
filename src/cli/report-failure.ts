// Reports failures: a message on stderr, and with --json also the JSON envelope.
import { inspect } from 'node:util';
import { CommanderError } from 'commander';
import { ConfigError } from '../config/problems.ts';
import { withoutControls } from '../control-characters.ts';
import { createRedactor } from '../redaction/redact.ts';
import { FileError } from '../setup/edit-file.ts';
import { asCommandFailure, CommandFailure, describeCrash, isOutOfFiles } from './failure.ts';
import { parseUsageError } from './help.ts';
import { shownCommands } from './output.ts';

const EXIT = { failure: 1, usage: 2, configuration: 6 } as const;

/** Error codes for programs, by exit code. */
const CODES: Readonly<Record<number, string>> = {
  1: 'FAILED',
  2: 'USAGE',
  3: 'TIMEOUT',
  4: 'NOT_FOUND',
  5: 'DENIED',
  6: 'CONFIG_INVALID',
  7: 'AGENT_UNAVAILABLE',
  8: 'PROBLEMS_FOUND',
};

export type ReportOptions = { readonly isJson: boolean; readonly isDebug: boolean };

/** Prints a failure and returns its exit code. Only --debug shows the stack trace. */
export function printFailure(error: unknown, { isJson, isDebug }: ReportOptions): number {
  const code = writeError(error, isJson);
  if (isDebug && code !== 0) process.stderr.write(`${clean(inspect(error))}\n`);
  return code;
}

function writeError(error: unknown, isJson: boolean): number {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return 0;
    const { message, meant = 'see --help' } = parseUsageError(error.message);
    if (isJson) printEnvelope(EXIT.usage, message, meant);
    return EXIT.usage;
  }
  if (error instanceof ConfigError) {
    if (isJson) printEnvelope(EXIT.configuration, 'the configuration is invalid', error.message, { problems: error.problems });
    process.stderr.write(withoutControls(`switchboard: the configuration is invalid\n${error.message}\n`));
    return EXIT.configuration;
  }
  const found = error instanceof FileError ? new CommandFailure(EXIT.failure, error.message) : (trouble(error) ?? asCommandFailure(error));
  const failure = found instanceof CommandFailure ? found : mistake(error);
  const message = shownCommands(failure.message);
  const hint = shownCommands(failure.hint ?? '');
  if (isJson) printEnvelope(failure.exitCode, message, hint, undefined, failure.code);
  process.stderr.write(withoutControls(`switchboard: ${message}\n${hint ? `  ${hint}\n` : ''}`));
  return failure.exitCode;
}

/** A file-system error on one of our files: not a bug, so no stack trace. */
function trouble(error: unknown): CommandFailure | undefined {
  const { code, path, syscall } = (error ?? {}) as NodeJS.ErrnoException;
  if (syscall === undefined || path === undefined || isOutOfFiles(error)) return undefined;
  return new CommandFailure(
    EXIT.failure,
    `cannot use ${path} (${code})`,
    'check this path; switchboard doctor shows where switchboard keeps its files',
  );
}

/** An unexpected error. Its message may contain secrets, so it is redacted. */
function mistake(error: unknown): CommandFailure {
  const { message, hint } = describeCrash(error);
  return new CommandFailure(EXIT.failure, clean(message), hint);
}

const clean = (text: string) => createRedactor({}, process.env)(text);

function printEnvelope(exitCode: number, message: string, hint: string, data?: object, code = CODES[exitCode] ?? 'FAILED'): void {
  const error = { code, message, hint, ...(data && { data }) };
  process.stdout.write(`${JSON.stringify({ ok: false, error })}\n`);
}
