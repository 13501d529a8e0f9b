// The configuration as the program uses it: nothing optional, nothing left to look up.

import { createHash } from 'node:crypto';
import path from 'node:path';
import { type AgentSpec, agentSpec } from '../agents/defaults.ts';
import type { AgentOptions } from '../agents/options.ts';
import type { HostToolsOptions, McpServerOptions } from '../mcp/options.ts';
import { type HostToolsSettings, hostToolsSettings, type McpServerSettings, mcpServerSettings } from '../mcp/settings.ts';
import { type LogSettings, logSettings, type StoreSettings, storeSettings } from '../store/defaults.ts';
import type { StoreOptions } from '../store/options.ts';
import type { LogOptions } from '../store/options-part.ts';
import type { Layer } from './layer.ts';

type Route = {
  /** A glob over the session's working directory. */
  readonly cwd: string;
  readonly agent: string;
};

/** Where a policy is to be found. */
export type PolicySource = {
  readonly layer: 'user' | 'project';
  /** The file that names it. */
  readonly from: string;
  /** A file beside that one, a preset's name, or the policy itself. */
  readonly policy: string | Readonly<Record<string, unknown>>;
  /** Whether the user vouches for that file: for a policy that stands in it. One of its own is vouched for by itself. */
  readonly isFromTrusted: boolean;
};

export type Config = {
  /** The enabled agents, in the order listed. Empty only when no configuration was found. */
  readonly agents: readonly AgentSpec[];
  /** The default agent, named or else the first listed; empty only when there are no agents. */
  readonly defaultAgent: string;
  /** Whether a file named it. */
  readonly explicitDefault: boolean;
  /** The first match wins. */
  readonly routes: readonly Route[];
  readonly limits: { readonly maxFrameBytes: number; readonly maxQueueBytes: number };
  /** What agents may do; empty when everything is left to the editor. */
  readonly policies: readonly PolicySource[];
  /** `serve-missing`: files and terminals are served here where the editor cannot. */
  readonly workspace: 'off' | 'serve-missing';
  /** How long `initialize` waits for agents whose capabilities are not cached. */
  readonly initializeWaitMs: number;
  readonly logging: LogSettings;
  readonly store: StoreSettings;
  readonly hostTools: HostToolsSettings;
  readonly mcpServers: readonly McpServerSettings[];
};

/** The settings of a file that leaves them out. */
export const DEFAULTS = {
  limits: { maxFrameBytes: 33_554_432, maxQueueBytes: 67_108_864 },
  initializeWaitMs: 10_000,
  workspace: 'off',
} as const;

/** Fills in what the files leave out. To be called with a layer in which no problem was found: that is what the casts rest on. */
export function toConfig(
  layer: Layer,
  enabled: ReadonlyMap<string, unknown>,
  servers: readonly unknown[] = [],
  project?: { readonly file: string; readonly isTrusted: boolean },
): Config {
  const agents = [...enabled].map(([name, options]) => agentSpec(name, options as AgentOptions));
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
    workspace: (layer.workspace as Config['workspace'] | undefined) ?? DEFAULTS.workspace,
    logging: logSettings(layer.log as LogOptions),
    store: storeSettings(layer.store as StoreOptions),
    hostTools: hostToolsSettings((layer.hostTools?.value ?? {}) as HostToolsOptions),
    mcpServers: servers.map((options) => mcpServerSettings(options as McpServerOptions)),
  };
}

// A policy that stands above the user's.
/** Where an organisation puts its policy: a place that only an administrator can write to. */
export function managedPolicyFile(platform: NodeJS.Platform, env: NodeJS.ProcessEnv): string {
  if (platform === 'win32') return path.win32.join(env.ProgramData ?? 'C:\\ProgramData', 'acp-switchboard', 'policy.yaml');
  if (platform === 'darwin') return '/Library/Application Support/acp-switchboard/policy.yaml';
  return '/etc/acp-switchboard/policy.yaml';
}

// One name for a policy as a whole: the same layers with the same texts have the same hash, and any other text has another.
/** What the audit log names and remembered answers depend on. Remembered answers are no part of it. */
export function policyHash(layers: readonly { readonly name: string; readonly text: string; readonly isTrusted?: boolean }[]): string {
  const parts = layers.map(({ name, text, isTrusted = true }) => [name, isTrusted, text]);
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
