import { SetupFailure } from '../app/setup-failure.ts';

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
