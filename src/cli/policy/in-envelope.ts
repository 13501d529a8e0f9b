// A failure gets the code of the command it comes from; the envelope is written in one place, report-failure.ts.
import { asCommandFailure, CommandFailure } from '../failure.ts';

/** Runs a command; `code` is what a program is told when it fails. */
export async function inEnvelope(code: string, work: () => Promise<number>): Promise<number> {
  try {
    return await work();
  } catch (thrown) {
    const error = asCommandFailure(thrown);
    throw error instanceof CommandFailure ? new CommandFailure(error.exitCode, error.message, error.hint, error.code ?? code) : error;
  }
}
