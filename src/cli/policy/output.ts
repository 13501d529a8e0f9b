// How the policy commands speak: lines for people, one envelope for programs. What comes from agents cannot steer the terminal, and secrets
// that can be told by their form, by their place or from this environment are not shown.
import { escapeControls } from '../../control-characters.ts';
import { type Problem, renderPolicyProblem } from '../../policy/format/problem.ts';
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

/** What is wrong with a file: each thing on stderr, and all of it in the envelope where one was asked for. */
export function complainAbout(code: string, problems: readonly Problem[], { json }: { readonly json?: true }): void {
  for (const problem of problems) complain(renderPolicyProblem(problem));
  const [first] = problems;
  if (!json || first === undefined) return;
  const more = problems.length === 1 ? '' : ` (and ${problems.length - 1} more)`;
  printError(code, `${first.message}${more}`, first.hint ?? 'error.data has the location of each problem', problems);
}

// A failure gets the code of the command it comes from; the envelope is written in one place, report-failure.ts.
/** Runs a command; `code` is what a program is told when it fails. */
export async function inEnvelope(code: string, work: () => Promise<number>): Promise<number> {
  try {
    return await work();
  } catch (thrown) {
    const error = asCommandFailure(thrown);
    throw error instanceof CommandFailure ? new CommandFailure(error.exitCode, error.message, error.hint, error.code ?? code) : error;
  }
}
