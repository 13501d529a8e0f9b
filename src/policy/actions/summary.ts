// A request in one line, for a log or a list. It may hold secrets of a command line: whoever writes it down redacts it first.
import type { Action } from './action.ts';

export function summaryOf(asked: Action): string {
  const lines = asked.commands.filter(({ where }) => where === 'line').map(({ argv }) => argv.map(quoted).join(' '));
  const within = asked.commands.filter(({ where }) => where === 'within').map(({ argv }) => argv.map(quoted).join(' '));
  const parts = [
    asked.mcp && `${asked.mcp.server}:${asked.mcp.tool}`,
    lines.length > 0 ? lines.join(' ; ') : asked.mcp === undefined && within.length > 0 ? `(within) ${within.join(' ; ')}` : undefined,
    asked.paths.length > 0 ? [...new Set(asked.paths.map(({ path }) => path))].join(', ') : undefined,
    asked.paths.length === 0 && lines.length === 0 && asked.hosts.length > 0 ? asked.hosts.join(', ') : undefined,
  ].filter((part) => part !== undefined);
  const what = parts.length > 0 ? parts.join(' ') : (asked.tool ?? '');
  return `${asked.action}${what === '' ? '' : `: ${what}`}${asked.opaque.length > 0 ? ` (opaque: ${asked.opaque.join(', ')})` : ''}`;
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
