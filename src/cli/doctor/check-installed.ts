// Checks what was installed from the registry: unchanged on disk, and not old. Looks at the last list of the registry; fetches nothing.
import type { LoadedConfig } from '../../config/load.ts';
import { fields } from '../../json-object.ts';
import { isOlder } from '../../registry/describe.ts';
import { createIndexCache, type Index } from '../../registry/index-cache.ts';
import { createInstallRecords, type InstallRecord } from '../../registry/records.ts';
import { createStore, type Store } from '../../registry/store.ts';
import { PUBLIC_REGISTRY } from '../agents/registry/open-registry.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

const DAY_MS = 86_400_000;
const OLD_DAYS = 30;

export async function checkInstalled({ config, documents }: LoadedConfig, stateDir: string): Promise<Finding[]> {
  const records = createInstallRecords(stateDir).all();
  if (records.length === 0) return [];
  const store = createStore(stateDir);
  const url = documents.map(({ value }) => fields(fields(value).registry).url).findLast((one) => typeof one === 'string');
  const index = createIndexCache(stateDir, (url as string | undefined) ?? PUBLIC_REGISTRY).cached();
  const names = new Set(config.agents.map(({ name }) => name));
  const findings: Finding[] = [];
  for (const record of records) findings.push(...(names.has(record.name) ? await checkOne(record, store, index) : [leftOver(record)]));
  return [...findings, ...oldIndex(index)];
}

async function checkOne({ name, id, current }: InstallRecord, store: Store, index: Index | undefined): Promise<Finding[]> {
  const changes = await store.changes(current.folder);
  const [first] = changes;
  const again = `switchboard agents add ${id}@${current.plan.version} --name ${name} --install --force`;
  const more = changes.length > 1 ? ` (and ${changes.length - 1} more)` : '';
  const state =
    first === undefined
      ? ok('agent.installed', `agent "${name}": version ${current.version} is as it was installed`)
      : problem('agent.installed', `agent "${name}" is not as it was installed`, `${first}${more}`, again);
  const newest = index?.agents.find((agent) => agent.id === id)?.version;
  if (newest === undefined || !isOlder(current.plan.version, newest)) return [state];
  const what = `agent "${name}" is version ${current.plan.version}; the registry has ${newest}`;
  return [state, warning('agent.outdated', what, 'agents and their services change often', `switchboard agents update ${name}`)];
}

function leftOver({ name, current }: InstallRecord): Finding {
  const what = `version ${current.version} of "${name}" is installed, and the configuration has no such agent`;
  return warning('agent.installed', what, 'its files take up space', `switchboard agents remove ${name}`);
}

function oldIndex(index: Index | undefined): Finding[] {
  const days = index === undefined ? 0 : Math.floor((Date.now() - index.at.getTime()) / DAY_MS);
  if (days <= OLD_DAYS) return [];
  const what = `the registry index is ${days} days old`;
  return [
    warning('registry', what, 'switchboard cannot tell whether newer versions of your agents exist', 'switchboard agents update --dry-run'),
  ];
}
