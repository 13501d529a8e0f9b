// An action in one line, for logs and lists. A command line may contain secrets: redact the summary before writing it anywhere.
import type { Action } from './action.ts';

export function summaryOf(action: Action): string {
  const lines = action.commands.filter(({ where }) => where === 'line').map(({ argv }) => argv.map(quoted).join(' '));
  const within = action.commands.filter(({ where }) => where === 'within').map(({ argv }) => argv.map(quoted).join(' '));
  const parts = [
    action.mcp && `${action.mcp.server}:${action.mcp.tool}`,
    lines.length > 0 ? lines.join(' ; ') : action.mcp === undefined && within.length > 0 ? `(within) ${within.join(' ; ')}` : undefined,
    action.paths.length > 0 ? [...new Set(action.paths.map(({ path }) => path))].join(', ') : undefined,
    action.paths.length === 0 && lines.length === 0 && action.hosts.length > 0 ? action.hosts.join(', ') : undefined,
  ].filter((part) => part !== undefined);
  const what = parts.length > 0 ? parts.join(' ') : (action.tool ?? '');
  return `${action.kind}${what === '' ? '' : `: ${what}`}${action.opaque.length > 0 ? ` (opaque: ${action.opaque.join(', ')})` : ''}`;
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
