// Agents that can hold only one session get a process for each of them.

import type { Choice } from '../../router/route.ts';
import type { ProxyParts } from '../parts.ts';
import { withdrawAll } from '../requests/agent-requests.ts';
import { forgetAllParked } from '../sessions/close-session.ts';
import { failOpenToolCalls } from '../sessions/cut-off.ts';
import type { Agent } from './agent.ts';

/** The params with which agents are initialized. */
export type InitializeParams = {
  readonly paramsText: string;
  readonly clientCapabilities: unknown;
  /** Client methods that we answer, because the client cannot. */
  readonly served: ReadonlySet<string>;
};

export type AgentPool = {
  /** The only configured agent: the proxy is transparent then. */
  single: Agent | undefined;
  readonly agents: ReadonlyMap<string, Agent>;
  /** Further processes of agents that have one for each session. */
  readonly isolated: Set<Agent>;
  /** Isolated agents that are stopping. */
  readonly leaving: Set<Agent>;
  /** Creates another process for an isolated agent. */
  readonly anotherProcess: (agent: Agent) => Agent;
  choice: Choice;
  /** The configuration names `default_agent`; otherwise the first agent is the default. */
  hasExplicitDefault: boolean;
  /** Undefined before the client has sent initialize. */
  initializeParams: InitializeParams | undefined;
};

/** The agents as a list of choices shows them. */
export const agentTitles = (pool: AgentPool): { readonly name: string; readonly title: string }[] =>
  [...pool.agents.values()].map(({ name, title }) => ({ name, title }));

/** Where a session of this agent is to live. */
export function agentForSession(proxy: ProxyParts, agent: Agent): Agent {
  if (!agent.isIsolated || (agent.sessions.size === 0 && agent.openings === 0)) return agent;
  const another = proxy.pool.anotherProcess(agent);
  if (another === agent) return agent; // we are shutting down, and nothing is started any more
  another.handshake = agent.handshake;
  proxy.pool.isolated.add(another);
  return another;
}

/** The session that lived there is over, and so is the process it had for itself. */
export function vacate(proxy: ProxyParts, agent: Agent): void {
  const isForAll = !agent.isIsolated && !agent.isSuperseded;
  if (isForAll || agent.openings > 0) return;
  for (const { isDiscovered } of agent.sessions.values()) if (!isDiscovered) return;
  // Sessions that only the agent has spoken of end with the process that spoke of them.
  for (const [nativeId, discovered] of agent.sessions) {
    agent.sessions.delete(nativeId);
    failOpenToolCalls(proxy, discovered);
    if (proxy.registry.sessions.get(discovered.publicId) !== discovered) continue;
    proxy.registry.sessions.delete(discovered.publicId);
    proxy.registry.table.release(discovered.publicId);
  }
  forgetAllParked(agent);
  agent.refused.clear();
  agent.retire();
  withdrawAll(proxy, agent);
  if (agent.isStarted || !proxy.pool.isolated.delete(agent)) return; // others wait for it still
  // Its process may take its time to end, and whoever stops us must wait for it.
  proxy.pool.leaving.add(agent);
  void agent.left().then(() => proxy.pool.leaving.delete(agent));
}

/** The agent behind the id of a leg. */
export const agentOf = (agentId: string): string => agentId.replace(/#\d+$/, '');
