// `switchboard agents update` and `agents rollback`: move installed agents to another version and back.
import { diffLines } from '../../../client/diff-lines.ts';
import { didYouMean } from '../../../policy/format/nearest.ts';
import { describePlan, isOlder } from '../../../registry/describe.ts';
import { isLocalRegistry, type Plan, planInstall } from '../../../registry/plan.ts';
import { createInstallRecords, type Installed, type InstallRecord } from '../../../registry/records.ts';
import { RegistryError } from '../../../registry/registry-error.ts';
import { createStore } from '../../../registry/store.ts';
import { CommandFailure } from '../../failure.ts';
import { notice } from '../../output.ts';
import { printData } from '../../policy/output.ts';
import type { ConfigFlags } from '../../resolve-config.ts';
import { type ChangeFlags, confirmOrStop, makeChange, printDiff, say } from '../../setup/show-change.ts';
import { openUserConfig, refuseWorse } from '../../setup/user-config.ts';
import { parseId } from '../add-agent.ts';
import { here } from '../catalogue-entry.ts';
import { type InstallFlags, installAgent, recordInAudit, refuseBeforeAsking } from './install-agent.ts';
import { recordAfter, removeUnused, switchEntry } from './installed-entry.ts';
import { findEntry, openRegistry, type Registry, type RegistryFlags } from './open-registry.ts';

export type UpdateFlags = ConfigFlags &
  ChangeFlags &
  InstallFlags &
  RegistryFlags & { readonly preview?: boolean; readonly force?: boolean };

type Update = { readonly record: InstallRecord; readonly plan: Plan; readonly diff: string };
type Result = { readonly name: string; readonly from: string; readonly to: string; readonly diff: string; readonly changed: boolean };

export async function updateAgents(given: string | undefined, flags: UpdateFlags): Promise<number> {
  const { stateDir } = here();
  const records = createInstallRecords(stateDir);
  const [name, version] = given === undefined ? [undefined, undefined] : parseId(given);
  const chosen = name === undefined ? records.all() : [recordOf(name, records.all())];
  const config = await openUserConfig(flags);
  const registry = await openRegistry(config.registryUrl, stateDir, flags);
  const warnings = [...registry.warnings];
  const updates: Update[] = [];
  for (const record of chosen)
    try {
      const update = await planUpdate(record, version, registry, flags);
      if (update === undefined) continue;
      if (typeof update === 'string') warnings.push(update);
      else updates.push(update);
    } catch (error) {
      // One agent that the registry no longer has must not keep the others from their update.
      if (name !== undefined || !(error instanceof RegistryError || error instanceof CommandFailure)) throw error;
      warnings.push(`${record.name}: ${error.message}`);
    }
  if (!flags.json) {
    for (const warning of warnings) notice(warning);
    for (const { record, diff } of updates) printDiff(record.name, diff);
    if (updates.length === 0) say(chosen.length === 0 ? 'No agent was installed from the registry.' : 'Everything is up to date.');
  }
  if (flags.dryRun && updates.length > 0 && !flags.json) say('Nothing was installed (--dry-run).');
  if (!flags.dryRun && updates.length > 0) {
    for (const { plan } of updates) refuseBeforeAsking(plan, flags);
    await agree(updates.length === 1 ? 'Install this update?' : 'Install these updates?', flags);
  }
  const results: Result[] = [];
  for (const { record, plan, diff } of updates) {
    const done = flags.dryRun ? undefined : await applyUpdate(record, plan, registry, flags);
    warnings.push(...(done?.warnings ?? []));
    results.push({ name: record.name, from: record.current.version, to: done?.version ?? plan.version, diff, changed: done !== undefined });
    if (done && !flags.json)
      say(`${record.name}: ${record.current.version} -> ${done.version}. To go back: switchboard agents rollback ${record.name}`);
  }
  if (flags.json) printData({ updates: results, dryRun: flags.dryRun === true }, warnings);
  return 0;
}

/** Undefined if there is nothing to do; a text if there is, but not without being asked for. */
async function planUpdate(
  record: InstallRecord,
  version: string | undefined,
  registry: Registry,
  flags: UpdateFlags,
): Promise<Update | string | undefined> {
  const { current } = record;
  const agent = findEntry(registry, record.id);
  const wishes = {
    ...{ platform: process.platform, arch: process.arch, version, isLocal: isLocalRegistry(registry.url) },
    preview: (flags.preview ?? record.isPreview) && agent.preview !== undefined && version === undefined,
  };
  const plan = planSameKind(agent, current, wishes);
  const diff = diffOf(current.plan, plan);
  const isWhole = (await createStore(here().stateDir).changes(current.folder)).length === 0;
  if (diff === '' && isWhole && !flags.force) return undefined;
  if (version === undefined && isOlder(plan.version, current.plan.version))
    return `${record.name}: the registry now lists ${plan.version}, which is older than the installed ${current.plan.version}; to install it, run: switchboard agents update ${record.name}@${plan.version}`;
  return { record, plan, diff: diff === '' ? describePlan(plan).replace(/^/gm, ' ') : diff };
}

/** An update does not move an agent from a package to a binary or back, as long as the registry has both. */
function planSameKind(agent: Parameters<typeof planInstall>[0], { plan }: Installed, wishes: Parameters<typeof planInstall>[1]): Plan {
  try {
    return planInstall(agent, { ...wishes, from: plan.source.kind });
  } catch (error) {
    if (!(error instanceof RegistryError)) throw error;
    return planInstall(agent, wishes);
  }
}

export function diffOf(before: Plan, after: Plan): string {
  const marks = { same: ' ', added: '+', removed: '-', hunk: '' };
  return diffLines(describePlan(before), describePlan(after))
    .filter(({ kind }) => kind !== 'hunk')
    .map(({ kind, text }) => marks[kind] + text)
    .join('\n');
}

async function applyUpdate(record: InstallRecord, plan: Plan, registry: Registry, flags: UpdateFlags) {
  const { stateDir } = here();
  const [records, store] = [createInstallRecords(stateDir), createStore(stateDir)];
  // Asked anew for each agent: an update before it has changed the file.
  const config = await openUserConfig(flags);
  switchEntry(config, record.name, record.current, record.current);
  const setup = { name: record.name, stateDir, isLocal: isLocalRegistry(registry.url), configText: config.text, present: record.current };
  const { installed, warnings } = await installAgent(plan, setup, {
    ...flags,
    allowScripts: flags.allowScripts ?? record.current.withScripts,
  });
  const next = recordAfter(record, {
    ...{ name: record.name, id: record.id, registry: registry.from === 'bundled' ? 'bundled' : registry.url },
    ...{ isPreview: flags.preview ?? record.isPreview, current: installed },
  });
  await switchTo(record, next, flags);
  removeUnused([record.previous, record.current, installed], records, store);
  return { version: installed.version, warnings };
}

/** The record first: a crash in between leaves a configuration that starts the version before, whose folder is still there. */
async function switchTo(record: InstallRecord, next: InstallRecord, flags: UpdateFlags): Promise<void> {
  const records = createInstallRecords(here().stateDir);
  const config = await openUserConfig(flags);
  const text = switchEntry(config, record.name, record.current, next.current);
  refuseWorse(config, text);
  records.save(next);
  try {
    await makeChange({ file: config, text }, flags);
  } catch (error) {
    records.save(record);
    throw error;
  }
}

export async function rollbackAgent(name: string, flags: UpdateFlags): Promise<number> {
  const { stateDir } = here();
  const records = createInstallRecords(stateDir);
  const record = recordOf(name, records.all());
  const { current, previous } = record;
  if (previous === undefined)
    throw new CommandFailure(
      4,
      `agent "${name}" has no version before ${current.version}`,
      `to install another: switchboard agents update ${name}@VERSION`,
    );
  const [changed] = await createStore(stateDir).changes(previous.folder);
  if (changed !== undefined)
    throw new CommandFailure(
      1,
      `version ${previous.version} of "${name}" is no longer as it was installed: ${changed}`,
      `to install it again: switchboard agents update ${name}@${previous.plan.version}`,
    );
  const diff = diffOf(current.plan, previous.plan);
  if (!flags.json) printDiff(name, diff);
  if (!flags.dryRun) {
    await agree(`Go back to ${previous.version}?`, flags);
    recordInAudit(
      stateDir,
      name,
      'agents/rollback',
      `rollback ${name} from ${current.version} to ${previous.version}`,
      describePlan(previous.plan),
    );
    await switchTo(record, { ...record, current: previous, previous: current }, flags);
  }
  if (flags.json)
    printData({ name, from: current.version, to: previous.version, diff, changed: !flags.dryRun, dryRun: flags.dryRun === true });
  else say(flags.dryRun ? 'Nothing was changed (--dry-run).' : `${name}: ${current.version} -> ${previous.version}`);
  return 0;
}

function recordOf(name: string, all: readonly InstallRecord[]): InstallRecord {
  const found = all.find((record) => record.name === name);
  if (found) return found;
  const names = all.map((record) => record.name);
  const hint =
    didYouMean(name, names) ?? (names.length > 0 ? `installed: ${names.join(', ')}` : 'to install one: switchboard agents add ID');
  throw new CommandFailure(4, `no agent "${name}" was installed from the registry`, hint);
}

/** Without a terminal nobody can be asked, and silence is no consent to other code. */
async function agree(question: string, flags: UpdateFlags): Promise<void> {
  const isTerminal = process.stdin.isTTY === true && process.stdout.isTTY === true;
  if (!flags.yes && (!isTerminal || flags.json))
    throw new CommandFailure(
      2,
      'this needs your consent, and there is no terminal to ask at',
      'to agree, add --yes; to look only, --dry-run',
    );
  await confirmOrStop(question, 'nothing was changed', flags);
}
