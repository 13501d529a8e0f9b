// Options before a subcommand mean the same as after it: `switchboard --config FILE run` is `switchboard run --config FILE`.
import { type Command, Option } from 'commander';
import { loadConfig } from '../config/load.ts';
import { CommandFailure } from './failure.ts';
import { nameConfiguration } from './output.ts';
import { surroundings } from './resolve-config.ts';

const USAGE = 2;

/** Adds --config to every command, and passes options of the commands above on to the command that runs. */
export function inheritOptions(program: Command): void {
  const checking = new Set<Command>();
  addConfig(program, checking);
  program.hook('preAction', async (_, command) => {
    for (let above = command.parent; above; above = above.parent) passOn(above, command);
    const { config } = command.opts<{ config?: string | readonly string[] }>();
    nameConfiguration(typeof config === 'object' ? config.find((one) => !one.includes('=')) : config);
    // The command needs no configuration, but a typo must not pass unnoticed.
    if (checking.has(command) && typeof config === 'string') await loadConfig({ ...surroundings({ config }), isOnlyShown: true });
  });
}

/** `checking` collects the commands that would not read the file. */
function addConfig(command: Command, checking: Set<Command>): void {
  if (!command.options.some(({ long }) => long === '--config')) {
    command.addOption(new Option('--config <file>', 'use this configuration file').hideHelp());
    checking.add(command);
  }
  for (const below of command.commands) addConfig(below, checking);
}

function passOn(above: Command, command: Command): void {
  for (const { long, attributeName } of above.options.map((option) => ({ long: option.long, attributeName: option.attributeName() }))) {
    if (above.getOptionValueSource(attributeName) !== 'cli') continue;
    const value: unknown = above.getOptionValue(attributeName);
    const option = command.options.find((one) => one.long === long);
    if (!option)
      throw new CommandFailure(USAGE, `switchboard ${pathOf(command)} has no option ${long}`, `see: switchboard ${pathOf(command)} --help`);
    const own: unknown = command.getOptionValue(attributeName);
    const isGiven = command.getOptionValueSource(attributeName) === 'cli';
    if (isGiven && !Array.isArray(own) && own !== value)
      throw new CommandFailure(USAGE, `${long} is given twice, with different values`, 'give it once, before or after the command');
    // A repeatable option collects its values; any other reads them again by its own rules.
    const read = option.parseArg && typeof value === 'string' ? option.parseArg(value, isGiven ? own : undefined) : value;
    command.setOptionValueWithSource(attributeName, read, 'cli');
  }
}

function pathOf(command: Command): string {
  return command.parent?.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();
}
