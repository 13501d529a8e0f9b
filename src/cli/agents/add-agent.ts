// `switchboard agents add`: an installed program, an agent of the registry, or any command becomes an agent of the user's configuration.
import { isDeepStrictEqual } from 'node:util';
import { suitsNode } from '../../agents/catalogue.ts';
import { AGENT_NAME } from '../../agents/defaults.ts';
import { isOurProxy } from '../../agents/recursion.ts';
import { bundledCatalogue } from '../../app/package-files.ts';
import { describePlan } from '../../registry/describe.ts';
import { isLocalRegistry, type Plan, planInstall, type Source } from '../../registry/plan.ts';
import { createInstallRecords, type Installed } from '../../registry/records.ts';
import { createStore } from '../../registry/store.ts';
import { withProperty } from '../../setup/edit-jsonc.ts';
import { findProgram } from '../../setup/find-program.ts';
import { hideArgs, secretArgs } from '../../setup/hide-secrets.ts';
import { resolveStart } from '../../setup/start-command.ts';
import { CommandFailure } from '../failure.ts';
import { notice } from '../output.ts';
import { printData } from '../policy/output.ts';
import type { ConfigFlags } from '../resolve-config.ts';
import { type ChangeFlags, confirmChanges, confirmOrStop, makeChange, printChange, say } from '../setup/show-change.ts';
import { openUserConfig, refuseWorse, type UserConfig } from '../setup/user-config.ts';
import { type Entry, fromCatalogue, here, readEnv } from './catalogue-entry.ts';
import { type InstallFlags, installAgent, refuseBeforeAsking } from './registry/install-agent.ts';
import { recordAfter, removeUnused, startOf } from './registry/installed-entry.ts';
import { findEntry, knownFor, openRegistry, type RegistryFlags } from './registry/open-registry.ts';
import { asksText } from './test-agents.ts';

export type AddFlags = ConfigFlags &
  ChangeFlags &
  InstallFlags &
  RegistryFlags & {
    readonly command?: string;
    readonly name?: string;
    readonly env?: readonly string[];
    /** `true`: an own copy, even if the agent is on PATH. `false`: npx or uvx fetch it when it starts. */
    readonly install?: boolean;
    readonly from?: Source['kind'];
    readonly preview?: boolean;
    readonly force?: boolean;
  };

type Found = { readonly entry: Entry; readonly warnings: readonly string[] };

export async function addAgent(given: string, args: readonly string[], flags: AddFlags): Promise<number> {
  const [id, version] = flags.command === undefined ? parseId(given) : [given, undefined];
  if (flags.command !== undefined && (flags.install !== undefined || flags.from !== undefined || flags.preview))
    throw new CommandFailure(2, '--install, --no-install, --from and --preview are for agents of the registry, not for --command');
  const name = flags.name ?? id;
  if (!AGENT_NAME.test(name))
    throw new CommandFailure(
      2,
      `invalid agent name "${name}"`,
      'start with a letter or digit and use only letters, digits, ".", "_" and "-"',
    );
  refuseSecrets(args);
  const config = await openUserConfig(flags);
  const direct = flags.command !== undefined ? fromCommand(flags.command, args, flags) : onPath(id, version, args, flags);
  if (direct) return writeEntry(config, name, direct, flags);
  const registry = await openRegistry(config.registryUrl, here().stateDir, flags);
  const agent = findEntry(registry, id);
  const plan = planInstall(agent, {
    ...{ platform: process.platform, arch: process.arch, version, preview: flags.preview },
    ...{ from: kindOf(flags), isLocal: isLocalRegistry(registry.url) },
  });
  const about = aboutAgent(plan, name);
  const notes = [...registry.warnings, ...about];
  if (flags.install === false) return writeEntry(config, name, withRunner(plan, args, flags, notes), flags);
  const from = registry.from === 'bundled' ? 'bundled' : registry.url;
  return installAndWrite(config, { name, plan, registry: from, args, notes }, flags);
}

type Wanted = {
  readonly name: string;
  readonly plan: Plan;
  /** Its address, or `bundled`. */
  readonly registry: string;
  readonly args: readonly string[];
  readonly notes: readonly string[];
};

async function installAndWrite(config: UserConfig, { name, plan, registry, args, notes }: Wanted, flags: AddFlags): Promise<number> {
  const { stateDir } = here();
  const [records, store] = [createInstallRecords(stateDir), createStore(stateDir)];
  const record = records.find(name);
  const present = record && describePlan(record.current.plan) === describePlan(plan) ? record.current : undefined;
  const isWhole = present !== undefined && (await store.changes(present.folder)).length === 0;
  if (present && isWhole && !flags.force) return writeEntry(config, name, { entry: entryOf(present, args, flags), warnings: notes }, flags);
  if (config.agents[name] !== undefined && !flags.force) throw alreadyExists(name);
  refuseBeforeAsking(plan, flags);
  if (!flags.json)
    for (const line of [
      `${plan.id} is installed from the registry:`,
      ...describePlan(plan)
        .split('\n')
        .map((one) => `  ${one}`),
    ])
      say(line);
  if (flags.dryRun) {
    if (flags.json) printData({ name, plan, changed: true, dryRun: true }, notes);
    else say('Nothing was installed (--dry-run).');
    return 0;
  }
  await confirmOrStop('Install it?', 'nothing was installed', flags);
  const setup = {
    name,
    stateDir,
    isLocal: registry !== 'bundled' && isLocalRegistry(registry),
    configText: config.text,
    present: record?.current,
  };
  const { installed, warnings } = await installAgent(plan, setup, flags);
  const next = recordAfter(record, { name, id: plan.id, registry, isPreview: flags.preview === true, current: installed });
  records.save(next);
  try {
    return await writeEntry(
      config,
      name,
      { entry: entryOf(installed, args, flags), warnings: [...notes, ...warnings] },
      { ...flags, force: true, yes: true },
      installed,
    );
  } catch (error) {
    // The configuration still has what was there before, so the record does too.
    if (record) records.save(record);
    else records.remove(name);
    throw error;
  } finally {
    removeUnused([installed, record?.current, record?.previous], records, store);
  }
}

async function writeEntry(
  config: UserConfig,
  name: string,
  { entry, warnings }: Found,
  flags: AddFlags,
  installed?: Installed,
): Promise<number> {
  if (isOurProxy(entry.command, entry.args ?? [])) throw new CommandFailure(2, 'switchboard cannot be its own agent');
  const present = config.agents[name];
  const isSame = isDeepStrictEqual(present, entry);
  if (present !== undefined && !isSame && !flags.force) throw alreadyExists(name);
  const edited = isSame ? config.text : withProperty(config.base, ['agent_servers', name], entry);
  if (edited !== config.text) refuseWorse(config, edited);
  const planned = { file: config, text: edited };
  const isShown = await confirmChanges([planned], flags);
  const change = await makeChange(planned, flags);
  if (flags.json) {
    const shown = { ...entry, args: hideArgs(entry.args ?? []), env: Object.keys(entry.env ?? {}) };
    const about = installed && {
      version: installed.version,
      checksum: installed.checksum,
      verifiedBy: installed.verifiedBy,
      folder: installed.folder,
    };
    printData({ name, entry: shown, ...(about && { installed: about }), ...change }, warnings);
    return 0;
  }
  printChange(change, isShown);
  for (const warning of warnings) notice(warning);
  if (change.changed && !flags.dryRun) say(`Try it: switchboard agents test ${name}`);
  return 0;
}

const alreadyExists = (name: string): CommandFailure =>
  new CommandFailure(2, `agent "${name}" already exists with a different setup`, 'use another name (--name NAME) or replace it (--force)');

/** `ID` or `ID@VERSION`. */
export function parseId(given: string): [id: string, version: string | undefined] {
  const at = given.indexOf('@', 1);
  return at === -1 ? [given, undefined] : [given.slice(0, at), given.slice(at + 1)];
}

function kindOf({ from, install }: AddFlags): Source['kind'] | undefined {
  if (install === false && from === 'binary') throw new CommandFailure(2, '--no-install works with npx and uvx only');
  return from;
}

function refuseSecrets(args: readonly string[]): void {
  for (const [, { flag, value }] of secretArgs(args))
    if (!/^\$\{/.test(value))
      throw new CommandFailure(
        2,
        `the value of ${flag} looks like a secret; other users can see command lines`,
        `use a reference in single quotes instead: ${flag} '\${env:NAME}'`,
      );
}

function fromCommand(command: string, args: readonly string[], flags: AddFlags): Found {
  const env = readEnv(flags.env ?? []);
  return { entry: { command, args, ...(Object.keys(env).length > 0 && { env }) }, warnings: [] };
}

/** A program that the user has installed is used as it is, unless the flags ask for something else. */
function onPath(id: string, version: string | undefined, args: readonly string[], flags: AddFlags): Found | undefined {
  const isAsked =
    version !== undefined || flags.install === true || flags.from !== undefined || flags.preview === true || flags.allowScripts === true;
  const agent = bundledCatalogue().find((one) => one.id === id);
  if (!agent || isAsked || resolveStart(agent, here()).how !== 'direct') return undefined;
  return fromCatalogue(agent, args, flags);
}

function entryOf(installed: Installed, args: readonly string[], flags: AddFlags): Entry {
  const start = startOf(installed);
  const env = { ...start.env, ...readEnv(flags.env ?? []) };
  return {
    label: installed.plan.name,
    command: start.command,
    args: [...start.args, ...args],
    ...(Object.keys(env).length > 0 && { env }),
  };
}

/** The runner fetches the package when the agent starts. */
function withRunner(
  { name, source, args: own, env: given }: Plan,
  args: readonly string[],
  flags: AddFlags,
  notes: readonly string[],
): Found {
  if (source.kind === 'binary')
    throw new CommandFailure(2, '--no-install works with npx and uvx only, and this agent is a binary', 'leave out --no-install');
  const at = source.kind === 'npx' ? '@' : '==';
  const wanted = source.wanted === undefined ? source.package : `${source.package}${at}${source.wanted}`;
  const runner = source.kind;
  const start = source.program === undefined ? [wanted] : [runner === 'npx' ? '--package' : '--from', wanted, source.program];
  const env = { ...given, ...readEnv(flags.env ?? []) };
  const entry = {
    label: name,
    command: runner,
    args: [...(runner === 'npx' ? ['-y'] : []), ...start, ...own, ...args],
    ...(Object.keys(env).length > 0 && { env }),
  };
  const missing = findProgram(runner, here()) === undefined ? [`${runner} is not on your PATH`] : [];
  return { entry, warnings: [`using ${runner}, which fetches ${wanted} on first use`, ...missing, ...notes] };
}

/** What the catalogue knows: when the agent asks for permission, what it needs, and whether it was tried. */
function aboutAgent(plan: Plan, name: string): string[] {
  const known = knownFor(plan);
  if (!known)
    return [
      `agent "${name}" is not in the catalogue: it is unknown whether it asks for permission. See: switchboard agents test ${name} --probe`,
    ];
  const needsNode = plan.source.kind === 'npx' && !suitsNode(known, process.version);
  return [
    ...(needsNode ? [`agent "${name}" needs Node ${known.node}, but this is ${process.version}`] : []),
    ...(known.asks ? [`agent "${name}" ${asksText(known.asks)}`] : []),
    ...(known.checked ? [] : ['this agent is untested with switchboard']),
    ...(known.note === undefined ? [] : [`about ${known.name}: ${known.note}`]),
  ];
}
