// The configuration of a command: the user's files, or the demo agents if there are none.
import os from 'node:os';
import { withDemoAgents } from '../app/launch.ts';
import { VERSION } from '../app/package-files.ts';
import type { Config } from '../config/config.ts';
import { disabledNames } from '../config/layer.ts';
import { type LoadedConfig, type LoadOptions, loadConfig } from '../config/load.ts';
import { ConfigError, renderProblem } from '../config/problems.ts';
import { errorCode, readOwn } from '../config/watch-files.ts';
import { nearestOf } from '../policy/format/nearest.ts';
import { chooseAgent } from '../router/route.ts';
import { stateDir as findStateDir } from '../store/state-dir.ts';
import { CommandFailure } from './failure.ts';
import { notice } from './output.ts';

export type ConfigFlags = {
  readonly config?: string | undefined;
  readonly agent?: string;
  /** The address of a bus, where hosts offer further agents. */
  readonly bus?: string | undefined;
  /** Only these agents, in this order. */
  readonly agents?: readonly string[] | undefined;
  /** Use only one agent: the one named, else by `routes`, `default_agent` or the first listed. */
  readonly isOneAgent?: boolean;
  /** Use only this agent, if no other is named: that of a session. */
  readonly agentOfSession?: string | undefined;
  readonly isOnlyShown?: boolean;
  readonly isReload?: boolean;
};

export async function resolveConfig(
  flags: ConfigFlags,
  say: (text: string) => void = notice,
): Promise<{
  readonly config: Config;
  readonly origin: LoadedConfig['origin'];
  readonly files: readonly string[];
  readonly stateDir: string;
  /** The agents with `"enabled": false`, which `config` does not contain. */
  readonly switchedOff: readonly string[];
}> {
  const here = surroundings(flags);
  const loaded = await loadConfig({
    ...here,
    version: VERSION,
    isOnlyShown: flags.isOnlyShown,
    isReload: flags.isReload,
    isPerAgent: true,
    isOnBus: flags.bus !== undefined,
  });
  for (const text of loaded.notices) say(text);
  const isOnBus = flags.bus !== undefined || loaded.config.bus !== undefined;
  const isDemo = loaded.origin === 'none' && !isOnBus;
  if (isDemo) say('no configuration found; using the built-in demo agents. To create a configuration, run: switchboard init');
  const config = isDemo ? withDemoAgents(loaded.config, here.stateDir) : loaded.config;
  const alone = flags.agent ?? flags.agentOfSession ?? oneAgentOf(config, flags, here.cwd);
  // On the bus, the agents are known later.
  const isLater = isOnBus && alone !== undefined && !config.agents.some(({ name }) => name === alone);
  const names = isLater ? [] : alone === undefined ? flags.agents : [alone];
  const { origin, files } = loaded;
  const switchedOff = disabledNames(loaded.layer);
  if (!isLater && flags.agent === undefined && flags.agentOfSession !== undefined) refuseMissing(flags.agentOfSession, config, switchedOff);
  const used = names ? pinned(config, names, switchedOff) : config;
  reportUnusable(used, loaded.unresolved, flags.isOnlyShown === true, say);
  return { config: used, origin, files, stateDir: here.stateDir, switchedOff };
}

/** An agent whose settings refer to something that is not there fails alone; if no other is wanted, that is an error. */
function reportUnusable(
  { agents }: Config,
  unresolved: LoadedConfig['unresolved'],
  isOnlyShown: boolean,
  say: (text: string) => void,
): void {
  const problems = agents.flatMap(({ name, unusable }) => (unusable ? (unresolved.get(name) ?? []) : []));
  if (problems.length === 0 || agents.length === 0) return;
  if (agents.every(({ unusable }) => unusable) && !isOnlyShown) throw new ConfigError(problems);
  for (const { name, unusable } of agents)
    if (unusable) say(`agent "${name}" cannot be used: ${(unresolved.get(name) ?? []).map(renderProblem).join('; ')}`);
}

function oneAgentOf({ agents, defaultAgent, routes }: Config, flags: ConfigFlags, cwd: string): string | undefined {
  const names = agents.map(({ name }) => name);
  if (!flags.isOneAgent || names.length === 0) return undefined;
  const chosen = chooseAgent({ agents: names, defaultAgent, routes }, undefined, cwd);
  return typeof chosen === 'string' ? chosen : undefined;
}

/** The environment for finding the configuration. */
export function surroundings(flags: ConfigFlags): LoadOptions {
  const home = os.homedir();
  const { env, platform } = process;
  const stateDir = findStateDir(env, home, platform);
  return { ...(flags.config !== undefined && { configFlag: flags.config }), env, cwd: process.cwd(), home, platform, stateDir };
}

/** Restricts the configuration to the named agents. */
function pinned(config: Config, names: readonly string[], switchedOff: readonly string[]): Config {
  const known = config.agents.map((agent) => agent.name);
  const agents = names.map((name) => config.agents.find((agent) => agent.name === name) ?? unknownAgent(name, known, switchedOff));
  return { ...config, agents, defaultAgent: names[0] ?? config.defaultAgent, routes: [] };
}

/** Another agent knows nothing of the session. */
function refuseMissing(name: string, { agents }: Config, switchedOff: readonly string[]): void {
  if (switchedOff.includes(name) || agents.some((agent) => agent.name === name)) return;
  const known = agents.map((agent) => agent.name).join(', ');
  throw new CommandFailure(4, `the session is one of agent "${name}", which is not configured`, `configured agents: ${known}`);
}

function unknownAgent(name: string, known: readonly string[], switchedOff: readonly string[]): never {
  if (switchedOff.includes(name))
    throw new CommandFailure(
      4,
      `agent "${name}" is disabled`,
      `remove "enabled": false from agent_servers.${name}; to find the file, run: switchboard config path`,
    );
  const hint = nearestOf(name, known, 'configured agents');
  throw new CommandFailure(4, `unknown agent "${name}"`, hint);
}

// Input files on the command line. Exit codes for unreadable files: 2 for input, 6 for a configuration or policy, 1 for our own files.
const USAGE = 2;

/** `what` names the file in messages: "the recording". */
export async function readInput(what: string, file: string): Promise<string> {
  return (await readOwn(file).catch((error: unknown) => refuse(what, file, error))).text;
}

export function refuse(what: string, file: string, error: unknown): never {
  throw new CommandFailure(USAGE, `cannot read ${what} ${file} (${errorCode(error)})`, 'check the path');
}
