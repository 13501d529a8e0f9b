// Another configuration for a connection that runs: it is for new sessions, and those that are open stay with the agent they have.
import type { AgentSpec } from '../../agents/defaults.ts';
import type { Hub } from '../hub.ts';
import { announceOptions } from '../sessions/config-options.ts';
import type { AgentLeg } from './agent.ts';
import { vacate } from './agent-pool.ts';

/** What of a configuration can change while a connection runs. */
export type Reconfiguration = {
  readonly agents: readonly AgentSpec[];
  readonly defaultAgent: string;
  readonly explicitDefault: boolean;
  readonly routes: readonly { readonly cwd: string; readonly agent: string }[];
};

export type NewAgents = { readonly legs: ReadonlyMap<string, AgentLeg>; readonly said: string };

/** The legs for it: agents that are as before keep theirs. undefined, with the reason, when the editor would have to be greeted anew. */
export function newAgents(
  hub: Hub,
  { agents }: Reconfiguration,
  legOf: (spec: AgentSpec) => AgentLeg,
): NewAgents | { readonly legs: undefined; readonly said: string } {
  const before = [...hub.agents.keys()];
  const isAlike = hub.alone ? agents.length === 1 && agents[0]?.name === before[0] : agents.length > 1;
  if (!isAlike)
    return {
      legs: undefined,
      said: hub.alone
        ? 'this connection has one agent, and its answers are that agent’s own; restart it to use another or several'
        : 'this connection has several agents, and cannot become one with a single agent; restart it for that',
    };
  const legs = new Map<string, AgentLeg>();
  const changed: string[] = [];
  for (const spec of agents) {
    const leg = hub.agents.get(spec.name);
    const isSame = leg !== undefined && JSON.stringify(leg.spec) === JSON.stringify(spec);
    if (!isSame) changed.push(`${leg ? 'changed' : 'new'}: ${spec.name}`);
    legs.set(spec.name, isSame ? leg : legOf(spec));
  }
  for (const name of before) if (!legs.has(name)) changed.push(`gone: ${name}`);
  return { legs, said: changed.length === 0 ? 'the agents are as before' : changed.join(', ') };
}

/** Ends agents that are no longer configured, as soon as their last session does, and tells editors what can be chosen now. */
export function leaveBehind(hub: Hub, before: readonly AgentLeg[]): void {
  for (const leg of before) {
    if (hub.agents.get(leg.name) === leg) continue;
    leg.isSuperseded = true;
    hub.isolated.add(leg);
    vacate(hub, leg);
  }
  if (hub.alone) return;
  for (const session of hub.sessions.values()) if (!session.isStarted && !session.isMet) announceOptions(hub, session);
}
