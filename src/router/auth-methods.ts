// Authentication methods of several agents under one roof: `<agent>/<id>`, and back.
import type { AuthMethod } from '../acp/shapes.ts';

export function namespaced(agent: { readonly name: string; readonly title: string }, method: AuthMethod): AuthMethod {
  return repointed(agent.name, { ...method, id: `${agent.name}/${method.id}`, name: `${agent.title}: ${method.name}` });
}

/**
 * A `terminal` method runs the configured command again with further arguments, and the configured command is ours.
 * Ours then starts the agent's in its place.
 */
export function repointed(agent: string, method: AuthMethod): AuthMethod {
  if (method.type !== 'terminal') return method;
  return { ...method, args: ['--auth', agent, '--', ...(method.args ?? [])] };
}

/** The agent and its own method id; undefined when the id is none of ours. Agents' names have no slash, their ids may. */
export function splitMethodId(methodId: string): { readonly agent: string; readonly id: string } | undefined {
  const slash = methodId.indexOf('/');
  return slash < 1 ? undefined : { agent: methodId.slice(0, slash), id: methodId.slice(slash + 1) };
}
