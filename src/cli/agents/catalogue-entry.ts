// Entries of the configuration for agents of the catalogue, as this machine starts them.
import type { CatalogueAgent } from '../../agents/catalogue.ts';
import { bundledCatalogue, isSingleExecutable } from '../../app/package-files.ts';
import { createInstallRecords } from '../../registry/records.ts';
import { findProgram } from '../../setup/find-program.ts';
import { looksSecret } from '../../setup/hide-secrets.ts';
import { type Here, resolveStart } from '../../setup/start-command.ts';
import { CommandFailure } from '../failure.ts';
import { printTable } from '../output.ts';
import { printData } from '../policy/output.ts';
import { surroundings } from '../resolve-config.ts';
import { startOf } from './registry/installed-entry.ts';

export type Entry = {
  readonly label?: string;
  readonly command: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
};

/** Lists the agents that can be added, and how each would start on this machine. */
export async function listCatalogue(flags: { readonly command?: string; readonly json?: boolean }): Promise<number> {
  if (flags.command !== undefined) throw new CommandFailure(2, 'name the agent', 'switchboard agents add NAME --command PROGRAM -- ARGS');
  const around = hereWithInstalled();
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

/** Runs scripts of agents. The single executable cannot: it needs the Node on PATH. */
export const nodeProgram = (): string =>
  isSingleExecutable() ? (findProgram('node', { env: process.env, platform: process.platform }) ?? 'node') : process.execPath;

/** The facts about this machine that decide how an agent starts. */
export function here(): Here & { readonly stateDir: string } {
  const { env, platform, stateDir } = surroundings({});
  return { env, platform, node: { path: nodeProgram(), version: process.version }, stateDir };
}

/** The same, with the agents that switchboard has installed itself. */
export function hereWithInstalled(): Here {
  const installed = new Map(
    createInstallRecords(here().stateDir)
      .all()
      .map(({ id, current }) => [id, startOf(current)] as const),
  );
  return { ...here(), installed };
}

/** The entry for a catalogue agent, and its unresolved settings. */
export function fromCatalogue(agent: CatalogueAgent, args: readonly string[], flags: { readonly env?: readonly string[] } = {}) {
  const { command, args: own, env, how, warnings } = resolveStart(agent, hereWithInstalled());
  const variables = { ...env, ...readEnv(flags.env ?? []) };
  const entry: Entry = {
    label: agent.name,
    command,
    args: [...own, ...args],
    ...(Object.keys(variables).length > 0 && { env: variables }),
  };
  const advice = how === 'runner' ? [`to install it now, run: switchboard agents add ${agent.id} --install --force`] : [];
  const unchecked = agent.checked ? [] : ['this agent is untested with switchboard; its entry may be outdated'];
  return {
    entry,
    warnings: [...warnings, ...advice, ...unchecked, ...(agent.note === undefined ? [] : [`about ${agent.name}: ${agent.note}`])],
  };
}

/** `KEY` refers to the environment; `KEY=VALUE` is for values that are not secret: other users can read command lines. */
export function readEnv(given: readonly string[]): Record<string, string> {
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
