// The tables of docs/commands.md, made from the definitions of the commands.
import type { Command } from 'commander';
import { allCommands } from '../../cli/command-tree.ts';

/** Every command has these, or nearly so: the page says it once. */
const EVERYWHERE = ['--config', '--version', '--help', '--debug', '--json'];

/** Commands that run the proxy take the options of `acp`; the page names these once. */
const PROXY = ['--agent', '--policy', '--policy-mode', '--record', '--log-level'];

/** A table for each group of `switchboard --help`. */
export function commandTables(): string {
  const groups = new Map<string, string[]>();
  for (const { words, command } of allCommands().filter(isDoing)) {
    const heading = (topOf(command).helpGroup() ?? '').replace(/:$/, '');
    groups.set(heading, [...(groups.get(heading) ?? []), rowOf(words, command)]);
  }
  return [...groups]
    .map(([heading, rows]) => `### ${heading}\n\n| command | does | options |\n| --- | --- | --- |\n${rows.join('\n')}`)
    .join('\n\n');
}

const isDoing = ({ words, command }: { words: readonly string[]; command: Command }) =>
  words.length > 0 && (command.commands.length === 0 || (command as unknown as { _actionHandler?: unknown })._actionHandler != null);

const topOf = (command: Command): Command => (command.parent?.parent ? topOf(command.parent) : command);

function rowOf(words: readonly string[], command: Command): string {
  const operands = command.registeredArguments.map((one) => {
    const name = `${one.name().toUpperCase()}${one.variadic ? '…' : ''}`;
    return one.required ? name : `[${name}]`;
  });
  const description = command.description().replaceAll('|', '\\|');
  return `| \`${[...words, ...operands].join(' ')}\` | ${description} | ${optionsOf(command)} |`;
}

function optionsOf(command: Command): string {
  const all = command.options.flatMap(({ long, hidden }) => (hidden || !long || EVERYWHERE.includes(long) ? [] : [long]));
  const isProxy = PROXY.every((option) => all.includes(option));
  const own = isProxy ? all.filter((option) => !PROXY.includes(option)) : all;
  return [...(isProxy ? ['those of the proxy'] : []), ...own.map((option) => `\`${option}\``)].join(', ');
}
