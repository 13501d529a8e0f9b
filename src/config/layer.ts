// The contribution of one file, each part with its position, and how layers merge.
// Values may be invalid: switchboard reports all problems at once, so later checks must cope with values that earlier checks reject.
import path from 'node:path';
import { fields } from '../json-object.ts';
import type { Document, Path } from './problems.ts';

export type Fields = Readonly<Record<string, unknown>>;
export type Placed = { readonly document: Document; readonly path: Path; readonly value: unknown };

export type Layer = {
  readonly agents: ReadonlyMap<string, Placed>;
  readonly defaultAgent: Placed | undefined;
  readonly routes: readonly Placed[];
  readonly limits: Fields;
  readonly timeouts: Fields;
  readonly hostTools: Placed | undefined;
  readonly mcpServers: ReadonlyMap<string, Placed>;
  /** Policies of all files apply together; none replaces another. */
  readonly policies: readonly Placed[];
  readonly workspace: unknown;
  readonly sandbox: unknown;
  readonly whileRunning: unknown;
  readonly rememberAlways: unknown;
  /** Absolute directories. */
  readonly allowCwd: unknown;
  readonly detachGrace: unknown;
  readonly networkClients: Fields;
  readonly webApp: Fields;
  readonly log: Fields;
  readonly store: Fields;
  readonly telemetry: Placed | undefined;
  /** With absolute paths. */
  readonly bus: unknown;
  readonly audit: Record<string, unknown>;
};

export const EMPTY_LAYER: Layer = {
  agents: new Map(),
  defaultAgent: undefined,
  routes: [],
  limits: {},
  timeouts: {},
  hostTools: undefined,
  mcpServers: new Map(),
  policies: [],
  workspace: undefined,
  sandbox: undefined,
  whileRunning: undefined,
  rememberAlways: undefined,
  allowCwd: undefined,
  detachGrace: undefined,
  networkClients: {},
  webApp: {},
  log: {},
  store: {},
  telemetry: undefined,
  bus: undefined,
  audit: {},
};

/** The layer of a file that may set every key. */
export function layerOf(document: Document): Layer {
  const given = fields(document.value);
  const { agent_servers, default_agent, routes, limits, timeouts, host_tools, mcp_servers, policy, workspace, sandbox, log, store } = given;
  const servers = fields(agent_servers);
  return {
    agents: new Map(
      document
        .keys(['agent_servers'])
        .map((name) => [name, { document, path: ['agent_servers', name], value: withCertificates(servers[name], document.file) }]),
    ),
    defaultAgent: default_agent === undefined ? undefined : { document, path: ['default_agent'], value: default_agent },
    routes: (Array.isArray(routes) ? routes : []).map((value, index) => ({ document, path: ['routes', index], value })),
    limits: fields(limits),
    timeouts: fields(timeouts),
    policies: policy === undefined ? [] : [{ document, path: ['policy'], value: policy }],
    workspace,
    sandbox,
    whileRunning: given.while_running,
    rememberAlways: given.remember_always,
    allowCwd: Array.isArray(given.allow_cwd)
      ? given.allow_cwd.map((one) => path.resolve(path.dirname(document.file), String(one)))
      : undefined,
    detachGrace: given.detach_grace,
    networkClients: fields(given.network_clients),
    webApp: fields(given.web_app),
    log: fields(log),
    store: fields(store),
    telemetry: given.telemetry === undefined ? undefined : { document, path: ['telemetry'], value: given.telemetry },
    bus: withBusFiles(given.bus, document.file),
    audit: fields(given.audit),
    hostTools:
      host_tools === undefined ? undefined : { document, path: ['host_tools'], value: withModules(fields(host_tools), document.file) },
    mcpServers: new Map(
      (Array.isArray(mcp_servers) ? mcp_servers : []).map((value, index) => [
        String(fields(value).name ?? index),
        { document, path: ['mcp_servers', index], value },
      ]),
    ),
  };
}

/** `over` takes precedence: its agents and servers replace those of the same name, and its routes come first. */
export function merge(under: Layer, over: Layer): Layer {
  return {
    agents: new Map([...under.agents, ...over.agents]),
    defaultAgent: over.defaultAgent ?? under.defaultAgent,
    routes: [...over.routes, ...under.routes],
    limits: { ...under.limits, ...over.limits },
    timeouts: { ...under.timeouts, ...over.timeouts },
    policies: [...under.policies, ...over.policies],
    workspace: over.workspace ?? under.workspace,
    sandbox: over.sandbox ?? under.sandbox,
    whileRunning: over.whileRunning ?? under.whileRunning,
    rememberAlways: over.rememberAlways ?? under.rememberAlways,
    allowCwd: over.allowCwd ?? under.allowCwd,
    detachGrace: over.detachGrace ?? under.detachGrace,
    networkClients: { ...under.networkClients, ...over.networkClients },
    webApp: { ...under.webApp, ...over.webApp },
    log: { ...under.log, ...over.log },
    store: { ...under.store, ...over.store },
    telemetry: over.telemetry
      ? { ...over.telemetry, value: { ...fields(under.telemetry?.value), ...fields(over.telemetry.value) } }
      : under.telemetry,
    bus: over.bus ?? under.bus,
    audit: { ...under.audit, ...over.audit },
    hostTools: over.hostTools
      ? { ...over.hostTools, value: { ...fields(under.hostTools?.value), ...fields(over.hostTools.value) } }
      : under.hostTools,
    mcpServers: new Map([...under.mcpServers, ...over.mcpServers]),
  };
}

export function enabledNames(layer: Layer): string[] {
  return [...layer.agents].flatMap(([name, agent]) => (fields(agent.value).enabled === false ? [] : [name]));
}

export function disabledNames(layer: Layer): string[] {
  const enabled = enabledNames(layer);
  return [...layer.agents.keys()].filter((name) => !enabled.includes(name));
}

/** Resolves module paths relative to the file that names them, before layers merge. */
function withModules(hostTools: Record<string, unknown>, file: string): Record<string, unknown> {
  const { modules } = hostTools;
  if (!Array.isArray(modules)) return hostTools;
  return { ...hostTools, modules: modules.map((one) => path.resolve(path.dirname(file), String(one))) };
}

/** Resolves the paths of certificates relative to the file that names them. */
function withCertificates(agent: unknown, file: string): unknown {
  const { tls } = fields(agent);
  if (fields(tls) !== tls) return agent;
  const resolved = Object.entries(fields(tls)).map(([name, at]) => [
    name,
    typeof at === 'string' ? path.resolve(path.dirname(file), at) : at,
  ]);
  return { ...fields(agent), tls: Object.fromEntries(resolved) };
}

/** Resolves the files of the bus relative to the file that names them. */
export function withBusFiles(bus: unknown, file: string): unknown {
  if (fields(bus) !== bus) return bus;
  const at = (value: unknown) => (typeof value === 'string' ? path.resolve(path.dirname(file), value) : value);
  const { credentials, token_file, tls, ...rest } = fields(bus);
  const certificates =
    fields(tls) === tls ? Object.fromEntries(Object.entries(fields(tls)).map(([name, value]) => [name, at(value)])) : tls;
  const files = Object.entries({ credentials: at(credentials), token_file: at(token_file), tls: certificates });
  return { ...rest, ...Object.fromEntries(files.filter(([, value]) => value !== undefined)) };
}
