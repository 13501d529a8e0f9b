// Files named on the command line to be read. One rule: one that cannot be read is a mistake in the command (2). A configuration or a
// policy that cannot be read is one that cannot be used (6), and a file of our own is a failure (1).
import { errorCode, readOwn } from '../config/read-text.ts';
import { CommandFailure } from './failure.ts';

const USAGE = 2;

/** `what` says what it was to be: "the recording". */
export async function readInput(what: string, file: string): Promise<string> {
  return (await readOwn(file).catch((error: unknown) => refuse(what, file, error))).text;
}

export function refuse(what: string, file: string, error: unknown): never {
  throw new CommandFailure(USAGE, `${what} ${file} cannot be read (${errorCode(error)})`, 'check the path');
}
