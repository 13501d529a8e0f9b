// What several agents can do together, said so that no editor is promised what its session's agent cannot keep.
import { type AuthMethod, type Capabilities, type InitializeResult, META_KEY } from '../acp/shapes.ts';

// Authentication methods of several agents under one roof: `<agent>/<id>`, and back.
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

export type Answered = {
  readonly name: string;
  readonly title: string;
  readonly result: InitializeResult;
  /** Servers of any type reach it, those it cannot take through bridges of ours. */
  readonly hasBridges?: boolean;
};

/** Every agent can open sessions, prompt, cancel, take text and links, and stdio MCP servers; a late one counts as no more than that. */
export const BASELINE: InitializeResult = { protocolVersion: 1, agentCapabilities: {}, authMethods: [] };

/** Fields of session/new and the like that an agent without them would silently ignore, so all must have them. */
const NEEDS_ALL = new Set(['additionalDirectories', 'systemPrompt']);

/** What we can do ourselves: `transcripts` when what is said in sessions is written down. */
type Self = { readonly version: string; readonly transcripts?: unknown };

export function mergeInitialize(agents: readonly Answered[], self: Self): InitializeResult {
  const capabilities = agents.map((agent) => agent.result.agentCapabilities ?? {});
  const auth = union(capabilities.map((c) => objectOf(c.auth)));
  const takesServers = (type: string) =>
    agents.length > 0 && agents.every(({ result, hasBridges }) => hasBridges === true || offers(result, 'mcpCapabilities', type));
  return {
    protocolVersion: 1,
    agentCapabilities: {
      // Where an agent cannot tell a session again, the transcript does.
      loadSession: capabilities.some((c) => c.loadSession === true) || (agents.length > 0 && self.transcripts !== undefined),
      promptCapabilities: {
        image: everyHas(capabilities, 'promptCapabilities', 'image'),
        audio: everyHas(capabilities, 'promptCapabilities', 'audio'),
        // Lossless to take apart for an agent that lacks it: see degrade.ts.
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

/** What an agent says of MCP servers, where those it cannot take are bridged. */
export const withBridges = (mcpCapabilities: unknown): Capabilities => ({ ...objectOf(mcpCapabilities), http: true, sse: true, acp: true });

/** Whether a capability path such as `sessionCapabilities.close` is offered by an agent. */
export function offers(result: InitializeResult | undefined, ...path: readonly string[]): boolean {
  let value: unknown = result?.agentCapabilities;
  for (const key of path) value = objectOf(value)[key];
  return isOffered(value);
}

/** The agents that announced a vendor's extension in their capabilities' `_meta`. */
export function agentsWithVendor(agents: readonly Answered[], vendor: string): readonly string[] {
  return agents.filter(({ result }) => Object.hasOwn(objectOf(objectOf(result.agentCapabilities)._meta), vendor)).map(({ name }) => name);
}

function mergeSessionCapabilities(each: readonly Capabilities[]): Capabilities {
  const merged = union(each);
  for (const key of Object.keys(merged)) if (NEEDS_ALL.has(key) && !each.every((c) => isOffered(c[key]))) delete merged[key];
  // An agent without it is sent session/cancel instead, and its session is forgotten.
  merged.close ??= {};
  // Of an agent without it we list what was opened through us.
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

/** Vendors' keys are not merged: an editor would call `_vendor/…` with nowhere to route it. */
function describe({ name, title, result }: Answered): [string, unknown] {
  const meta = objectOf(result.agentCapabilities)._meta;
  return [
    name,
    {
      title,
      ...(result.agentInfo?.version !== undefined && { version: result.agentInfo.version }),
      ...(meta !== undefined && { _meta: meta }),
    },
  ];
}

/** Absent, null and false all mean unsupported. */
function isOffered(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false;
}

function objectOf(value: unknown): Capabilities {
  return typeof value === 'object' && value !== null ? (value as Capabilities) : {};
}

// How an agent can be asked to bring a session back, the best way first.
export type WayBack = 'session/resume' | 'session/load';

/**
 * A resume can be done as a load whose replay is withheld, also after the agent has refused to resume. A load can be done as a resume by
 * whoever can tell what was said himself.
 */
export function waysBack(result: InitializeResult | undefined, asked: WayBack): readonly WayBack[] {
  const load: readonly WayBack[] = offers(result, 'loadSession') ? ['session/load'] : [];
  const resume: readonly WayBack[] = offers(result, 'sessionCapabilities', 'resume') ? ['session/resume'] : [];
  if (asked === 'session/load') return load.length > 0 ? load : resume;
  return [...resume, ...load];
}
