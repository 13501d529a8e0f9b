// An action in one line, for logs and lists. A command line may contain secrets: redact the summary before writing it anywhere.
import type { Action, Command } from './action.ts';

export function summaryOf(action: Action): string {
  const lines = action.commands.filter(({ where }) => where === 'line').map(lineOf);
  const within = action.commands.filter(({ where }) => where === 'within').map(lineOf);
  const paths = [...new Set(action.paths.map(({ path }) => path))].join(', ');
  const parts = [
    action.mcp && `${action.mcp.server}:${action.mcp.tool}`,
    lines.length > 0 ? lines.join(' ; ') : action.mcp === undefined && within.length > 0 ? `(within) ${within.join(' ; ')}` : undefined,
    // Paths that an agent reports with a command are not words of the command.
    paths === '' ? undefined : lines.length > 0 ? `(paths: ${paths})` : paths,
    action.paths.length === 0 && lines.length === 0 && action.hosts.length > 0 ? action.hosts.join(', ') : undefined,
  ].filter((part) => part !== undefined);
  const what = parts.length > 0 ? parts.join(' ') : (action.tool ?? '');
  return `${action.kind}${what === '' ? '' : `: ${what}`}${action.opaque.length > 0 ? ` (opaque: ${action.opaque.join(', ')})` : ''}`;
}

/** With the files that the shell opens for it: a rule may be about them. */
function lineOf({ argv, redirects }: Command): string {
  return [...argv.map(quoted), ...redirects.map(({ path, access }) => `${access === 'read' ? '<' : '>'} ${quoted(path)}`)].join(' ');
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
