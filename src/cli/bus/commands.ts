// The commands for several machines. Each command's code is loaded when the command runs.
import { type Command, Option } from 'commander';
import type { HostFlags } from './host.ts';
import type { BusInitFlags } from './init.ts';
import type { BusCommandFlags } from './open-bus.ts';

type Adding = (command: Command) => Command;

const example = (line: string): string => `\nExample:\n  ${line}`;

const collect = (value: string, all: readonly string[] = []): readonly string[] => [...all, value];

export const busOption = (what = 'the bus: nats:, tls:, ws: or wss:, or a file of bus init; overrides the key "bus"'): Option =>
  new Option('--bus <url>', what);

export function addBusCommands(
  program: Command,
  { acpOptions, configOption }: { readonly acpOptions: Adding; readonly configOption: Adding },
  finish: (code: number) => void,
): void {
  addHostCommands(program, acpOptions, configOption, finish);
  const bus = program
    .command('bus')
    .description('Set up NATS servers as the bus of several machines')
    .addHelpText('after', example('switchboard bus init --server 10.0.0.5 --host gpu-1 --edge alice'));
  bus
    .command('init')
    .description('Write the configuration of 1, 3 or 5 NATS servers, with TLS, and a key for each host and user')
    .argument('[dir]', 'the directory to write (default: switchboard-bus)')
    .addOption(
      new Option('--server <address>', 'a server, as HOST or HOST:PORT; repeat it for a cluster (default: 127.0.0.1)').argParser(collect),
    )
    .addOption(new Option('--host <name>', 'a host; repeat it for several (default: this machine)').argParser(collect))
    .addOption(
      new Option('--edge <user>', 'a user, whose sessions nobody else sees; repeat it for several (default: you)').argParser(collect),
    )
    .addOption(
      new Option('--tenant <name>', 'hosts and users of different tenants cannot see each other (default: default)').argParser(collect),
    )
    .option('--yes', 'add to a bus that is there, and write its files again; its keys are kept')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `${example('switchboard bus init --server 10.0.0.5 --host gpu-1 --edge alice')}
  switchboard bus init --yes --host gpu-2`,
    )
    .action(async (dir: string | undefined, flags: BusInitFlags) => finish((await import('./init.ts')).busInit(dir, flags)));
  configOption(bus.command('create'))
    .addOption(busOption())
    .description('Make the directories and streams of a tenant on NATS, with the key of its admin')
    .option('--json', 'print JSON')
    .addHelpText('after', example('switchboard bus create --bus switchboard-bus/tenants/default/admin/bus.json'))
    .action(async (_: BusCommandFlags, command: Command) =>
      finish(await (await import('./create.ts')).busCreate(command.optsWithGlobals())),
    );
}

function addHostCommands(program: Command, acpOptions: Adding, configOption: Adding, finish: (code: number) => void): void {
  const host = acpOptions(program.command('host'))
    .addOption(busOption())
    .description('Run the agents of this machine for others, over a bus; they work on the files of this machine')
    .option('--name <name>', 'the name of this host (default: "name" of the bus settings, or the name of the machine)')
    .addOption(new Option('--label <key=value>', 'a label that routes can ask for; repeat it for several').argParser(collect))
    .option('--capacity <number>', 'how many connections it takes at once (default: 32)')
    .option('--drain-seconds <seconds>', 'on SIGTERM, how long running turns may take to end (default: 0)')
    .option('--json', 'print the name of the host as one line of JSON')
    .addHelpText('after', example('switchboard host --bus nats://10.0.0.5:4222 --label gpu=true'))
    .action(async (_: HostFlags, command: Command) => finish(await (await import('./host.ts')).runHost(command.optsWithGlobals())));
  configOption(host.command('list'))
    .addOption(busOption())
    .description('List the hosts on the bus, and who serves fs/* and terminal/* of their agents: the host, or the agent itself')
    .option('--sessions', 'list the sessions of all hosts and users instead; needs the key of control or admin')
    .option('--json', 'print JSON')
    .addHelpText('after', example('switchboard host list --bus nats://10.0.0.5:4222'))
    .action(async (_: HostFlags, command: Command) => finish(await (await import('./list-hosts.ts')).listHosts(command.optsWithGlobals())));
  configOption(host.command('drain'))
    .addOption(busOption())
    .description('Let a host take no new sessions; its open ones go on')
    .argument('<name>', 'the host')
    .option('--json', 'print JSON')
    .addHelpText('after', example('switchboard host drain gpu-1 --bus nats://10.0.0.5:4222'))
    .action(async (name: string, _: HostFlags, command: Command) =>
      finish(await (await import('./host.ts')).drainHost(name, command.optsWithGlobals())),
    );
}
