// `switchboard policy`: check, explain, test and replay a policy, and manage remembered answers and trust.
import { type Command, Option } from 'commander';
import type { KeygenFlags, PublishFlags, SignFlags, VerifyFlags } from './bundle.ts';
import type { ExplainFlags } from './explain.ts';
import type { RememberedFlags } from './remembered.ts';
import type { ReplayFlags } from './replay.ts';

export function addPolicyCommands(program: Command, finish: (code: number) => void): void {
  const policy = program
    .command('policy')
    .description('Check, explain and test a policy, and manage remembered answers')
    .addHelpText('after', example("switchboard policy explain --policy standard --agent claude --command 'git status'"));
  policy
    .command('check')
    .description('Report every problem in a policy, including failing examples; exit code 6 if there is one')
    .argument('<file>', 'a policy file or a preset')
    .option('--json', 'print JSON')
    .addHelpText('after', example('switchboard policy check policy.yaml'))
    .action(async (file: string, flags: { json?: true }) => finish(await (await import('./check.ts')).policyCheck(file, flags)));
  policy
    .command('explain')
    .description('Explain why a request would be allowed, asked or denied; needs no agent')
    .addOption(policyOption())
    .option('--config <file>', 'use this configuration file')
    .option('--bundle <file>', 'a signed policy bundle above it, as a host obeys it')
    .option('--agent <name>', 'the requesting agent: for rules about one agent, and for how --tool and --frame are read', 'any')
    .option('--command <line>', 'a shell command')
    .option('--path <path>', 'a file path')
    .option('--action <action>', 'the action on the file (default: edit) or tool: delegate, mode')
    .option('--tool <name>', 'a tool name; server:tool for a tool of an MCP server')
    .option('--frame <file>', 'a file with a recorded frame; of several frames, the last request counts; "-" reads stdin')
    .option('--cwd <directory>', 'the session directory', process.cwd())
    .option('--headless', 'nobody can answer, so ask becomes deny')
    .option('--exit-code', 'exit with code 5 if the verdict is deny')
    .option('--json', 'print JSON')
    .addHelpText('after', example('switchboard policy explain --agent claude --path .env --action read --json'))
    .action(async (_: ExplainFlags, command: Command) =>
      finish(await (await import('./explain.ts')).policyExplain(command.optsWithGlobals())),
    );
  policy
    .command('test')
    .description('Run the examples in the rules and a file of test cases; exit code 8 if one fails')
    .argument('<file>', 'a policy file or a preset')
    .argument('[cases]', 'a YAML list of cases, such as { command: "git status", verdict: allow }')
    .option('--json', 'print JSON')
    .addHelpText('after', example('switchboard policy test policy.yaml cases.yaml'))
    .action(async (file: string, cases: string | undefined, flags: { json?: true }) =>
      finish(await (await import('./test-cases.ts')).policyTest(file, cases, flags)),
    );
  policy
    .command('replay')
    .description('Apply a policy to the requests in a recording, and compare it with another policy')
    .argument('<recording>', 'a file with one frame per line')
    .addOption(policyOption())
    .option('--config <file>', 'use this configuration file')
    .option('--against <policy>', 'the policy to compare with')
    .option('--agent <name>', 'the agent, if the recording does not name it')
    .option('--cwd <directory>', 'the session directory, if the recording does not name it', process.cwd())
    .option('--headless', 'nobody can answer, so ask becomes deny')
    .option('--json', 'print JSON')
    .addHelpText('after', example('switchboard policy replay session.ndjson --policy new.yaml --against old.yaml'))
    .action(async (recording: string, _: ReplayFlags, command: Command) =>
      finish(await (await import('./replay.ts')).policyReplay(recording, command.optsWithGlobals())),
    );
  policy
    .command('remembered')
    .description('List the "always" answers in effect; each applies to one exact request')
    .option('--revoke <id>', 'revoke one answer')
    .option('--all', 'revoke all answers')
    .option('--json', 'print JSON')
    .addHelpText('after', example('switchboard policy remembered --revoke 3f9a2c01'))
    .action(async (flags: RememberedFlags) => finish(await (await import('./remembered.ts')).policyRemembered(flags)));
  policy
    .command('trust')
    .description('Allow a project policy to allow requests, not only deny them, until its content changes')
    .argument('<file>', 'the file to trust; review it first')
    .option('--json', 'print JSON')
    .addHelpText('after', example('switchboard policy trust ./policy.yaml'))
    .action(async (file: string, flags: { json?: true }) => finish(await (await import('./trust.ts')).policyTrust(file, flags)));
  addBundleCommands(policy, finish);
}

function addBundleCommands(policy: Command, finish: (code: number) => void): void {
  const bundle = policy
    .command('bundle')
    .description('Sign a policy for all hosts on a bus, and publish it')
    .addHelpText('after', example('switchboard policy bundle publish policy.bundle --bus nats://10.0.0.5:4222'));
  const load = () => import('./bundle.ts');
  bundle
    .command('keygen')
    .description('Create the key that signs bundles, and print the public key that hosts pin')
    .option('--out <file>', 'where to write the private key', 'policy-key.pem')
    .option('--json', 'print JSON')
    .addHelpText('after', example('switchboard policy bundle keygen --out policy-key.pem'))
    .action(async (flags: KeygenFlags) => finish(await (await load()).bundleKeygen(flags)));
  bundle
    .command('sign')
    .description('Make a bundle of policy files; exit code 6 if one is not valid')
    .argument('<policies...>', 'policy files or presets; all of them apply')
    .option('--key <file>', 'the private key', 'policy-key.pem')
    .option('--out <file>', 'where to write the bundle', 'policy.bundle')
    .option('--number <version>', 'its version, which must rise (default: one more than that of the bundle in --out, else 1)')
    .option('--max-age <time>', 'how long hosts obey it: sign it again before, or they serve nobody', '7d')
    .option('--json', 'print JSON')
    .addHelpText('after', example('switchboard policy bundle sign standard company.yaml --max-age 24h'))
    .action(async (policies: string[], flags: SignFlags) => finish(await (await load()).bundleSign(policies, flags)));
  bundle
    .command('verify')
    .description('Check the signature, age and policies of a bundle; exit code 8 if hosts would refuse it')
    .argument('<file>', 'the bundle')
    .option('--key <key>', 'the public key that must have signed it')
    .option('--json', 'print JSON')
    .addHelpText('after', example('switchboard policy bundle verify policy.bundle'))
    .action(async (file: string, flags: VerifyFlags) => finish(await (await load()).bundleVerify(file, flags)));
  bundle
    .command('publish')
    .description('Put a bundle on the bus: hosts that pin its key obey it at once')
    .argument('<file>', 'the bundle')
    .option('--bus <url>', 'the bus: nats:, tls:, ws: or wss:; overrides the key "bus"')
    .option('--config <file>', 'use this configuration file')
    .option('--json', 'print JSON')
    .addHelpText('after', example('switchboard policy bundle publish policy.bundle --bus nats://10.0.0.5:4222'))
    .action(async (file: string, flags: PublishFlags) => finish(await (await load()).bundlePublish(file, flags)));
}

function policyOption(): Option {
  const text = 'a policy file or a preset: careful, standard, ci, readonly (default: the policy in force here, else standard)';
  return new Option('--policy <policy>', text);
}

const example = (line: string): string => `\nExample:\n  ${line}`;
