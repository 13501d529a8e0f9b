// How `switchboard --help` lists the commands: by what somebody comes for, a few words each. The whole of it is in each command's own help.
import { type Command, Help } from 'commander';

const LAST = 'Besides:';

const GROUPS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'Start here:': {
    demo: 'a tour with the embedded agents: no account, key or network',
    init: 'set up: find agents and editors, write a configuration',
    doctor: 'is this machine set up? what, why, and what to type next',
  },
  'At a terminal:': {
    run: 'one prompt to one agent',
    compare: 'the same prompt to several agents, side by side',
    serve: 'the web console, on this machine only',
  },
  'What editors and programs start:': {
    acp: 'the proxy on stdio',
    mcp: 'the agents as tools of an MCP client',
    replay: 'a recording played back as an agent',
  },
  'Editors and agents:': {
    connect: 'put the switchboard into an editor',
    disconnect: 'and out again',
    import: 'take over the agents of your editors',
    agents: 'list, test, add and remove agents',
    auth: 'the logins of an agent, and doing one',
  },
  'What is in force, and what was done:': {
    config: 'which configuration is used, and whether it is valid',
    policy: 'check a policy, explain a verdict, try it on recordings',
    audit: 'the log of decisions, and whether it is intact',
    sessions: 'the sessions of all agents, and what was said in them',
    logs: 'what passed between the editor and the agents',
    redact: 'a recording or log without secrets',
  },
  [LAST]: {
    completion: 'a script that completes these commands in your shell',
  },
};
const IN_GENERAL = ['--version', '--config', '--debug', '--help'];

export function groupCommands(program: Command): void {
  const order = Object.values(GROUPS).flatMap((commands) => Object.keys(commands));
  for (const [heading, commands] of Object.entries(GROUPS))
    for (const command of program.commands) {
      const summary = commands[command.name()];
      if (summary !== undefined) command.helpGroup(heading).summary(summary);
    }
  const help = program.helpCommand('help [command]', 'the help of a command').createHelp().visibleCommands(program).at(-1);
  help?.helpGroup(LAST);
  program.configureHelp({
    subcommandTerm: (command) => command.name(),
    // What the bare command takes as `acp` does is told there. Left out only here: a slip in one of them is still answered with its name.
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

// What the parser of the command line complains about, in the form all our complaints have: what it is, and below it what to type instead.
/** For a command and those below it. */
export function complainInOurWords(command: Command, words: readonly string[] = [command.name()]): void {
  command.configureOutput({
    outputError(text, write) {
      const { message, meant } = usageWords(text);
      write(`switchboard: ${message}\n  ${meant ?? `see: ${words.join(' ')} --help`}\n`);
    },
  });
  for (const below of command.commands) complainInOurWords(below, [...words, below.name()]);
}

export function usageWords(text: string): { readonly message: string; readonly meant: string | undefined } {
  const [message = '', ...more] = text
    .replace(/^error: /, '')
    .replaceAll("'", '"')
    .trimEnd()
    .split('\n');
  const names = /^\(Did you mean (?:one of )?(.+)\?\)$/.exec(more.join(' '))?.[1]?.split(', ');
  return { message, meant: names && `did you mean ${names.map((name) => `"${name}"`).join(' or ')}?` };
}
