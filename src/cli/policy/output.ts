// How the policy commands speak: lines for people, one envelope for programs. What comes from agents cannot steer the terminal.
import { type Problem, renderPolicyProblem, withoutControls } from '../../policy/problem.ts';

export function print(line: string): void {
  process.stdout.write(`${withoutControls(line)}\n`);
}

export function complain(line: string): void {
  process.stderr.write(`${withoutControls(line)}\n`);
}

export function printData(data: unknown, warnings: readonly string[] = []): void {
  process.stdout.write(`${JSON.stringify({ ok: true, data, warnings })}\n`);
}

export function printError(code: string, message: string, hint: string, data?: unknown): void {
  process.stdout.write(`${JSON.stringify({ ok: false, error: { code, message, hint, ...(data !== undefined && { data }) } })}\n`);
}

export function complainAbout(problems: readonly Problem[]): void {
  for (const problem of problems) complain(renderPolicyProblem(problem));
}
