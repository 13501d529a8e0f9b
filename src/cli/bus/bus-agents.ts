// The agents that hosts offer on the bus, as agents of a configuration.
import os from 'node:os';
import { type AgentSpec, agentSpec } from '../../agents/defaults.ts';
import type { Assembled } from '../../app/assemble.ts';
import type { ConnectOnBus } from '../../app/launch.ts';
import type { Bus } from '../../bus/bus.ts';
import { systemBusClock } from '../../bus/clock.ts';
import { type Edge, startEdge } from '../../bus/cluster/edge.ts';
import type { Config } from '../../config/config.ts';
import { CommandFailure } from '../failure.ts';
import { type BusFlags, busOf, connectBus } from './open-bus.ts';

/** A configuration with the agents of the bus, and the way to them. */
export type OnBus = {
  readonly config: Config;
  readonly connectOnBus: ConnectOnBus;
  /** Adds the agents that hosts offer to every configuration that it gets. */
  reconfiguring(switchboard: Assembled): Assembled;
  close(): Promise<void>;
};

/** How long the first host may take to show itself, before a command fails for want of agents. */
const FIRST_HOST_MS = 3000;
const LOOK_EVERY_MS = 50;

/** Undefined without a bus. `local`: the bus of this process. `changed`: hosts offer other agents. */
export async function onBus(
  flags: BusFlags & { readonly agent?: string },
  config: Config,
  notify: (text: string) => void,
  changed: () => void,
  local?: () => Bus,
): Promise<OnBus | undefined> {
  const settings = await busOf(flags, config.bus);
  if (!settings) return undefined;
  const isLocal = settings.url === 'local:';
  if (isLocal && !local) return undefined; // this process is all there is
  const bus = isLocal && local ? local() : await connectBus(settings, `switchboard ${os.hostname()} ${process.pid}`);
  const edge = await startEdge({
    bus,
    tenant: settings.tenant,
    principal: settings.name ?? os.userInfo().username,
    clock: systemBusClock,
    random: Math.random,
    report: notify,
    changed,
  });
  if (!isLocal) await firstHost(edge, config);
  const close = async () => {
    await edge.close();
    await bus.close();
  };
  if (config.agents.length === 0 && edge.agents().length === 0 && !isLocal) {
    await close();
    throw new CommandFailure(7, `no host offers an agent on the bus at ${bus.shownUrl}`, 'start one: switchboard host --bus URL');
  }
  const withAgents = (next: Config) => pinned(withBusAgents(next, edge.agents()), flags.agent);
  return {
    config: withAgents(config),
    reconfiguring: (switchboard) => ({ ...switchboard, reconfigure: (next) => switchboard.reconfigure(withAgents(next)) }),
    close,
    connectOnBus: ({ agent, labels }, { process: name, sessionId, directories }, connection) =>
      edge.connect({ agent, labels, process: `${connection}/${name}`, sessionId, directories }),
  };
}

function pinned(config: Config, name: string | undefined): Config {
  if (name === undefined) return config;
  const agents = config.agents.filter((agent) => agent.name === name);
  return { ...config, agents: agents.length > 0 ? agents : [busAgent(name, name, {})], defaultAgent: name, routes: [] };
}

async function firstHost(edge: Edge, { agents }: Config): Promise<void> {
  if (agents.length > 0) return;
  for (const deadline = performance.now() + FIRST_HOST_MS; edge.agents().length === 0 && performance.now() < deadline; )
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
}

/** Agents of the configuration come first; one with the same name stays. A route with labels gets an entry of its own. */
export function withBusAgents(config: Config, offered: readonly string[]): Config {
  const own = config.agents.filter(({ remote }) => remote?.kind !== 'bus');
  const names = new Set(own.map(({ name }) => name));
  const ofHosts = offered.filter((name) => !names.has(name)).map((name) => busAgent(name, name, {}));
  const labelled = new Map<string, AgentSpec>();
  const routes = config.routes.map(({ cwd, agent, labels = {} }) => {
    if (names.has(agent) || Object.keys(labels).length === 0) return { cwd, agent };
    const name = `${agent}.${Object.entries(labels)
      .map((pair) => pair.join('-'))
      .join('.')}`.replaceAll(/[^\w.-]/g, '_');
    labelled.set(name, busAgent(name, agent, labels));
    return { cwd, agent: name };
  });
  const agents = [...own, ...ofHosts, ...labelled.values()];
  const known = new Set(agents.map(({ name }) => name));
  const isDefault = known.has(config.defaultAgent);
  return {
    ...config,
    agents,
    // A route to an agent that no host offers now must not lead to another one.
    routes: routes.map((route) => (known.has(route.agent) ? route : { ...route, agent: addMissing(agents, known, route.agent) })),
    defaultAgent: isDefault ? config.defaultAgent : (agents[0]?.name ?? ''),
    explicitDefault: isDefault && config.explicitDefault,
  };
}

function addMissing(agents: AgentSpec[], known: Set<string>, name: string): string {
  known.add(name);
  agents.push(busAgent(name, name, {}));
  return name;
}

/** The host serves the host tools, next to the agent. */
function busAgent(name: string, agent: string, labels: Readonly<Record<string, string>>): AgentSpec {
  const wanted = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  return {
    ...agentSpec(name, {
      command: agent,
      isolation: 'session',
      mcp_transport: 'off',
      ...(wanted.length > 0 && { label: `${agent} (${wanted.join(', ')})` }),
    }),
    remote: { kind: 'bus', agent, labels, address: `the bus${wanted.length > 0 ? `, ${wanted.join(', ')}` : ''}`, files: 'none' },
  };
}
