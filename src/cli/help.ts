// How `switchboard --help` groups the commands, with a short summary of each. Each command's own help has the details.
import { type Command, Help } from 'commander';

const LAST = 'Other:';

const GROUPS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'Start here:': {
    demo: 'take a tour; needs no account, API key or network',
    init: 'find agents and editors, write a configuration',
    doctor: 'check the setup and show how to fix problems',
  },
  'In a terminal:': {
    run: 'send one prompt to one agent',
    compare: 'send one prompt to several agents and compare',
    serve: 'run the web console, and serve network clients',
  },
  'For editors and programs:': {
    acp: 'run the proxy on stdio',
    mcp: 'offer the agents as tools to an MCP client',
    replay: 'play back a recording as an agent',
    host: 'run the agents of this machine for others',
    bus: 'set up NATS servers for several machines',
  },
  'Editors and agents:': {
    connect: 'add switchboard to an editor',
    disconnect: 'remove switchboard from an editor',
    import: 'import the agents of your editors',
    agents: 'list, test, find, add, update and remove agents',
    auth: 'log in to an agent',
    token: 'create, list and revoke access tokens',
  },
  'Settings and records:': {
    config: 'show and validate the configuration',
    policy: 'check and test a policy, explain a verdict',
    audit: 'read and verify the audit log',
    sessions: 'list, show and search sessions',
    changes: 'apply or drop what agents changed',
    logs: 'show the frame log',
    redact: 'remove secrets from a recording or log',
  },
  [LAST]: {
    completion: 'print a shell completion script',
    help: 'show a page of the documentation, or the help of a command',
  },
};

/** The page of docs/ about a command and its subcommands. */
const PAGES: Readonly<Record<string, string>> = {
  demo: 'getting-started',
  init: 'getting-started',
  connect: 'getting-started',
  disconnect: 'getting-started',
  import: 'getting-started',
  acp: 'getting-started',
  completion: 'install',
  doctor: 'troubleshooting',
  run: 'commands',
  compare: 'commands',
  serve: 'daemon',
  token: 'daemon',
  mcp: 'mcp',
  host: 'scale-out',
  bus: 'scale-out',
  agents: 'agents',
  auth: 'agents',
  config: 'configuration',
  policy: 'policy',
  'policy bundle': 'scale-out',
  audit: 'policy',
  'audit collect': 'scale-out',
  changes: 'review',
  sessions: 'records',
  replay: 'records',
  logs: 'records',
  redact: 'records',
};
const IN_GENERAL = ['--version', '--config', '--debug', '--help'];

export function groupCommands(program: Command): void {
  const order = Object.values(GROUPS).flatMap((commands) => Object.keys(commands));
  for (const [heading, commands] of Object.entries(GROUPS))
    for (const command of program.commands) {
      const summary = commands[command.name()];
      if (summary !== undefined) command.helpGroup(heading).summary(summary);
    }
  program.configureHelp({
    subcommandTerm: (command) => command.name(),
    // The options of `acp` also work without a command. Hide them here, but keep them known, so that a typo still gets a suggestion.
    formatHelp(command, helper) {
      const visibleOptions = (of: Command) => helper.visibleOptions(of).filter(({ long }) => IN_GENERAL.includes(long ?? ''));
      const short = Object.assign(Object.create(helper) as Help, { visibleOptions });
      return new Help().formatHelp.call(short, command, short);
    },
  });
  // Commander lists groups in the order of their first command.
  const place = (command: Command) => order.indexOf(command.name());
  (program.commands as Command[]).sort((a, b) => place(a) - place(b));
}

/** The last line of a command's help names the page about it. */
export function namePages(program: Command): void {
  for (const command of program.commands) {
    const name = command.name();
    const page = PAGES[name];
    if (page !== undefined) addPage(command, name, page);
  }
}

/** `name`: with those of the commands above it. */
function addPage(command: Command, name: string, page: string): void {
  command.addHelpText('after', `\nMore: switchboard help ${page}`);
  for (const below of command.commands) {
    const full = `${name} ${below.name()}`;
    addPage(below, full, PAGES[full] ?? page);
  }
}

/** Prints usage errors of a command and its subcommands in our format: the problem, and below it what to type instead. */
export function formatUsageErrors(command: Command, words: readonly string[] = [command.name()]): void {
  command.configureOutput({
    outputError(text, write) {
      const { message, meant } = parseUsageError(text);
      write(`switchboard: ${message}\n  ${meant ?? `see: ${words.join(' ')} --help`}\n`);
    },
  });
  for (const below of command.commands) formatUsageErrors(below, [...words, below.name()]);
}

export function parseUsageError(text: string): { readonly message: string; readonly meant: string | undefined } {
  const [message = '', ...more] = text
    .replace(/^error: /, '')
    .replaceAll("'", '"')
    .trimEnd()
    .split('\n');
  const names = /^\(Did you mean (?:one of )?(.+)\?\)$/.exec(more.join(' '))?.[1]?.split(', ');
  return { message, meant: names && `did you mean ${names.map((name) => `"${name}"`).join(' or ')}?` };
}
