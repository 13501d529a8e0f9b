// The commands that change the agents of a configuration. Each command's code is loaded when the command runs.
import { type Command, Option } from 'commander';
import type { ConfigFlags } from '../resolve-config.ts';
import { collect } from '../run/commands.ts';
import { asking, example, ownConfig } from '../setup/commands.ts';
import type { ChangeFlags } from '../setup/show-change.ts';
import type { AddFlags } from './add-agent.ts';
import type { SearchFlags } from './registry/search-agents.ts';
import type { UpdateFlags } from './registry/update-agents.ts';

type Finish = (code: number) => void;

const offline = (command: Command): Command =>
  command.option('--offline', 'use the last list of the registry, or the one that came with switchboard');

const trusting = (command: Command): Command =>
  command
    .option('--allow-scripts', 'let packages run their install scripts, and build Python packages')
    .option('--allow-unverified', 'install a binary for which the registry names no checksum, and pin the one that comes');

/** `args` holds the words after `--`. */
export function addAgentCommands(agents: Command, args: readonly string[], finish: Finish): void {
  offline(ownConfig(agents.command('search')))
    .description('Search the registry for agents')
    .argument('[words...]', 'all of them must occur in the id, the name or the description; without any, list all agents')
    .option('--json', 'print JSON')
    .addHelpText('after', example('switchboard agents search coding'))
    .action(async (words: readonly string[], _: SearchFlags, command: Command) => {
      finish(await (await import('./registry/search-agents.ts')).searchAgents(words, command.optsWithGlobals()));
    });
  addAdding(agents, args, finish);
  trusting(offline(asking(ownConfig(agents.command('update')))))
    .description('Install the newest versions of agents from the registry; shows what changes and asks')
    .argument('[agent]', 'NAME, or NAME@VERSION for another version (default: all that were installed)')
    .option('--preview', 'the preview version')
    .option('--force', 'install the present version again')
    .addHelpText('after', `${example('switchboard agents update --dry-run')}\n  switchboard agents update gemini --yes`)
    .action(async (name: string | undefined, _: UpdateFlags, command: Command) => {
      finish(await (await import('./registry/update-agents.ts')).updateAgents(name, command.optsWithGlobals()));
    });
  asking(ownConfig(agents.command('rollback')))
    .description('Go back to the version of an agent before its last update; needs no network')
    .argument('<name>', 'the agent name')
    .addHelpText('after', example('switchboard agents rollback gemini'))
    .action(async (name: string, _: UpdateFlags, command: Command) => {
      finish(await (await import('./registry/update-agents.ts')).rollbackAgent(name, command.optsWithGlobals()));
    });
  asking(ownConfig(agents.command('remove')))
    .description('Remove an agent from your configuration, and what was installed for it')
    .argument('<name>', 'the agent name')
    .addHelpText('after', example('switchboard agents remove gemini --dry-run'))
    .action(async (name: string, _: ConfigFlags & ChangeFlags, command: Command) => {
      finish(await (await import('./remove-agent.ts')).removeAgent(name, command.optsWithGlobals()));
    });
}

function addAdding(agents: Command, args: readonly string[], finish: Finish): void {
  trusting(offline(asking(ownConfig(agents.command('add')))))
    .description('Add an agent: a program on your PATH, one that is installed from the registry, or any command')
    .argument(
      '[id]',
      'the id in the registry, with @VERSION for a certain one; or the agent name with --command; without it, list the catalogue',
    )
    .option('--command <program>', 'the program to start; put its arguments after --')
    .option('--name <name>', 'the agent name (default: its id)')
    .option('--env <variable>', 'NAME: read from the environment at start; NAME=VALUE: only for values that are not secret', collect)
    .option('--install', 'install an own copy, even if the agent is on your PATH')
    .option('--no-install', 'install nothing: npx or uvx fetch the agent when it starts')
    .addOption(new Option('--from <kind>', 'for agents that come in several ways').choices(['npx', 'uvx', 'binary']))
    .option('--preview', 'the preview version')
    .option('--force', 'replace an existing agent of that name')
    .addHelpText(
      'after',
      `${example('switchboard agents add claude-agent --dry-run')}\n  switchboard agents add mine --command our-agent -- --acp`,
    )
    .action(async (id: string | undefined, _: AddFlags, command: Command) => {
      const flags: AddFlags = command.optsWithGlobals();
      finish(
        await (id === undefined
          ? (await import('./catalogue-entry.ts')).listCatalogue(flags)
          : (await import('./add-agent.ts')).addAgent(id, args, flags)),
      );
    });
}
