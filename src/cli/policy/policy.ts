// `switchboard policy`: is a file valid, why would a request be allowed, asked or denied, does it do what its cases say, what is remembered.
import { type Command, Option } from 'commander';
import type { ExplainFlags } from './explain.ts';
import type { RememberedFlags } from './remembered.ts';
import type { ReplayFlags } from './replay.ts';

/** Adds the commands; what they need is loaded when one of them runs. */
export function addPolicyCommands(program: Command, finish: (code: number) => void): void {
  const policy = program
    .command('policy')
    .description('check a policy, explain a verdict, try a policy on cases and recordings, see what is remembered')
    .addHelpText('after', example("switchboard policy explain --policy standard --agent claude --command 'git status'"));
  policy
    .command('check')
    .description('name every problem of a policy, its failing examples included; exit code 6 if there is any')
    .argument('<file>', 'the policy, or the name of a preset')
    .option('--json', 'for programs')
    .addHelpText('after', example('switchboard policy check policy.yaml'))
    .action(async (file: string, flags: { json?: true }) => finish(await (await import('./check.ts')).policyCheck(file, flags)));
  policy
    .command('explain')
    .description('why a request would be allowed, asked or denied; needs no configuration, and the agent need not exist')
    .addOption(policyOption())
    .requiredOption('--agent <name>', 'who asks; the name of a known agent selects how its requests are read')
    .option('--command <line>', 'a shell line')
    .option('--path <path>', 'a file')
    .option('--action <action>', 'what is done with the file (edit unless given), or with the tool: delegate, mode')
    .option('--tool <name>', 'a tool; server:tool for one of an MCP server')
    .option('--frame <file>', 'a recorded frame, or several lines of which the last request counts; "-" is standard input')
    .option('--cwd <directory>', "the session's directory", process.cwd())
    .option('--headless', 'as if nobody could answer, so that ask is deny')
    .option('--exit-code', 'end with 5 when the verdict is deny')
    .option('--json', 'for programs')
    .addHelpText('after', example('switchboard policy explain --agent claude --path .env --action read --json'))
    .action(async (flags: ExplainFlags) => finish(await (await import('./explain.ts')).policyExplain(flags)));
  policy
    .command('test')
    .description('run the examples in the rules, and a file of cases; exit code 8 if one comes out otherwise')
    .argument('<file>', 'the policy, or the name of a preset')
    .argument('[cases]', 'a YAML list of cases, such as { command: "git status", verdict: allow }')
    .option('--json', 'for programs')
    .addHelpText('after', example('switchboard policy test policy.yaml cases.yaml'))
    .action(async (file: string, cases: string | undefined, flags: { json?: true }) =>
      finish(await (await import('./test-cases.ts')).policyTest(file, cases, flags)),
    );
  policy
    .command('replay')
    .description('what a policy makes of the requests in a recording, and what it makes otherwise than another one')
    .argument('<recording>', 'frames, one a line')
    .addOption(policyOption())
    .option('--against <policy>', 'the policy to compare with')
    .option('--agent <name>', 'whose requests these are, if the recording does not say')
    .option('--cwd <directory>', 'the directory of sessions that do not say', process.cwd())
    .option('--headless', 'as if nobody could answer, so that ask is deny')
    .option('--json', 'for programs')
    .addHelpText('after', example('switchboard policy replay session.ndjson --policy new.yaml --against old.yaml'))
    .action(async (recording: string, flags: ReplayFlags) => finish(await (await import('./replay.ts')).policyReplay(recording, flags)));
  policy
    .command('remembered')
    .description('the answers you gave with "always" that still hold; each is for one very request')
    .option('--revoke <id>', 'take one back')
    .option('--all', 'take all of them back')
    .option('--json', 'for programs')
    .addHelpText('after', example('switchboard policy remembered --revoke 3f9a2c01'))
    .action(async (flags: RememberedFlags) => finish(await (await import('./remembered.ts')).policyRemembered(flags)));
  policy
    .command('trust')
    .description("let a project's policy allow as well as forbid, as long as its content stays what it is now")
    .argument('<file>', 'the file to trust; read it first')
    .option('--json', 'for programs')
    .addHelpText('after', example('switchboard policy trust ./policy.yaml'))
    .action(async (file: string, flags: { json?: true }) => finish(await (await import('./trust.ts')).policyTrust(file, flags)));
}

function policyOption(): Option {
  return new Option('--policy <policy>', 'a file, or a preset: careful, standard, ci, readonly').default('standard');
}

const example = (line: string): string => `\nExample:\n  ${line}`;
