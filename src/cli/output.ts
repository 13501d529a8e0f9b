// How commands show what they found: a table for people, one envelope for programs.
import { withoutControls } from '../control-characters.ts';

export function printJson(data: unknown): void {
  process.stdout.write(`${JSON.stringify({ ok: true, data, warnings: [] })}\n`);
}

/** What was found belongs to the failure. */
export function printJsonOfFailure(error: { readonly code: string; readonly message: string; readonly hint: string }, data: unknown): void {
  process.stdout.write(`${JSON.stringify({ ok: false, error, data, warnings: [] })}\n`);
}

/** Columns as wide as their longest cell; the last one as long as it is, or as there is room for in `width`. */
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

/** Narrower than this, it says nothing; then the line wraps. */
const LEAST_LAST = 20;

/** Words for people: always on stderr, since stdout belongs to the protocol. */
export function notice(text: string): void {
  process.stderr.write(`switchboard: ${withoutControls(text)}\n`);
}

/** For a command that talks with a program: nothing more would come, and whoever typed it would wait in vain. */
export function noticeAtTerminal(awaited: string): void {
  if (process.stdin.isTTY)
    notice(
      `waiting for ${awaited} on stdin, but stdin is a terminal. Press Ctrl-C to stop. To prompt an agent from a terminal, use: switchboard run`,
    );
}
