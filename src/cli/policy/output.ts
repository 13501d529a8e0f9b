// Output of the policy commands: lines for people, one envelope for programs. Escapes control characters from agents, and hides secrets
// known by form, context or environment.
import { escapeControls } from '../../control-characters.ts';
import { type Problem, renderProblem } from '../../policy/format/problem.ts';
import { createRedactor, type Redactor } from '../../redaction/redact.ts';
import { redactJson } from '../../redaction/redact-json.ts';
import { asCommandFailure, CommandFailure } from '../failure.ts';

let redactor: Redactor | undefined;
function redact(text: string): string {
  redactor ??= createRedactor({}, process.env);
  return redactor(text);
}

export function print(line: string): void {
  process.stdout.write(`${escapeControls(redact(line))}\n`);
}

export function complain(line: string): void {
  process.stderr.write(`${escapeControls(redact(line))}\n`);
}

export function printData(data: unknown, warnings: readonly string[] = []): void {
  process.stdout.write(`${JSON.stringify({ ok: true, data: redactJson(data, redact), warnings })}\n`);
}

export function printError(code: string, message: string, hint: string, data?: unknown): void {
  process.stdout.write(`${JSON.stringify({ ok: false, error: { code, message, hint, ...(data !== undefined && { data }) } })}\n`);
}

/** Prints each problem of a file to stderr, and all of them in the envelope with --json. */
export function complainAbout(code: string, problems: readonly Problem[], { json }: { readonly json?: true }): void {
  for (const problem of problems) complain(renderProblem(problem));
  const [first] = problems;
  if (!json || first === undefined) return;
  const more = problems.length === 1 ? '' : ` (and ${problems.length - 1} more)`;
  printError(code, `${first.message}${more}`, first.hint ?? 'error.data has the location of each problem', problems);
}

/** Runs a command; `code` is the error code for programs. report-failure.ts prints the envelope. */
export async function inEnvelope(code: string, work: () => Promise<number>): Promise<number> {
  try {
    return await work();
  } catch (thrown) {
    const error = asCommandFailure(thrown);
    throw error instanceof CommandFailure ? new CommandFailure(error.exitCode, error.message, error.hint, error.code ?? code) : error;
  }
}
