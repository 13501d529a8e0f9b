// The entry of an installed agent in the configuration: made from an installation, and moved from one to another. What the user added stays.
import { isDeepStrictEqual } from 'node:util';
import { fields } from '../../../json-object.ts';
import { describePlan } from '../../../registry/describe.ts';
import type { Installed, InstallRecord, InstallRecords } from '../../../registry/records.ts';
import type { Store } from '../../../registry/store.ts';
import { withoutProperty, withProperty } from '../../../setup/edit-jsonc.ts';
import { CommandFailure } from '../../failure.ts';
import type { UserConfig } from '../../setup/user-config.ts';

export type Start = { readonly command: string; readonly args: readonly string[]; readonly env: Readonly<Record<string, string>> };

export const startOf = ({ command, prefix, plan }: Installed): Start => ({ command, args: [...prefix, ...plan.args], env: plan.env });

/** The configuration with the agent's command, arguments and variables moved to another installation. */
export function switchEntry(config: UserConfig, name: string, from: Installed, to: Installed): string {
  const entry = fields(config.agents[name]);
  const [old, now] = [startOf(from), startOf(to)];
  const args = Array.isArray(entry.args) ? (entry.args as readonly string[]) : [];
  if (entry.command !== old.command || !isDeepStrictEqual(args.slice(0, old.args.length), old.args))
    throw new CommandFailure(
      2,
      `agent "${name}" has another command in ${config.file} than the one that was installed`,
      `to replace it: switchboard agents add ${to.plan.id} --name ${name} --install --force`,
    );
  const own = Object.fromEntries(Object.entries(fields(entry.env)).filter(([key, value]) => old.env[key] !== value));
  const env = { ...now.env, ...own };
  const at = (key: string) => ['agent_servers', name, key];
  const changed = [
    ...(now.command === old.command ? [] : [['command', now.command] as const]),
    ...(isDeepStrictEqual(now.args, old.args) ? [] : [['args', [...now.args, ...args.slice(old.args.length)]] as const]),
    ...(isDeepStrictEqual(env, fields(entry.env)) ? [] : [['env', env] as const]),
  ];
  return changed.reduce(
    (text, [key, value]) =>
      key === 'env' && Object.keys(value).length === 0 ? withoutProperty(text, at(key)) : withProperty(text, at(key), value),
    config.base,
  );
}

/** Removes folders that no record needs any more. */
export function removeUnused(folders: readonly (Installed | undefined)[], records: InstallRecords, store: Store): void {
  const used = new Set(records.all().flatMap(({ current, previous }) => [current.folder, ...(previous ? [previous.folder] : [])]));
  for (const one of folders) if (one !== undefined && !used.has(one.folder)) store.remove(one.folder);
}

/** The new installation is the current one, and the present one is kept, unless it is the same once more. */
export function recordAfter(record: InstallRecord | undefined, next: Omit<InstallRecord, 'previous'>): InstallRecord {
  const present = record?.current;
  const isSame =
    present !== undefined && present.folder === next.current.folder && describePlan(present.plan) === describePlan(next.current.plan);
  return { ...next, previous: isSame ? record?.previous : present };
}
