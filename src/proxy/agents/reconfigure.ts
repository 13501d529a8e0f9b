// Another configuration for a connection that runs: it is for new sessions, and those that are open stay with the agent they have.
import type { AgentSpec } from '../../agents/defaults.ts';
import type { ProxyParts } from '../parts.ts';
import { announceOptions } from '../sessions/config-options.ts';
import type { Agent } from './agent.ts';
import { vacate } from './agent-pool.ts';

/** What of a configuration can change while a connection runs. */
export type Reconfiguration = {
  readonly agents: readonly AgentSpec[];
  readonly defaultAgent: string;
  readonly explicitDefault: boolean;
  readonly routes: readonly { readonly cwd: string; readonly agent: string }[];
};

export type NewAgents = { readonly nextAgents: ReadonlyMap<string, Agent>; readonly said: string };

/** The legs for it: agents that are as before keep theirs. undefined, with the reason, when the editor would have to be greeted anew. */
export function newAgents(
  proxy: ProxyParts,
  { agents }: Reconfiguration,
  agentOf: (spec: AgentSpec) => Agent,
): NewAgents | { readonly nextAgents: undefined; readonly said: string } {
  const before = [...proxy.pool.agents.keys()];
  const isAlike = proxy.pool.single ? agents.length === 1 && agents[0]?.name === before[0] : agents.length > 1;
  if (!isAlike)
    return {
      nextAgents: undefined,
      said: proxy.pool.single
        ? 'this connection has one agent, and its answers are that agent’s own; restart it to use another or several'
        : 'this connection has several agents, and cannot become one with a single agent; restart it for that',
    };
  const nextAgents = new Map<string, Agent>();
  const changed: string[] = [];
  for (const spec of agents) {
    const agent = proxy.pool.agents.get(spec.name);
    const isSame = agent !== undefined && JSON.stringify(agent.spec) === JSON.stringify(spec);
    if (!isSame) changed.push(`${agent ? 'changed' : 'new'}: ${spec.name}`);
    nextAgents.set(spec.name, isSame ? agent : agentOf(spec));
  }
  for (const name of before) if (!nextAgents.has(name)) changed.push(`gone: ${name}`);
  return { nextAgents, said: changed.length === 0 ? 'the agents are as before' : changed.join(', ') };
}

/** Ends agents that are no longer configured, as soon as their last session does, and tells editors what can be chosen now. */
export function leaveBehind(proxy: ProxyParts, before: readonly Agent[]): void {
  for (const agent of before) {
    if (proxy.pool.agents.get(agent.name) === agent) continue;
    agent.isSuperseded = true;
    proxy.pool.isolated.add(agent);
    vacate(proxy, agent);
  }
  if (proxy.pool.single) return;
  for (const session of proxy.registry.sessions.values()) if (!session.isStarted && !session.isDiscovered) announceOptions(proxy, session);
}
