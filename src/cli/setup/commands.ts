// The commands for setup. Each command's code is loaded when the command runs.
import type { Command } from 'commander';
import type { ImportFlags } from '../agents/import-agents.ts';
import { busOption } from '../bus/commands.ts';
import type { DoctorFlags } from '../doctor/doctor.ts';
import type { ConnectFlags } from './connect.ts';
import type { InitFlags } from './init.ts';
import type { ShowFlags } from './show-config.ts';

type Finish = (code: number) => void;

export const example = (line: string): string => `\nExample:\n  ${line}`;

/** Options of every command that edits a file. */
function changing(command: Command): Command {
  return command.option('--dry-run', 'show the change without writing it').option('--json', 'print JSON');
}

/** Also for commands that edit files of other programs, or much at once: at a terminal they ask first. */
export function asking(command: Command): Command {
  return changing(command).option('--yes', 'write without asking');
}

export function ownConfig(command: Command): Command {
  return command.option('--config <file>', 'edit this configuration (default: your own)');
}

/** `config show` and `config schema`. */
export function addConfigShowing(config: Command, finish: Finish): void {
  config
    .command('show')
    .description('Show all effective settings; env values and likely secrets are hidden')
    .option('--config <file>', 'use this configuration file')
    .option('--origin', 'also show the file, line and column of each setting, or "default"')
    .option('--json', 'print JSON')
    .addHelpText('after', example('switchboard config show --origin'))
    .action(async (_: ShowFlags, command: Command) => {
      finish(await (await import('./show-config.ts')).configShow(command.optsWithGlobals()));
    });
  config
    .command('schema')
    .description('Print the JSON Schema of the configuration')
    .addHelpText('after', example('switchboard config schema > switchboard.schema.json'))
    .action(async () => finish((await import('./show-config.ts')).configSchema()));
}

/** `init`, `connect`, `disconnect`, `import`, `doctor` and `completion`. `args` holds the words after `--`. */
export function addSetupCommands(program: Command, args: readonly string[], finish: Finish): void {
  addInit(program, finish);
  addEditorCommands(program, finish);
  addDoctor(program, finish);
  addCompletion(program, args, finish);
}

function addEditorCommands(program: Command, finish: Finish): void {
  const inEditor = (name: string) =>
    asking(program.command(name).argument('[editor]', 'zed, jetbrains, vscode, acp-ui or acpx'))
      .option('--file <file>', 'the settings file of the editor (default: its usual location)')
      .option('--name <name>', 'the name of the entry');
  inEditor('connect')
    .description('Add switchboard to the agents of an editor; the rest of its file stays unchanged')
    .option('--agent <name>', 'offer only this agent')
    .option('--config <file>', 'use this configuration file')
    .option('--daemon <url>', 'use the agents of the daemon at this address; auto: of your own, which is started if none runs')
    .option('--token-file <file>', 'with --daemon: the file with its token (default: SWITCHBOARD_TOKEN)')
    .option('--print <kind>', 'print a snippet to paste instead: lua (Neovim), elisp (Emacs), toml (Toad)')
    .addHelpText('after', `${example('switchboard connect zed --dry-run')}\n  switchboard connect --print lua`)
    .action(async (editor: string | undefined, _: ConnectFlags, command: Command) => {
      finish(await (await import('./connect.ts')).connectCommand(editor, command.optsWithGlobals()));
    });
  inEditor('disconnect')
    .description('Remove switchboard from the agents of an editor')
    .addHelpText('after', example('switchboard disconnect zed'))
    .action(async (editor: string | undefined, _: ConnectFlags, command: Command) => {
      finish(await (await import('./connect.ts')).disconnectCommand(editor, command.optsWithGlobals()));
    });
  asking(ownConfig(program.command('import')))
    .description(
      'Import the agents of your editors into your configuration; secrets are not copied, and the files of the editors stay unchanged',
    )
    .option('--from <editors>', 'zed, jetbrains, vscode, acp-ui, acpx; separate several with commas (default: all that are found)')
    .option('--file <file>', 'the settings file of the editor (default: its usual location); requires a single editor')
    .addHelpText('after', example('switchboard import --from zed,jetbrains --dry-run'))
    .action(async (_: ImportFlags, command: Command) => {
      finish(await (await import('../agents/import-agents.ts')).importCommand(command.optsWithGlobals()));
    });
}

function addInit(program: Command, finish: Finish): void {
  changing(ownConfig(program.command('init')))
    .description('Find the agents and editors on this machine, write a configuration and connect the editors')
    .option(
      '--yes',
      'ask nothing: use the installed agents, import those of your editors, set the "standard" policy and connect the editors',
    )
    .option('--policy <preset>', 'careful, standard, ci, readonly or none')
    .option('--default-agent <name>', 'the agent of sessions that name none (default: the first listed)')
    .option('--no-import', 'do not import the agents of your editors')
    .option('--no-connect', 'do not connect the editors')
    .addHelpText('after', `${example('switchboard init')}\n  switchboard init --yes --policy careful --dry-run`)
    .action(async (_: InitFlags, command: Command) => {
      finish(await (await import('./init.ts')).initCommand(command.optsWithGlobals()));
    });
}

function addDoctor(program: Command, finish: Finish): void {
  program
    .command('doctor')
    .description('Check the setup; each finding explains the problem and how to fix it; exit code 8 if there is a problem')
    .option('--config <file>', 'use this configuration file')
    .option('--no-start', 'do not start the agents')
    .addOption(busOption('check only this bus: an address, or a file of bus init'))
    .option('--json', 'print JSON')
    .addHelpText('after', example('switchboard doctor'))
    .action(async (_: DoctorFlags, command: Command) => {
      finish(await (await import('../doctor/doctor.ts')).doctor(command.optsWithGlobals()));
    });
}

function addCompletion(program: Command, args: readonly string[], finish: Finish): void {
  program
    .command('completion')
    .description('Print a completion script for your shell')
    .argument('<shell>', 'bash, zsh or fish')
    .addHelpText(
      'after',
      example('source <(switchboard completion bash)').replace('source', 'switchboard completion bash >> ~/.bashrc\n  source'),
    )
    .action(async (shell: string) => finish((await import('../completion.ts')).completion(shell)));
  program
    .command('__complete', { hidden: true })
    .action(async () => finish(await (await import('../completion.ts')).complete(program, args)));
}
