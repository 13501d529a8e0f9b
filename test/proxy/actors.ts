// Agents without processes that have every capability, and a connection to them.
import type { AgentOptions } from '../../src/agents/options.ts';
import { CAPABILITIES, type Json } from '../e2e/harness.ts';
import { ALL_CAPABILITIES } from '../e2e/scripted-agent.ts';
import { connectInProcess, createActor, type InProcess, type Setup } from '../faults/in-process.ts';

export type Actor = ReturnType<typeof createActor>;

export const CWD = '/work';
export const end = { stopReason: 'end_turn' };
export const cancelled = { stopReason: 'cancelled' };
export const chunk = (words: string): Json => ({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: words } });

/** An agent with every capability that numbers its sessions. */
export function able(name: string, capabilities: Json = ALL_CAPABILITIES): Actor {
  const actor = createActor(name);
  let sessions = 0;
  actor.on('initialize', () => ({ protocolVersion: 1, agentCapabilities: capabilities }));
  actor.on('session/new', () => ({ sessionId: `s${++sessions}` }));
  actor.on('session/prompt', ({ sessionId, prompt: [block] }) => {
    actor.notify('session/update', { sessionId, update: chunk(`${name} heard ${block.text}`) });
    return end;
  });
  for (const method of ['session/load', 'session/resume', 'session/close', 'session/delete']) actor.on(method, () => ({}));
  actor.on('session/list', () => ({ sessions: [] }));
  return actor;
}

/** An initialized connection. `options` apply to every agent. */
export async function connection(
  actors: readonly Actor[],
  options: Partial<AgentOptions> = {},
  parts: Partial<Setup> = {},
): Promise<InProcess> {
  const byName = new Map(actors.map((actor) => [actor.name, actor]));
  const made = connectInProcess({
    agents: Object.fromEntries(actors.map(({ name }) => [name, { command: name, ...options }])),
    launch: ({ name }) => (byName.get(name) as Actor).launch(),
    ...parts,
  });
  await made.client.call('initialize', { protocolVersion: 1, clientCapabilities: CAPABILITIES });
  return made;
}

export const connected = async (actors: readonly Actor[]): Promise<InProcess['client']> => (await connection(actors)).client;
