// How a failure is told: in words on stderr, and to programs that asked for JSON in the one envelope.
import { CommanderError } from 'commander';
import { ConfigError } from '../config/problems.ts';
import { FileTrouble } from '../setup/edit-file.ts';
import { asCommandFailure, CommandFailure } from './command-failure.ts';

const EXIT = { failure: 1, usage: 2, configuration: 6 } as const;

/** By exit code: what programs switch on. */
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

/** Failures a person can mend get words and an exit code; anything else is a bug and climbs on. */
export function printFailure(error: unknown, isJson: boolean): number {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return 0;
    if (isJson) printEnvelope(EXIT.usage, error.message.replace(/^error: /, ''), 'see --help');
    return EXIT.usage;
  }
  if (error instanceof ConfigError) {
    if (isJson) printEnvelope(EXIT.configuration, 'the configuration is not usable', error.message, { problems: error.problems });
    process.stderr.write(`switchboard: the configuration is not usable\n${error.message}\n`);
    return EXIT.configuration;
  }
  const failure =
    error instanceof FileTrouble ? new CommandFailure(EXIT.failure, error.message) : (trouble(error) ?? asCommandFailure(error));
  if (!(failure instanceof CommandFailure)) throw error;
  if (isJson) printEnvelope(failure.exitCode, failure.message, failure.hint ?? '', undefined, failure.code);
  process.stderr.write(`switchboard: ${failure.message}\n${failure.hint ? `  ${failure.hint}\n` : ''}`);
  return failure.exitCode;
}

/** The system says no to a file of ours: not a bug, and not worth a stack trace. */
function trouble(error: unknown): CommandFailure | undefined {
  const { code, path, syscall } = (error ?? {}) as NodeJS.ErrnoException;
  if (syscall === undefined || path === undefined) return undefined;
  return new CommandFailure(
    EXIT.failure,
    `${path} cannot be used (${code})`,
    'see what is there; switchboard doctor says where our files are',
  );
}

function printEnvelope(exitCode: number, message: string, hint: string, data?: object, code = CODES[exitCode] ?? 'FAILED'): void {
  const error = { code, message, hint, ...(data && { data }) };
  process.stdout.write(`${JSON.stringify({ ok: false, error })}\n`);
}
