// Output of commands: tables for people, one JSON envelope for programs.
import { joinWords } from '../agents/shell-words.ts';
import { withoutControls } from '../control-characters.ts';

let configurationOption = '';

/** The file of `--config`: from now on, the commands in messages name it. */
export function nameConfiguration(file: string | undefined): void {
  configurationOption = file === undefined ? '' : `--config ${joinWords([file])} `;
}

/** The commands that read a configuration, as messages name them. */
const CONFIGURED =
  /\bswitchboard (?=(?:acp|auth|compare|connect|doctor|host|import|init|mcp|run|agents \w+|audit collect|bus create|config (?:path|validate|show)|policy (?:bundle publish|explain|replay)|serve --)\b)/g;

/** A message in which each command uses the configuration of this one, so that it does the same when a user repeats it. */
export const shownCommands = (text: string): string =>
  configurationOption === '' ? text : text.replace(CONFIGURED, (command) => command + configurationOption);

export function printJson(data: unknown): void {
  process.stdout.write(`${JSON.stringify({ ok: true, data, warnings: [] })}\n`);
}

/** A failure with the results so far. */
export function printJsonOfFailure(error: { readonly code: string; readonly message: string; readonly hint: string }, data: unknown): void {
  process.stdout.write(`${JSON.stringify({ ok: false, error, data, warnings: [] })}\n`);
}

/** Pads each column to its longest cell, and cuts the last column to fit `width`. */
export function printTable(head: readonly string[], rows: readonly (readonly string[])[], width?: number): void {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const lines = [head, ...rows].map((row) => {
    const cells = row.map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0)));
    const line = cells.join('  ').trimEnd();
    const room = Math.max(width ?? line.length, line.length - (cells.at(-1)?.length ?? 0) + LEAST_LAST);
    return line.length <= room ? `${line}\n` : `${line.slice(0, room - 1)}…\n`;
  });
  process.stdout.write(lines.join(''));
}

/** The last column is never cut below this; the line wraps instead. */
const LEAST_LAST = 20;

/** A message for the user, on stderr: stdout belongs to the protocol. */
export function notice(text: string): void {
  process.stderr.write(`switchboard: ${withoutControls(shownCommands(text))}\n`);
}

/** Warns a user who starts a command for programs in a terminal, where it would wait forever. */
export function noticeAtTerminal(awaited: string): void {
  if (process.stdin.isTTY)
    notice(
      `waiting for ${awaited} on stdin, but stdin is a terminal. Press Ctrl-C to stop. To prompt an agent from a terminal, use: switchboard run`,
    );
}
