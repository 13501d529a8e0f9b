// The command line: the commands, their options, and how failures are reported.
import { Command, Option } from 'commander';
import { VERSION } from '../app/package-files.ts';
import { didYouMean } from '../policy/format/nearest.ts';
import { LEVELS } from '../store/defaults.ts';
import type { AcpOptions } from './acp.ts';
import type { AgentsFlags } from './agents/agents.ts';
import type { LoginFlags } from './agents/auth.ts';
import { addAgentCommands } from './agents/commands.ts';
import { addBusCommands, busOption } from './bus/commands.ts';
import type { DemoFlags } from './demo/demo.ts';
import { CommandFailure } from './failure.ts';
import { formatUsageErrors, groupCommands, namePages } from './help.ts';
import { inheritOptions } from './inherited-options.ts';
import type { McpOptions } from './mcp/mcp.ts';
import { addPolicyCommands } from './policy/policy.ts';
import { addAuditCommands, addRecordCommands } from './records/commands.ts';
import { printFailure } from './report-failure.ts';
import type { ConfigFlags } from './resolve-config.ts';
import { addCompareCommand, addRunCommand } from './run/commands.ts';
import type { ServeOptions } from './serve/serve.ts';
import type { TokenFlags } from './serve/token.ts';
import { addConfigShowing, addSetupCommands } from './setup/commands.ts';

const EXIT = { usage: 2 } as const;
const DEBUG = '--debug';

/** Runs the command; resolves to its exit code. */
export async function runCommand(argv: readonly string[]): Promise<number> {
  // Arguments after `--` are for the agent. The parser must not see them: it could mistake one for a command.
  const divider = argv.indexOf('--');
  const mine = divider === -1 ? argv : argv.slice(0, divider);
  // Every command accepts --debug in any position, which the parser does not support.
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

/** The commands and their options. Each command's code is loaded when the command runs. */
export function createProgram(agentArgs: readonly string[], finish: (code: number) => void): Command {
  const program = new Command('switchboard')
    .description('Connect one editor to many ACP agents.')
    .version(VERSION)
    .exitOverride()
    .enablePositionalOptions()
    .showSuggestionAfterError()
    .helpCommand(false);
  framingOption(acpOptions(program))
    .option(DEBUG, 'with any command: show the stack trace of a failure')
    .usage('[options] [command]')
    .argument('[words...]')
    .addHelpText(
      'after',
      example('switchboard demo', 'Without a command, and with stdin not a terminal, switchboard runs "switchboard acp".'),
    )
    .action(async ([word]: string[], flags: AcpFlags) => {
      if (word !== undefined) throw unknownCommand(word, program);
      if (process.stdin.isTTY && flags.auth === undefined) return program.outputHelp();
      finish(await runAcp(agentArgs, flags));
    });
  framingOption(acpOptions(program.command('acp').description('Run the proxy on stdio; editors start this command')))
    .addOption(busOption())
    .option('--console [port]', 'also open the web console, which shows the sessions and can answer permission requests')
    .option(
      '--connect <url>',
      'run no agents here: connect stdio to the daemon at this address; auto: to your own, and start it if none runs',
    )
    .option('--token-file <file>', 'with --connect: read the token from this file (default: the variable SWITCHBOARD_TOKEN)')
    .addHelpText('after', example('switchboard acp --config ~/switchboard.jsonc'))
    .action(async (_: AcpFlags, command: Command) => finish(await runAcp(agentArgs, command.optsWithGlobals())));
  program
    .command('demo')
    .description('Take a short tour with the built-in demo agents; needs no account, API key or network')
    .option('--fast', 'skip the pauses')
    .addHelpText('after', example('switchboard demo --fast'))
    .action(async (flags: DemoFlags) => finish(await (await import('./demo/demo.ts')).demo(flags)));
  addMcpCommands(program, finish);
  const serve = acpOptions(program.command('serve'))
    .addOption(busOption())
    .description('Run the daemon: the web console, and /acp for clients with a token')
    .option('--port <port>', 'the port to listen on (default: any free port)')
    .option('--listen <host:port>', 'the address to listen on (default: 127.0.0.1 and any free port); other machines need TLS')
    .option('--tls-cert <file>', 'serve TLS with this certificate (PEM)')
    .option('--tls-key <file>', 'the key of the certificate (PEM)')
    .option('--behind-tls-proxy', 'a proxy in front ends TLS: allow an address that other machines reach, without TLS')
    .option('--no-console', 'serve no web console')
    .option('--example', 'also serve /example, a small web page that uses /ws with a token')
    .option('--drain-seconds <seconds>', 'on SIGTERM, how long running turns may take to end (default: 0)')
    .option('--json', 'print the address as one line of JSON')
    .option('--open', 'open the console in the browser')
    .option('--background', 'run in the background: one daemon per user; see serve status and serve stop')
    .addOption(new Option('--in-background').hideHelp())
    .addHelpText('after', example('switchboard serve --open'))
    .action(async (_: ServeOptions, command: Command) => {
      const flags = command.optsWithGlobals<ServeOptions & { background?: true }>();
      if (flags.background) finish(await (await import('./running-daemon/background.ts')).serveInBackground(flags));
      else finish(await (await import('./serve/serve.ts')).serve(flags));
    });
  addDaemonCommands(serve, finish);
  addTokenCommands(program, finish);
  addBusCommands(program, { acpOptions, configOption }, finish);
  addRunCommand(program, agentArgs, finish);
  addCompareCommand(program, agentArgs, finish);
  addAgentsCommands(program, agentArgs, finish);
  addAuthCommand(program, finish);
  addConfigCommands(program, finish);
  addPolicyCommands(program, finish);
  addAuditCommands(program, configOption, finish);
  addRecordCommands(program, finish);
  addSetupCommands(program, agentArgs, finish);
  program
    .command('help')
    .description('Show a page of the documentation, such as policy or troubleshooting, or the help of a command')
    .argument('[words...]', 'the name of a page, or a command')
    .addHelpText('after', example('switchboard help troubleshooting'))
    .action(async (words: string[]) => {
      await showHelp(program, words);
    });
  inheritOptions(program);
  groupCommands(program);
  namePages(program);
  formatUsageErrors(program);
  return program;
}

function addMcpCommands(program: Command, finish: (code: number) => void): void {
  const mcp = acpOptions(program.command('mcp'))
    .description('Offer the agents as tools to an MCP client, on stdio')
    .option('--http [port]', 'listen on loopback HTTP with a token instead (default port: any free one)')
    .addHelpText('after', example('claude mcp add agents -- switchboard mcp'))
    .action(async (_: McpOptions, command: Command) => finish(await (await import('./mcp/mcp.ts')).mcp(command.optsWithGlobals())));
  configOption(mcp.command('approve'))
    .description('Accept the changed tools of a server in mcp_servers')
    .argument('<server>', 'the server name')
    .addHelpText('after', example('switchboard mcp approve docs'))
    .action(async (name: string, _: McpOptions, command: Command) =>
      finish(await (await import('./mcp/mcp.ts')).approve(name, command.optsWithGlobals())),
    );
}

function addAgentsCommands(program: Command, agentArgs: readonly string[], finish: (code: number) => void): void {
  const agents = program
    .command('agents')
    .description('List, test, find, add, update and remove agents')
    .addHelpText('after', example('switchboard agents test'));
  configOption(agents.command('list'))
    .description('List the configured agents and their running processes; * marks the default')
    .option('--json', 'print JSON')
    .addHelpText('after', example('switchboard agents list --json'))
    .action(async (_: AgentsFlags, command: Command) => {
      finish(await (await import('./agents/agents.ts')).listAgents(command.optsWithGlobals()));
    });
  configOption(agents.command('test'))
    .description(
      'Start one or all agents, initialize them and show what they support; exit code 7 if an agent does not start, 3 if it does not answer',
    )
    .argument('[name]', 'the agent to test (default: all)')
    .option('--json', 'print JSON')
    .option(
      '--probe',
      'also run one turn in an empty directory, refuse every permission request, and show what the agent did without asking',
    )
    .addHelpText('after', example('switchboard agents test claude --probe'))
    .action(async (name: string | undefined, _: AgentsFlags, command: Command) => {
      finish(await (await import('./agents/test-agents.ts')).testAgents(name, command.optsWithGlobals()));
    });
  addAgentCommands(agents, agentArgs, finish);
}

function addDaemonCommands(serve: Command, finish: (code: number) => void): void {
  serve
    .command('status')
    .description('Show your daemon and its clients; exit code 4 if none runs')
    .option('--json', 'print JSON')
    .addHelpText('after', example('switchboard serve status'))
    .action(async (_: unknown, command: Command) =>
      finish(await (await import('./running-daemon/background.ts')).daemonStatus(command.optsWithGlobals())),
    );
  serve
    .command('stop')
    .description('Stop your daemon and its agents; exit code 4 if none runs')
    .option('--json', 'print JSON')
    .addHelpText('after', example('switchboard serve stop'))
    .action(async (_: unknown, command: Command) =>
      finish(await (await import('./running-daemon/background.ts')).stopDaemon(command.optsWithGlobals())),
    );
}

function addTokenCommands(program: Command, finish: (code: number) => void): void {
  const token = program
    .command('token')
    .description('Create, list and revoke the tokens of clients that connect over the network')
    .addHelpText('after', example('switchboard token create laptop --role client --expires 30d'));
  token
    .command('create')
    .description('Create a token and print it once; only its hash is stored')
    .argument('<name>', 'who will hold it: its sessions belong to this name')
    .requiredOption('--role <role>', 'owner (everything), client (its own sessions), observer (looks, does not act) or metrics')
    .option('--expires <time>', 'how long it is valid, such as 30d, 12h or 2w (default: until it is revoked)')
    .option('--json', 'print JSON')
    .addHelpText('after', example('switchboard token create laptop --role client --expires 30d'))
    .action(async (name: string, flags: TokenFlags) => finish((await import('./serve/token.ts')).tokenCreate(name, flags)));
  token
    .command('list')
    .description('List the tokens: names, roles and expiry')
    .option('--json', 'print JSON')
    .addHelpText('after', example('switchboard token list'))
    .action(async (flags: TokenFlags) => finish((await import('./serve/token.ts')).tokenList(flags)));
  token
    .command('revoke')
    .description('Revoke a token; a running daemon ends its connections')
    .argument('<name>', 'the name of the token')
    .option('--json', 'print JSON')
    .addHelpText('after', example('switchboard token revoke laptop'))
    .action(async (name: string, flags: TokenFlags) => finish((await import('./serve/token.ts')).tokenRevoke(name, flags)));
}

function addAuthCommand(program: Command, finish: (code: number) => void): void {
  const auth = configOption(program.command('auth'))
    .description('List the login methods of an agent, or log in with one; exit code 7 if the login fails')
    .argument('<agent>', 'the agent name')
    .argument('[method]', 'the login method; without it, list the methods')
    .option('--json', 'print JSON')
    .addHelpText('after', example('switchboard auth claude'))
    .action(async (agent: string, method: string | undefined, _: LoginFlags, command: Command) =>
      finish(await (await import('./agents/auth.ts')).login(agent, method, command.optsWithGlobals())),
    );
  configOption(auth.command('mcp'))
    .description('Log in to a server in mcp_servers with OAuth; exit code 7 if the login fails')
    .argument('<server>', 'the server name')
    .option('--json', 'print JSON')
    .addHelpText('after', example('switchboard auth mcp docs'))
    .action(async (name: string, _: LoginFlags, command: Command) =>
      finish(await (await import('./agents/auth-mcp.ts')).loginToMcp(name, command.optsWithGlobals())),
    );
}

function addConfigCommands(program: Command, finish: (code: number) => void): void {
  const config = program
    .command('config')
    .description('Show, validate and trust the configuration')
    .addHelpText('after', example('switchboard config validate'));
  configOption(config.command('path'))
    .description('List the configuration files in use; the last one takes precedence')
    .addHelpText('after', example('switchboard config path'))
    .action(async (_: ConfigFlags, command: Command) => {
      finish(await (await import('./setup/config.ts')).configPath(command.optsWithGlobals()));
    });
  configOption(config.command('validate'))
    .description('Report every problem in the configuration or in one file; exit code 6 if there is one')
    .argument('[file]', 'the file to check (default: the files in use)')
    .addHelpText('after', example('switchboard config validate switchboard.jsonc'))
    .action(async (file: string | undefined, _: ConfigFlags, command: Command) => {
      finish(await (await import('./setup/config.ts')).configValidate(file, command.optsWithGlobals()));
    });
  config
    .command('trust')
    .description('Allow a project configuration to start programs and set limits, until its content changes')
    .argument('<file>', 'the file to trust; review it first')
    .addHelpText('after', example('switchboard config trust ./switchboard.jsonc'))
    .action(async (file: string) => finish(await (await import('./setup/config.ts')).configTrust(file)));
  addConfigShowing(config, finish);
}

const example = (line: string, note?: string): string => `\nExample:\n  ${line}${note === undefined ? '' : `\n\n${note}`}`;

type AcpFlags = AcpOptions & { readonly auth?: string; readonly connect?: string; readonly tokenFile?: string };

function configOption(command: Command): Command {
  return command.option('--config <file>', 'use this configuration file');
}

function acpOptions(command: Command): Command {
  return configOption(command)
    .option('--agent <name>', 'use only this agent')
    .option('--policy <policy>', 'add a policy: a file or a preset (careful, standard, ci, readonly)')
    .addOption(new Option('--policy-mode <mode>', 'observe: block nothing, but log what would be blocked').choices(['enforce', 'observe']))
    .option('--record <file>', 'record all frames, redacted, for switchboard replay; given a directory, write one file per session')
    .addOption(new Option('--log-level <level>', 'how much to log on stderr; overrides log.level').choices(LEVELS))
    .addOption(new Option('--auth <agent>', 'run this agent in the terminal to log in; editors use this option').hideHelp());
}

function framingOption(command: Command): Command {
  const framings = ['ndjson', 'content-length'];
  return command.addOption(new Option('--framing <framing>', 'the message framing of the editor (default: ndjson)').choices(framings));
}

async function runAcp(agentArgs: readonly string[], flags: AcpFlags): Promise<number> {
  if (flags.auth !== undefined) return (await import('./agents/terminal-login.ts')).auth(flags.auth, agentArgs, flags);
  if (agentArgs.length > 0) throw new CommandFailure(EXIT.usage, `unexpected argument "${agentArgs[0]}"`, 'run: switchboard acp --help');
  const { connect, ...rest } = flags;
  if (connect !== undefined) return (await import('./serve/acp-connect.ts')).acpConnect({ ...rest, connect });
  return (await import('./acp.ts')).acp(flags);
}

async function showHelp(program: Command, words: readonly string[]): Promise<void> {
  const { pageNames, pageText } = await import('./show-page.ts');
  const pages = pageNames();
  const [first] = words;
  if (first === undefined) {
    program.outputHelp();
    if (pages.length > 0) process.stdout.write(`\nPages: switchboard help NAME\n  ${pages.join(', ')}\n`);
    return;
  }
  if (words.length === 1 && pages.includes(first)) {
    process.stdout.write(pageText(first, Math.min(process.stdout.columns || 100, 120)));
    return;
  }
  let command: Command | undefined = program;
  for (const word of words) command = command?.commands.find((below) => below.name() === word);
  if (command) return command.outputHelp();
  const names = [...pages, ...program.commands.map((below) => below.name())].filter((name) => !name.startsWith('__'));
  throw new CommandFailure(EXIT.usage, `no page or command "${words.join(' ')}"`, didYouMean(first, names) ?? `pages: ${pages.join(', ')}`);
}

function unknownCommand(word: string, program: Command): CommandFailure {
  const names = program.commands.map((command) => command.name()).filter((name) => !name.startsWith('__'));
  return new CommandFailure(EXIT.usage, `unknown command "${word}"`, didYouMean(word, names) ?? `commands: ${names.join(', ')}`);
}
