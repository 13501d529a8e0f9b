// Merges the capabilities of several agents, so that no client is promised what its session's agent cannot do.
import { type AuthMethod, type Capabilities, type InitializeResult, isOffered, META_KEY } from '../acp/shapes.ts';

// Authentication methods of several agents: `<agent>/<id>`, and back.
export function namespaced(agent: { readonly name: string; readonly title: string }, method: AuthMethod): AuthMethod {
  return repointed(agent.name, { ...method, id: `${agent.name}/${method.id}`, name: `${agent.title}: ${method.name}` });
}

/**
 * A `terminal` method runs the configured command again with more arguments. The configured command is the switchboard, which then starts
 * the agent's login.
 */
export function repointed(agent: string, method: AuthMethod): AuthMethod {
  if (method.type !== 'terminal') return method;
  return { ...method, args: ['--auth', agent, '--', ...(method.args ?? [])] };
}

/** The agent and its own method id; undefined if the prefix is missing. Agent names have no slash; method ids may. */
export function splitMethodId(methodId: string): { readonly agent: string; readonly id: string } | undefined {
  const slash = methodId.indexOf('/');
  return slash < 1 ? undefined : { agent: methodId.slice(0, slash), id: methodId.slice(slash + 1) };
}

export type Answered = {
  readonly name: string;
  readonly title: string;
  readonly result: InitializeResult;
  /** The agent accepts servers of any type: the switchboard bridges those it cannot reach. */
  readonly hasBridges?: boolean;
};

/**
 * What every agent can do: open sessions, prompt, cancel, accept text, links and stdio MCP servers. An agent that answers too late counts
 * as no more.
 */
export const BASELINE: InitializeResult = { protocolVersion: 1, agentCapabilities: {}, authMethods: [] };

/** Fields of session/new that an agent without the capability would silently ignore, so all agents must have it. */
const NEEDS_ALL = new Set(['additionalDirectories', 'systemPrompt']);

/** What the switchboard can do itself: `transcripts` if it records sessions. */
type Self = { readonly version: string; readonly transcripts?: unknown };

export function mergeInitialize(agents: readonly Answered[], self: Self): InitializeResult {
  const capabilities = agents.map((agent) => agent.result.agentCapabilities ?? {});
  const auth = union(capabilities.map((c) => objectOf(c.auth)));
  const takesServers = (type: string) =>
    agents.length > 0 && agents.every(({ result, hasBridges }) => hasBridges === true || offers(result, 'mcpCapabilities', type));
  return {
    protocolVersion: 1,
    agentCapabilities: {
      // If an agent cannot replay a session, the transcript does.
      loadSession: capabilities.some((c) => c.loadSession === true) || (agents.length > 0 && self.transcripts !== undefined),
      promptCapabilities: {
        image: everyHas(capabilities, 'promptCapabilities', 'image'),
        audio: everyHas(capabilities, 'promptCapabilities', 'audio'),
        // The proxy converts it without loss for an agent that lacks it: see proxy/turns/resource-as-text.ts.
        embeddedContext: capabilities.some((c) => isOffered(objectOf(c.promptCapabilities).embeddedContext)),
      },
      mcpCapabilities: {
        http: takesServers('http'),
        sse: takesServers('sse'),
        ...(takesServers('acp') && { acp: true }),
      },
      sessionCapabilities: mergeSessionCapabilities(capabilities.map((c) => objectOf(c.sessionCapabilities))),
      ...(Object.keys(auth).length > 0 && { auth }),
      _meta: { [META_KEY]: { agents: Object.fromEntries(agents.map(describe)) } },
    },
    agentInfo: { name: META_KEY, title: 'Switchboard', version: self.version },
    authMethods: agents.flatMap((agent) => (agent.result.authMethods ?? []).map((method) => namespaced(agent, method))),
  };
}

/** An agent's MCP capabilities, with bridges for the rest. */
export const withBridges = (mcpCapabilities: unknown): Capabilities => ({ ...objectOf(mcpCapabilities), http: true, sse: true, acp: true });

/** An agent's prompt capabilities, if the proxy describes to it the images and audio that it does not support. */
export const withMedia = (promptCapabilities: unknown): Capabilities => ({ ...objectOf(promptCapabilities), image: true, audio: true });

/** Whether an agent offers a capability path such as `sessionCapabilities.close`. */
export function offers(result: InitializeResult | undefined, ...path: readonly string[]): boolean {
  let value: unknown = result?.agentCapabilities;
  for (const key of path) value = objectOf(value)[key];
  return isOffered(value);
}

/** The agents that announce a vendor's extension in the `_meta` of their capabilities. */
export function agentsWithVendor(agents: readonly Answered[], vendor: string): readonly string[] {
  return agents.filter(({ result }) => Object.hasOwn(objectOf(objectOf(result.agentCapabilities)._meta), vendor)).map(({ name }) => name);
}

function mergeSessionCapabilities(each: readonly Capabilities[]): Capabilities {
  const merged = union(each);
  for (const key of Object.keys(merged)) if (NEEDS_ALL.has(key) && !each.every((c) => isOffered(c[key]))) delete merged[key];
  // An agent without it receives session/cancel instead, and its session is forgotten.
  merged.close ??= {};
  // For an agent without it, the proxy lists the sessions it opened itself.
  if (each.length > 0) merged.list ??= {};
  return merged;
}

function union(each: readonly Capabilities[]): Record<string, unknown> {
  const merged: Record<string, unknown> = {};
  for (const capabilities of each)
    for (const [key, value] of Object.entries(capabilities)) if (key !== '_meta' && isOffered(value)) merged[key] ??= value;
  return merged;
}

function everyHas(capabilities: readonly Capabilities[], group: string, key: string): boolean {
  return capabilities.length > 0 && capabilities.every((c) => isOffered(objectOf(c[group])[key]));
}

/** Vendors' keys are not merged: the client would call `_vendor/…` with nowhere to route it. */
function describe({ name, title, result }: Answered): [string, unknown] {
  const { _meta: meta, promptCapabilities } = objectOf(result.agentCapabilities);
  return [
    name,
    {
      title,
      // The merged ones say what every agent takes; a client that knows the session's agent may send it more.
      ...(promptCapabilities !== undefined && promptCapabilities !== null && { promptCapabilities }),
      ...(result.agentInfo?.version !== undefined && { version: result.agentInfo.version }),
      ...(meta !== undefined && { _meta: meta }),
    },
  ];
}

function objectOf(value: unknown): Capabilities {
  return typeof value === 'object' && value !== null ? (value as Capabilities) : {};
}

// How an agent can reopen a session, the best way first.
export type ReopenMethod = 'session/resume' | 'session/load';

/**
 * A resume can be a load whose replay is withheld, also after the agent refused to resume. A load can be a resume if the proxy can replay
 * the conversation itself.
 */
export function reopenMethods(result: InitializeResult | undefined, requested: ReopenMethod): readonly ReopenMethod[] {
  const load: readonly ReopenMethod[] = offers(result, 'loadSession') ? ['session/load'] : [];
  const resume: readonly ReopenMethod[] = offers(result, 'sessionCapabilities', 'resume') ? ['session/resume'] : [];
  if (requested === 'session/load') return load.length > 0 ? load : resume;
  return [...resume, ...load];
}
