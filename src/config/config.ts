// The configuration as the program uses it: complete, with all defaults and references resolved.

import { createHash } from 'node:crypto';
import { type AgentSpec, agentSpec } from '../agents/defaults.ts';
import type { AgentOptions } from '../agents/options.ts';
import type { AuditOptions } from '../audit/options.ts';
import { type AuditSettings, auditSettings } from '../audit/settings.ts';
import { type BusConfig, busConfig } from '../bus/config.ts';
import type { BusOptions } from '../bus/options.ts';
import type { HostToolsOptions, McpServerOptions } from '../mcp/options.ts';
import { type HostToolsSettings, hostToolsSettings, type McpServerSettings, mcpServerSettings } from '../mcp/settings.ts';
import { platformOf } from '../platform/platform.ts';
import { type SandboxSettings, sandboxSettings } from '../sandbox/settings.ts';
import { type LogSettings, logSettings, type StoreSettings, storeSettings } from '../store/defaults.ts';
import type { LogOptions } from '../store/log-options.ts';
import type { StoreOptions } from '../store/store-options.ts';
import { type TelemetryConfig, telemetryConfig } from '../telemetry/config.ts';
import type { TelemetryOptions } from '../telemetry/options.ts';
import type { Layer } from './layer.ts';
import { variablesIn } from './references.ts';

type Route = {
  /** A glob that matches the working directory of a session. */
  readonly cwd: string;
  readonly agent: string;
  /** Only on hosts of the bus with these labels. */
  readonly labels?: Readonly<Record<string, string>>;
};

/** Where a policy comes from. */
export type PolicySource = {
  readonly layer: 'user' | 'project';
  /** The file that refers to the policy. */
  readonly from: string;
  /** A path relative to that file, the name of a preset, or an inline policy. */
  readonly policy: string | Readonly<Record<string, unknown>>;
  /** Whether the user trusts that file. Applies to an inline policy; a separate policy file has its own trust. */
  readonly isFromTrusted: boolean;
};

export type Config = {
  /** The enabled agents, in file order. Empty only without a configuration. */
  readonly agents: readonly AgentSpec[];
  /** The default agent: `default_agent`, or else the first agent. Empty only without agents. */
  readonly defaultAgent: string;
  /** Whether a file sets `default_agent`. */
  readonly explicitDefault: boolean;
  /** The first match wins. */
  readonly routes: readonly Route[];
  readonly limits: { readonly maxFrameBytes: number; readonly maxQueueBytes: number };
  /** The policies; empty when the client decides everything. */
  readonly policies: readonly PolicySource[];
  /** Undefined: the defaults. */
  readonly audit?: AuditSettings | undefined;
  /** `serve-missing`: switchboard serves files and terminals that the client does not. */
  readonly workspace: 'off' | 'serve-missing';
  /** For the programs that switchboard starts itself; agents have their own. Undefined if the configuration says nothing. */
  readonly sandbox?: SandboxSettings | undefined;
  readonly network: {
    /** Where network clients may open sessions; undefined: in the working directory of the daemon. */
    readonly allowCwd: readonly string[] | undefined;
    readonly allowsStdioServers: boolean;
    /** Web pages that may connect, such as `https://app.example.com`. */
    readonly origins: readonly string[];
    /** Further values of the Host header, in lower case. */
    readonly hosts: readonly string[];
    /** Offers session/attach and session/detach. */
    readonly offersAttach: boolean;
    /** How long sessions of the daemon wait for another client. */
    readonly detachGraceMs: number;
  };
  readonly webApp: {
    /** A page may start commands that are not configured. */
    readonly allowsCommands: boolean;
    /** A page may run commands in the directories of its sessions. */
    readonly allowsTerminals: boolean;
  };
  /** How long `initialize` waits for agents whose capabilities are not cached. */
  readonly initializeWaitMs: number;
  readonly logging: LogSettings;
  readonly store: StoreSettings;
  readonly telemetry: TelemetryConfig;
  /** Undefined: this process is on its own. */
  readonly bus?: BusConfig | undefined;
  readonly hostTools: HostToolsSettings;
  readonly mcpServers: readonly McpServerSettings[];
  /** The environment variables that the configuration refers to: secrets of an agent or server. */
  readonly secretVariables: readonly string[];
};

/** The defaults. */
export const DEFAULTS = {
  limits: { maxFrameBytes: 33_554_432, maxQueueBytes: 67_108_864 },
  initializeWaitMs: 10_000,
  workspace: 'off',
} as const;

/** Applies the defaults. The casts rely on a layer without problems. */
export function toConfig(
  layer: Layer,
  enabled: ReadonlyMap<string, unknown>,
  servers: readonly unknown[] = [],
  project?: { readonly file: string; readonly isTrusted: boolean },
  telemetry: unknown = {},
): Config {
  const variables = new Map([...layer.agents].map(([name, { value }]) => [name, new Set(variablesIn(value))]));
  const ofServers = [...layer.mcpServers.values()].flatMap(({ value }) => variablesIn(value));
  const ofOthers = [...ofServers, ...variablesIn(layer.telemetry?.value)];
  const secretVariables = [...new Set([...variables.values()].flatMap((names) => [...names]).concat(ofOthers))].sort();
  const agents = [...enabled].map(([name, options]) =>
    agentSpec(
      name,
      options as AgentOptions,
      secretVariables.filter((variable) => !variables.get(name)?.has(variable)),
      {
        sandbox: layer.sandbox,
        whileRunning: layer.whileRunning as AgentSpec['whileRunning'],
        rememberAlways: layer.rememberAlways as AgentSpec['rememberAlways'],
      },
    ),
  );
  const limits = layer.limits as { max_frame_bytes?: number; max_queue_bytes?: number };
  const timeouts = layer.timeouts as { initialize_wait_ms?: number };
  return {
    agents,
    defaultAgent: (layer.defaultAgent?.value as string | undefined) ?? agents[0]?.name ?? '',
    explicitDefault: layer.defaultAgent !== undefined,
    routes: layer.routes.map(({ value }) => value as Route),
    limits: {
      maxFrameBytes: limits.max_frame_bytes ?? DEFAULTS.limits.maxFrameBytes,
      maxQueueBytes: limits.max_queue_bytes ?? DEFAULTS.limits.maxQueueBytes,
    },
    policies: layer.policies.map(({ document: { file }, value }) => ({
      layer: file === project?.file ? 'project' : 'user',
      from: file,
      isFromTrusted: file !== project?.file || project.isTrusted,
      policy: value as PolicySource['policy'],
    })),
    initializeWaitMs: timeouts.initialize_wait_ms ?? DEFAULTS.initializeWaitMs,
    network: {
      allowCwd: layer.allowCwd as readonly string[] | undefined,
      allowsStdioServers: layer.networkClients.stdio_servers === true,
      origins: (layer.networkClients.origins as readonly string[] | undefined) ?? [],
      hosts: ((layer.networkClients.hosts as readonly string[] | undefined) ?? []).map((name) => name.toLowerCase()),
      offersAttach: layer.networkClients.session_attach === true,
      detachGraceMs: durationMs(layer.detachGrace ?? '15m'),
    },
    webApp: { allowsCommands: layer.webApp.allow_commands === true, allowsTerminals: layer.webApp.allow_terminals === true },
    workspace: (layer.workspace as Config['workspace'] | undefined) ?? DEFAULTS.workspace,
    ...(layer.sandbox !== undefined && { sandbox: sandboxSettings(undefined, layer.sandbox) }),
    logging: logSettings(layer.log as LogOptions),
    store: storeSettings(layer.store as StoreOptions),
    telemetry: telemetryConfig(telemetry as TelemetryOptions),
    ...(Object.keys(layer.audit).length > 0 && { audit: auditSettings(layer.audit as AuditOptions) }),
    ...(layer.bus !== undefined && { bus: busConfig(layer.bus as BusOptions) }),
    hostTools: hostToolsSettings((layer.hostTools?.value ?? {}) as HostToolsOptions),
    mcpServers: servers.map((options) => mcpServerSettings(options as McpServerOptions)),
    secretVariables,
  };
}

const UNIT_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 };

/** `15m`, or 0. */
function durationMs(given: unknown): number {
  const text = String(given);
  return given === 0 ? 0 : Number.parseInt(text, 10) * (UNIT_MS[text.slice(-1)] ?? 0);
}

/** The policy file of an organisation, which takes precedence over the user's. Only an administrator can write there. */
export function managedPolicyFile(platform: NodeJS.Platform, env: NodeJS.ProcessEnv): string {
  return platformOf(platform).managedPolicy(env);
}

/** A hash over all policy layers. The audit log records it, and remembered answers are bound to it. It does not cover remembered answers. */
export function policyHash(layers: readonly { readonly name: string; readonly text: string; readonly isTrusted?: boolean }[]): string {
  const parts = layers.map(({ name, text, isTrusted = true }) => [name, isTrusted, text]);
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
