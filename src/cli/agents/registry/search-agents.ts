// `switchboard agents search`: what the registry has, and what of it runs on this machine.
import { planInstall } from '../../../registry/plan.ts';
import { createInstallRecords } from '../../../registry/records.ts';
import { RegistryError } from '../../../registry/registry-error.ts';
import type { RegistryAgent } from '../../../registry/schema.ts';
import { notice, printTable } from '../../output.ts';
import { printData } from '../../policy/output.ts';
import type { ConfigFlags } from '../../resolve-config.ts';
import { openUserConfig } from '../../setup/user-config.ts';
import { here } from '../catalogue-entry.ts';
import { openRegistry, type RegistryFlags } from './open-registry.ts';

export type SearchFlags = ConfigFlags & RegistryFlags & { readonly json?: boolean };

export async function searchAgents(words: readonly string[], flags: SearchFlags): Promise<number> {
  const { stateDir } = here();
  const config = await openUserConfig(flags);
  const registry = await openRegistry(config.registryUrl, stateDir, flags);
  const records = createInstallRecords(stateDir).all();
  const found = registry.agents
    .filter((agent) => words.every((word) => textOf(agent).includes(word.toLowerCase())))
    .map((agent) => {
      const installed = records.filter(({ id }) => id === agent.id).map(({ name, current }) => ({ name, version: current.version }));
      return { agent, installed, how: howHere(agent) };
    });
  const warnings = [...registry.warnings, ...registry.skipped.map(({ id, why }) => `left out: ${id}: ${why}`)];
  if (flags.json) {
    const { url, from, at } = registry;
    const agents = found.map(({ agent, installed, how }) => ({ ...agent, installed, from: how ?? null }));
    printData({ registry: { url, from, at: at.toISOString() }, agents }, warnings);
    return 0;
  }
  for (const warning of warnings) notice(warning);
  if (found.length === 0)
    process.stdout.write(`The registry has no agent${words.length > 0 ? ` for "${words.join(' ').replace(/\p{C}/gu, '')}"` : ''}.\n`);
  else
    printTable(
      ['ID', 'NAME', 'VERSION', 'FROM', 'STATUS', 'DESCRIPTION'],
      found.map(({ agent, installed, how }) => {
        const status = installed.map(({ name, version }) => `${name === agent.id ? 'installed' : name} ${version}`).join(', ');
        return [agent.id, agent.name, agent.version, how ?? '-', status === '' ? '-' : status, agent.description ?? ''];
      }),
      process.stdout.columns,
    );
  return 0;
}

const textOf = ({ id, name, description = '' }: RegistryAgent): string => `${id} ${name} ${description}`.toLowerCase();

/** How it would be installed here; undefined if it cannot be. */
function howHere(agent: RegistryAgent): string | undefined {
  try {
    const { source } = planInstall(agent, { platform: process.platform, arch: process.arch, isLocal: true });
    return source.kind === 'binary' && source.sha256 === undefined ? 'binary, unverified' : source.kind;
  } catch (error) {
    if (error instanceof RegistryError) return undefined;
    throw error;
  }
}
