// The command line: which words do what, and how a failure is told.
import { Command, Option } from 'commander';
import { VERSION } from '../app/package-files.ts';
import { didYouMean } from '../policy/format/nearest.ts';
import { LEVELS } from '../store/defaults.ts';
import type { AcpOptions } from './acp.ts';
import type { AgentsFlags } from './agents/agents.ts';
import type { LoginFlags } from './agents/login.ts';
import type { DemoFlags } from './demo/demo.ts';
import { CommandFailure } from './failure.ts';
import { complainInOurWords, groupCommands } from './help.ts';
import type { McpOptions } from './mcp.ts';
import { addPolicyCommands } from './policy/policy.ts';
import { addAuditCommands, addRecordCommands } from './records/commands.ts';
import { printFailure } from './report-failure.ts';
import type { ConfigFlags } from './resolve-config.ts';
import { addCompareCommand, addRunCommand } from './run/commands.ts';
import type { ServeOptions } from './serve.ts';
import { addAgentEditing, addConfigShowing, addSetupCommands } from './setup/commands.ts';

const EXIT = { usage: 2 } as const;
const DEBUG = '--debug';

/** Runs the command; resolves to its exit code. */
export async function runCommand(argv: readonly string[]): Promise<number> {
  // Behind `--` stands what an editor passes on to an agent. Not for the parser: it would take a word of ours among it for a command.
  const divider = argv.indexOf('--');
  const mine = divider === -1 ? argv : argv.slice(0, divider);
  // For every command, wherever it stands; so it is not left to the parser.
  const ours = mine.filter((word) => word !== DEBUG);
  let code = 0;
  const program = createProgram(argv.slice(mine.length + 1), (result) => {
    code = result;
  });
  try {
    await program.parseAsync([...ours]);
    return code;
  } catch (error) {
    return printFailure(error, { isJson: ours.includes('--json'), isDebug: ours.length < mine.length });
  }
}

/** The words and options there are; what one does is loaded when it is called. */
export function createProgram(agentArgs: readonly string[], finish: (code: number) => void): Command {
  const program = new Command('switchboard')
    .description('One editor connection, many ACP agents.')
    .version(VERSION)
    .exitOverride()
    .enablePositionalOptions()
    .showSuggestionAfterError()
    .helpCommand(true);
  framingOption(acpOptions(program))
    .option(DEBUG, 'with any command: say of a failure where in the code it happened')
    .usage('[options] [command]')
    .argument('[words...]')
    .addHelpText(
      'after',
      example('switchboard demo', 'Without a command and with a pipe for stdin, it is switchboard acp, with its options.'),
    )
    .action(async ([word]: string[], flags: AcpFlags) => {
      if (word !== undefined) throw unknownCommand(word, program);
      if (process.stdin.isTTY && flags.auth === undefined) return program.outputHelp();
      finish(await runAcp(agentArgs, flags));
    });
  framingOption(acpOptions(program.command('acp').description('the proxy on stdio: what an editor starts')))
    .option('--console [port]', 'the web console beside it: its sessions in the browser, its questions answerable there too')
    .addHelpText('after', example('switchboard acp --config ~/switchboard.jsonc'))
    .action(async (_: AcpFlags, command: Command) => finish(await runAcp(agentArgs, command.optsWithGlobals())));
  program
    .command('demo')
    .description('a short tour with the embedded agents; needs no account, key or network')
    .option('--fast', 'without the pauses for reading')
    .addHelpText('after', example('switchboard demo --fast'))
    .action(async (flags: DemoFlags) => finish(await (await import('./demo/demo.ts')).demo(flags)));
  addMcpCommands(program, finish);
  acpOptions(program.command('serve'))
    .description('the web console: every session, question and frame in the browser, on this machine only')
    .option('--port <port>', 'listen there; any free port unless given')
    .option('--open', 'open it in the browser')
    .addHelpText('after', example('switchboard serve --open'))
    .action(async (_: ServeOptions, command: Command) => finish(await (await import('./serve.ts')).serve(command.optsWithGlobals())));
  addRunCommand(program, agentArgs, finish);
  addCompareCommand(program, agentArgs, finish);
  addAgentsCommands(program, agentArgs, finish);
  addAuthCommand(program, finish);
  addConfigCommands(program, finish);
  addPolicyCommands(program, finish);
  addAuditCommands(program, finish);
  addRecordCommands(program, finish);
  addSetupCommands(program, agentArgs, finish);
  groupCommands(program);
  complainInOurWords(program);
  return program;
}

function addMcpCommands(program: Command, finish: (code: number) => void): void {
  const mcp = acpOptions(program.command('mcp'))
    .description('the agents as tools of an MCP client, on stdio')
    .option('--http [port]', 'on loopback HTTP instead, with a token; any free port unless given')
    .addHelpText('after', example('claude mcp add agents -- switchboard mcp'))
    .action(async (_: McpOptions, command: Command) => finish(await (await import('./mcp.ts')).mcp(command.optsWithGlobals())));
  configOption(mcp.command('approve'))
    .description('let the tools of a server in mcp_servers be what they are now, after they have changed')
    .argument('<server>', 'its name')
    .addHelpText('after', example('switchboard mcp approve docs'))
    .action(async (name: string, _: McpOptions, command: Command) =>
      finish(await (await import('./mcp.ts')).approve(name, command.optsWithGlobals())),
    );
}

function addAgentsCommands(program: Command, agentArgs: readonly string[], finish: (code: number) => void): void {
  const agents = program
    .command('agents')
    .description('which agents are configured, how they are, and whether they start')
    .addHelpText('after', example('switchboard agents test'));
  configOption(agents.command('list'))
    .description('the configured agents, and their processes in the proxies that run now; * marks the default')
    .option('--json', 'for programs')
    .addHelpText('after', example('switchboard agents list --json'))
    .action(async (_: AgentsFlags, command: Command) => {
      finish(await (await import('./agents/agents.ts')).listAgents(command.optsWithGlobals()));
    });
  configOption(agents.command('test'))
    .description(
      'start an agent (or all of them), initialize it, say what it can do, end it; exit code 7 if one does not start, 3 if it stays silent',
    )
    .argument('[name]', 'the agent to test')
    .option('--json', 'for programs')
    .addHelpText('after', example('switchboard agents test claude'))
    .action(async (name: string | undefined, _: AgentsFlags, command: Command) => {
      finish(await (await import('./agents/test-agents.ts')).testAgents(name, command.optsWithGlobals()));
    });
  addAgentEditing(agents, agentArgs, finish);
}

function addAuthCommand(program: Command, finish: (code: number) => void): void {
  configOption(program.command('auth'))
    .description('log in to an agent: the ways it offers, or one of them taken; exit code 7 if it does not work')
    .argument('<agent>', 'its name')
    .argument('[method]', 'the way; left out, they are listed')
    .option('--json', 'for programs')
    .addHelpText('after', example('switchboard auth claude'))
    .action(async (agent: string, method: string | undefined, _: LoginFlags, command: Command) =>
      finish(await (await import('./agents/login.ts')).login(agent, method, command.optsWithGlobals())),
    );
}

function addConfigCommands(program: Command, finish: (code: number) => void): void {
  const config = program
    .command('config')
    .description('which configuration is used, whether it is valid, which of it is trusted')
    .addHelpText('after', example('switchboard config validate'));
  configOption(config.command('path'))
    .description('the files that are used, one a line, the strongest last')
    .addHelpText('after', example('switchboard config path'))
    .action(async (_: ConfigFlags, command: Command) => {
      finish(await (await import('./setup/config.ts')).configPath(command.optsWithGlobals()));
    });
  configOption(config.command('validate'))
    .description('name every problem of the configuration, or of one file; exit code 6 if there is any')
    .argument('[file]', 'the file to check, instead of those that would be used')
    .addHelpText('after', example('switchboard config validate switchboard.jsonc'))
    .action(async (file: string | undefined, _: ConfigFlags, command: Command) => {
      finish(await (await import('./setup/config.ts')).configValidate(file, command.optsWithGlobals()));
    });
  config
    .command('trust')
    .description("let a project's file start programs and set limits, as long as its content stays what it is now")
    .argument('<file>', 'the file to trust; read it first')
    .addHelpText('after', example('switchboard config trust ./switchboard.jsonc'))
    .action(async (file: string) => finish(await (await import('./setup/config.ts')).configTrust(file)));
  addConfigShowing(config, finish);
}

const example = (line: string, note?: string): string => `\nExample:\n  ${line}${note === undefined ? '' : `\n\n${note}`}`;

type AcpFlags = AcpOptions & { readonly auth?: string };

function configOption(command: Command): Command {
  return command.option('--config <file>', 'the configuration to use, instead of searching for one');
}

function acpOptions(command: Command): Command {
  return configOption(command)
    .option('--agent <name>', 'use this agent alone')
    .option('--policy <policy>', 'a policy besides those of the configuration: a file, or a preset (careful, standard, ci, readonly)')
    .addOption(
      new Option('--policy-mode <mode>', 'observe: block nothing, and write down what would have been').choices(['enforce', 'observe']),
    )
    .option(
      '--record <file>',
      'write all that passes to a file, redacted, for switchboard replay; into a directory, a file for each session',
    )
    .addOption(new Option('--log-level <level>', 'how much is said on stderr, instead of log.level').choices(LEVELS))
    .addOption(
      new Option('--auth <agent>', 'run this agent in the terminal for a login; what editors call for a terminal login').hideHelp(),
    );
}

function framingOption(command: Command): Command {
  const framings = ['ndjson', 'content-length'];
  return command.addOption(
    new Option('--framing <framing>', "how the editor's messages are told apart (default: ndjson)").choices(framings),
  );
}

async function runAcp(agentArgs: readonly string[], flags: AcpFlags): Promise<number> {
  if (flags.auth !== undefined) return (await import('./agents/auth.ts')).auth(flags.auth, agentArgs, flags);
  if (agentArgs.length > 0) throw new CommandFailure(EXIT.usage, `unexpected argument "${agentArgs[0]}"`, 'see switchboard acp --help');
  return (await import('./acp.ts')).acp(flags);
}

function unknownCommand(word: string, program: Command): CommandFailure {
  const names = program.commands.map((command) => command.name()).filter((name) => !name.startsWith('__'));
  return new CommandFailure(EXIT.usage, `unknown command "${word}"`, didYouMean(word, names) ?? `commands are: ${names.join(', ')}`);
}
