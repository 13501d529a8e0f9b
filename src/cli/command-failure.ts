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
