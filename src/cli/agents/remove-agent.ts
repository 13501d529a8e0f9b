// `switchboard agents remove`: from the configuration, and what was installed for it from the disk.
import { didYouMean } from '../../policy/format/nearest.ts';
import { createInstallRecords } from '../../registry/records.ts';
import { createStore } from '../../registry/store.ts';
import { withoutProperty } from '../../setup/edit-jsonc.ts';
import { isOurNote } from '../../setup/new-config.ts';
import { CommandFailure } from '../failure.ts';
import { printData } from '../policy/output.ts';
import type { ConfigFlags } from '../resolve-config.ts';
import { type ChangeFlags, confirmChanges, makeChange, printChange, say } from '../setup/show-change.ts';
import { openUserConfig, refuseWorse } from '../setup/user-config.ts';
import { here } from './catalogue-entry.ts';
import { recordInAudit } from './registry/install-agent.ts';
import { removeUnused } from './registry/installed-entry.ts';

export async function removeAgent(name: string, flags: ConfigFlags & ChangeFlags): Promise<number> {
  const { stateDir } = here();
  const records = createInstallRecords(stateDir);
  const record = records.find(name);
  const config = await openUserConfig(flags);
  const names = Object.keys(config.agents);
  const isConfigured = names.includes(name);
  // What is left of an agent whose entry the user has deleted.
  if (!isConfigured && !record) {
    const hint = didYouMean(name, names) ?? (names.length > 0 ? `agents: ${names.join(', ')}` : 'it has no agents');
    throw new CommandFailure(4, `${config.file} has no agent "${name}"`, hint);
  }
  if (isConfigured && names.length === 1)
    throw new CommandFailure(
      6,
      `"${name}" is the only agent in ${config.file}, and a configuration needs one`,
      'add another agent first, or delete the file',
    );
  const edited = isConfigured ? withoutProperty(config.base, ['agent_servers', name], isOurNote) : config.text;
  if (isConfigured) refuseWorse(config, edited);
  const planned = { file: config, text: edited };
  const isShown = await confirmChanges([planned], flags);
  if (record && !flags.dryRun)
    recordInAudit(stateDir, name, 'agents/remove', `remove ${name} ${record.current.version}`, JSON.stringify(record.current.plan));
  const change = await makeChange(planned, flags);
  if (record && !flags.dryRun) {
    records.remove(name);
    removeUnused([record.current, record.previous], records, createStore(stateDir));
  }
  const removed = record ? [record.current.version, ...(record.previous ? [record.previous.version] : [])] : [];
  if (flags.json) {
    printData({ name, ...change, ...(record && { uninstalled: removed }) });
    return 0;
  }
  printChange(change, isShown);
  if (record) say(`${flags.dryRun ? 'Would also delete' : 'Deleted'} what was installed for it: ${removed.join(', ')}`);
  return 0;
}
