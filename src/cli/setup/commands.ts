// The commands that set things up. What they need is loaded when one of them runs.
import type { Command } from 'commander';
import type { AddFlags } from '../agents/edit-agents.ts';
import type { ImportFlags } from '../agents/import-agents.ts';
import type { DoctorFlags } from '../doctor/doctor.ts';
import type { ConfigFlags } from '../resolve-config.ts';
import { collect } from '../run/commands.ts';
import type { ConnectFlags } from './connect.ts';
import type { InitFlags } from './init.ts';
import type { ChangeFlags } from './show-change.ts';
import type { ShowFlags } from './show-config.ts';

type Finish = (code: number) => void;

const example = (line: string): string => `\nExample:\n  ${line}`;

/** Options of every command that edits a file. */
function changing(command: Command): Command {
  return command.option('--dry-run', 'show the change, write nothing').option('--json', 'for programs');
}

function ownConfig(command: Command): Command {
  return command.option('--config <file>', 'the configuration to edit, instead of your own');
}

/** `agents add` and `agents remove`. `args` are the words behind `--`. */
export function addAgentEditing(agents: Command, args: readonly string[], finish: Finish): void {
  changing(ownConfig(agents.command('add')))
    .description('add an agent of the catalogue that comes with us, or any other by its command, to your configuration')
    .argument('[id]', "the agent's id in the catalogue; with --command, the name it gets. Without it, the catalogue is listed")
    .option('--command <program>', 'the program to start; its arguments stand behind --')
    .option('--name <name>', 'the name it gets, instead of its id')
    .option('--env <variable>', 'NAME: taken from our environment when it starts; NAME=VALUE: for what is no secret', collect)
    .option('--install', 'install its npm package now, into a folder of our own, so that its start needs no network')
    .option('--force', 'replace an agent of that name')
    .addHelpText(
      'after',
      `${example('switchboard agents add claude-agent --dry-run')}\n  switchboard agents add mine --command our-agent -- --acp`,
    )
    .action(async (id: string | undefined, _: AddFlags, command: Command) => {
      const { addAgent, listCatalogue } = await import('../agents/edit-agents.ts');
      finish(await (id === undefined ? listCatalogue(command.optsWithGlobals()) : addAgent(id, args, command.optsWithGlobals())));
    });
  changing(ownConfig(agents.command('remove')))
    .description('take an agent out of your configuration')
    .argument('<name>', 'the agent')
    .addHelpText('after', example('switchboard agents remove gemini --dry-run'))
    .action(async (name: string, _: ConfigFlags & ChangeFlags, command: Command) => {
      finish(await (await import('../agents/edit-agents.ts')).removeAgent(name, command.optsWithGlobals()));
    });
}

/** `config show` and `config schema`. */
export function addConfigShowing(config: Command, finish: Finish): void {
  config
    .command('show')
    .description('every setting in force, as it is written; values of env, and what looks like a secret, are left out')
    .option('--config <file>', 'the configuration to use, instead of searching for one')
    .option('--origin', 'and the file, line and column it comes from, or "default"')
    .option('--json', 'for programs')
    .addHelpText('after', example('switchboard config show --origin'))
    .action(async (_: ShowFlags, command: Command) => {
      finish(await (await import('./show-config.ts')).configShow(command.optsWithGlobals()));
    });
  config
    .command('schema')
    .description('the JSON Schema of the configuration')
    .addHelpText('after', example('switchboard config schema > switchboard.schema.json'))
    .action(async () => finish((await import('./show-config.ts')).configSchema()));
}

/** `init`, `connect`, `disconnect`, `import`, `doctor` and `completion`. `args` are the words behind `--`. */
export function addSetupCommands(program: Command, args: readonly string[], finish: Finish): void {
  addInit(program, finish);
  addEditorCommands(program, finish);
  addDoctor(program, finish);
  addCompletion(program, args, finish);
}

function addEditorCommands(program: Command, finish: Finish): void {
  const inEditor = (name: string) =>
    changing(program.command(name).argument('[editor]', 'zed, jetbrains, vscode, acp-ui or acpx'))
      .option('--file <file>', "the editor's file, instead of the one in its usual place")
      .option('--name <name>', 'the name of the entry');
  inEditor('connect')
    .description("put the switchboard into an editor's list of agents; nothing else in its file is touched")
    .option('--agent <name>', 'the entry offers this agent alone')
    .option('--config <file>', 'the entry uses this configuration')
    .option('--print <kind>', 'print what to paste instead: lua (Neovim), elisp (Emacs), toml (Toad)')
    .addHelpText('after', `${example('switchboard connect zed --dry-run')}\n  switchboard connect --print lua`)
    .action(async (editor: string | undefined, _: ConnectFlags, command: Command) => {
      finish(await (await import('./connect.ts')).connectCommand(editor, command.optsWithGlobals()));
    });
  inEditor('disconnect')
    .description("take the switchboard out of an editor's list of agents")
    .addHelpText('after', example('switchboard disconnect zed'))
    .action(async (editor: string | undefined, _: ConnectFlags, command: Command) => {
      finish(await (await import('./connect.ts')).disconnectCommand(editor, command.optsWithGlobals()));
    });
  changing(ownConfig(program.command('import')))
    .description(
      "take over the agents of your editors into your configuration; secrets are not copied, and the editors' files stay as they are",
    )
    .option('--from <editors>', 'zed, jetbrains, vscode, acp-ui, acpx; several with commas. Else all that are found')
    .option('--file <file>', "the editor's file, instead of the one in its usual place; with one editor")
    .addHelpText('after', example('switchboard import --from zed,jetbrains --dry-run'))
    .action(async (_: ImportFlags, command: Command) => {
      finish(await (await import('../agents/import-agents.ts')).importCommand(command.optsWithGlobals()));
    });
}

function addInit(program: Command, finish: Finish): void {
  changing(ownConfig(program.command('init')))
    .description('set up: find the agents and editors on this machine, write a configuration, connect the editors')
    .option(
      '--yes',
      'ask nothing: take the agents that are installed, those of your editors, the policy "standard", and connect the editors',
    )
    .option('--policy <preset>', 'careful, standard, ci, readonly, or none')
    .option('--no-import', 'leave the agents of your editors where they are')
    .option('--no-connect', "leave the editors' files alone")
    .addHelpText('after', `${example('switchboard init')}\n  switchboard init --yes --policy careful --dry-run`)
    .action(async (_: InitFlags, command: Command) => {
      finish(await (await import('./init.ts')).initCommand(command.optsWithGlobals()));
    });
}

function addDoctor(program: Command, finish: Finish): void {
  program
    .command('doctor')
    .description('is this machine set up? Every finding says what, why and what to type next; exit code 8 if there is a problem')
    .option('--config <file>', 'the configuration to use, instead of searching for one')
    .option('--no-start', 'do not start the agents')
    .option('--json', 'for programs')
    .addHelpText('after', example('switchboard doctor'))
    .action(async (_: DoctorFlags, command: Command) => {
      finish(await (await import('../doctor/doctor.ts')).doctor(command.optsWithGlobals()));
    });
}

function addCompletion(program: Command, args: readonly string[], finish: Finish): void {
  program
    .command('completion')
    .description('print a script that completes our commands in your shell')
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
