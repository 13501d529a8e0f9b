// `switchboard agents add` and `agents remove`: edit the user's configuration.

import { once } from 'node:events';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import spawn from 'cross-spawn';
import type { Catalogue, CatalogueAgent } from '../../agents/catalogue.ts';
import { AGENT_NAME } from '../../agents/defaults.ts';
import { inheritedEnvironment } from '../../agents/environment.ts';
import { isOurProxy } from '../../agents/recursion.ts';
import { bundledCatalogue } from '../../app/package-files.ts';
import { variablesIn } from '../../config/references.ts';
import { didYouMean } from '../../policy/format/nearest.ts';
import { makeDirectory } from '../../private-files.ts';
import { withoutProperty, withProperty } from '../../setup/edit-jsonc.ts';
import { hideArgs, looksSecret, secretArgs } from '../../setup/hide-secrets.ts';
import { isOurNote } from '../../setup/new-config.ts';
import { type Here, installFolder, resolveStart } from '../../setup/start-command.ts';
import { CommandFailure } from '../failure.ts';
import { startUnderSignals } from '../interrupts.ts';
import { notice, printTable } from '../output.ts';
import { printData } from '../policy/output.ts';
import { type ConfigFlags, surroundings } from '../resolve-config.ts';
import { type Change, type ChangeFlags, confirmChanges, makeChange, printChange, say } from '../setup/show-change.ts';
import { openUserConfig, refuseWorse, type UserConfig } from '../setup/user-config.ts';

// `agents add --install`: installs an agent's package into our own folder, so that its start needs neither npx nor network.
export async function installAgent(agent: CatalogueAgent, here: Here): Promise<void> {
  const { npx } = agent.distribution;
  if (!npx) throw new CommandFailure(2, `"${agent.id}" is not an npm package; --install supports only npm packages`);
  const folder = installFolder(agent, here);
  const { command, args } = resolveStart(agent, here);
  if ([command, ...args].some((word) => word.startsWith(folder))) return; // already installed
  makeDirectory(folder);
  notice(`installing ${npx.package} into ${folder}`);
  const words = ['install', '--prefix', folder, '--no-audit', '--no-fund', '--loglevel=error', npx.package];
  // npm's output goes to stderr: a program may read stdout.
  const { child, ...signals } = startUnderSignals(() =>
    spawn('npm', words, { stdio: ['ignore', process.stderr, process.stderr], cwd: folder, env: here.env }),
  );
  const how = await once(child, 'exit').then(
    ([code]) => (code === 0 ? undefined : `npm exited with code ${code}`),
    (error: NodeJS.ErrnoException) => (error.code === 'ENOENT' ? 'npm was not found' : `npm did not start (${error.code})`),
  );
  signals.stop();
  signals.check();
  if (how !== undefined)
    throw new CommandFailure(1, `installing ${npx.package} failed: ${how}`, 'without --install, npx fetches the agent when it starts');
}

export type AddFlags = ConfigFlags &
  ChangeFlags & {
    readonly command?: string;
    readonly name?: string;
    readonly env?: readonly string[];
    readonly install?: boolean;
    readonly force?: boolean;
  };

type Entry = {
  readonly label?: string;
  readonly command: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
};

export async function addAgent(id: string, args: readonly string[], flags: AddFlags): Promise<number> {
  const catalogue = bundledCatalogue();
  const found = flags.command === undefined ? inCatalogue(catalogue, id) : undefined;
  if (flags.command !== undefined && flags.install)
    throw new CommandFailure(2, '--install works only with agents from the catalogue, not with --command');
  const name = flags.name ?? found?.id ?? id;
  if (!AGENT_NAME.test(name))
    throw new CommandFailure(
      2,
      `invalid agent name "${name}"`,
      'start with a letter or digit and use only letters, digits, ".", "_" and "-"',
    );
  for (const [, { flag, value }] of secretArgs(args))
    if (!/^\$\{/.test(value))
      throw new CommandFailure(
        2,
        `the value of ${flag} looks like a secret; other users can see command lines`,
        `use a reference in single quotes instead: ${flag} '\${env:NAME}'`,
      );
  const config = await openUserConfig(flags);
  if (found && flags.install && !flags.dryRun) await installAgent(found, withoutSecretsOf(config, here()));
  const { entry, warnings } = found ? fromCatalogue(found, args, flags) : fromCommand(flags.command ?? '', args, flags);
  if (isOurProxy(entry.command, entry.args ?? [])) throw new CommandFailure(2, 'switchboard cannot be its own agent');
  const present = config.agents[name];
  if (present !== undefined && !isDeepStrictEqual(present, entry) && !flags.force)
    throw new CommandFailure(
      2,
      `agent "${name}" already exists with a different setup`,
      'use another name (--name NAME) or replace it (--force)',
    );
  const edited = isDeepStrictEqual(present, entry) ? config.text : withProperty(config.base, ['agent_servers', name], entry);
  if (edited !== config.text) refuseWorse(config, edited);
  await confirmChanges([{ file: config, text: edited }], flags);
  const change = await makeChange({ file: config, text: edited }, flags);
  report(
    change,
    { name, entry: { ...entry, args: hideArgs(entry.args ?? []), env: Object.keys(entry.env ?? {}) } },
    warnings,
    flags,
    `switchboard agents test ${name}`,
  );
  return 0;
}

/** Lists the agents that can be added, and how each would start on this machine. */
export async function listCatalogue(flags: AddFlags): Promise<number> {
  if (flags.command !== undefined) throw new CommandFailure(2, 'name the agent', 'switchboard agents add NAME --command PROGRAM -- ARGS');
  const around = here();
  const agents = bundledCatalogue().map((agent) => ({
    id: agent.id,
    name: agent.name,
    version: agent.version,
    installed: resolveStart(agent, around).how === 'direct',
  }));
  if (flags.json) printData({ agents });
  else
    printTable(
      ['ID', 'NAME', 'VERSION', 'STATUS'],
      agents.map(({ id, name, version, installed }) => [id, name, version, installed ? 'installed' : 'not installed']),
    );
  return 0;
}

export async function removeAgent(name: string, flags: ConfigFlags & ChangeFlags): Promise<number> {
  const config = await openUserConfig(flags);
  const names = Object.keys(config.agents);
  if (!names.includes(name)) {
    const hint = didYouMean(name, names) ?? (names.length > 0 ? `agents: ${names.join(', ')}` : 'it has no agents');
    throw new CommandFailure(4, `${config.file} has no agent "${name}"`, hint);
  }
  const edited = withoutProperty(config.base, ['agent_servers', name], isOurNote);
  refuseWorse(config, edited);
  await confirmChanges([{ file: config, text: edited }], flags);
  const change = await makeChange({ file: config, text: edited }, flags);
  report(change, { name }, [], flags);
  return 0;
}

/** Packages run scripts when they are installed: these see none of the variables that the configuration uses, nor our tokens. */
function withoutSecretsOf({ text }: UserConfig, around: Here): Here {
  return { ...around, env: inheritedEnvironment(around.env, 'all', variablesIn(text)) };
}

/** The facts about this machine that decide how an agent starts. */
export function here(): Here {
  const { env, platform, stateDir } = surroundings({});
  return { env, platform, node: { path: process.execPath, version: process.version }, installDir: path.join(stateDir, 'agents') };
}

function inCatalogue(catalogue: Catalogue, id: string): CatalogueAgent {
  const found = catalogue.find((agent) => agent.id === id);
  if (found) return found;
  const ids = catalogue.map((agent) => agent.id);
  const hint = [
    didYouMean(id, ids),
    `catalogue: ${ids.join(', ')}. For any other agent: switchboard agents add ${AGENT_NAME.test(id) ? id : 'NAME'} --command PROGRAM -- ARGS`,
  ];
  throw new CommandFailure(4, `the catalogue has no agent "${id}"`, hint.filter((part) => part !== undefined).join(' '));
}

/** The entry for a catalogue agent, and its unresolved settings. */
export function fromCatalogue(agent: CatalogueAgent, args: readonly string[], flags: Pick<AddFlags, 'env' | 'install'> = {}) {
  const { command, args: own, env, how, warnings } = resolveStart(agent, here());
  const variables = { ...env, ...readEnv(flags.env ?? []) };
  const entry: Entry = {
    label: agent.name,
    command,
    args: [...own, ...args],
    ...(Object.keys(variables).length > 0 && { env: variables }),
  };
  const advice =
    how === 'runner' && !flags.install && agent.distribution.npx
      ? [`to install it now, run: switchboard agents add ${agent.id} --install --force`]
      : [];
  const unchecked = agent.checked ? [] : ['this agent is untested with switchboard; its entry may be outdated'];
  return {
    entry,
    warnings: [...warnings, ...advice, ...unchecked, ...(agent.note === undefined ? [] : [`about ${agent.name}: ${agent.note}`])],
  };
}

function fromCommand(command: string, args: readonly string[], flags: AddFlags): { entry: Entry; warnings: string[] } {
  const env = readEnv(flags.env ?? []);
  return { entry: { command, args, ...(Object.keys(env).length > 0 && { env }) }, warnings: [] };
}

/** `KEY` refers to the environment; `KEY=VALUE` is for values that are not secret: other users can read command lines. */
function readEnv(given: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    given.map((text) => {
      const at = text.indexOf('=');
      const name = at === -1 ? text : text.slice(0, at);
      if (!/^[A-Za-z_]\w*$/.test(name))
        throw new CommandFailure(2, `invalid variable name "${name}"`, 'use --env NAME or --env NAME=VALUE');
      if (at === -1) return [name, `\${env:${name}}`];
      if (looksSecret(name, text.slice(at + 1)))
        throw new CommandFailure(
          2,
          `the value of ${name} looks like a secret; other users can see command lines`,
          `set it in your environment and use --env ${name}`,
        );
      return [name, text.slice(at + 1)];
    }),
  );
}

function report(change: Change, about: object, warnings: readonly string[], { json, dryRun }: ChangeFlags, next?: string): void {
  if (json) return printData({ ...about, ...change }, warnings);
  printChange(change);
  for (const warning of warnings) notice(warning);
  if (next !== undefined && change.changed && !dryRun) say(`Try it: ${next}`);
}
