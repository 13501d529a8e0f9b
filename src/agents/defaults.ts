// An agent's settings with defaults applied. Separate from options.ts, so that nothing here loads zod.
import { type SandboxSettings, sandboxSettings } from '../sandbox/settings.ts';
import { type Remote, shownUrl } from '../transports/remote.ts';
import type { SshHost } from '../transports/ssh-command.ts';
import type { Inherited } from './environment.ts';
import type { AgentOptions } from './options.ts';

/** One configured agent, ready to be started. */
export type AgentSpec = {
  readonly name: string;
  /** The program; of an agent with `url` its address, without credentials. */
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly inheritEnv: Inherited;
  /** Variables that the configuration uses for other agents and servers: it does not inherit them. */
  readonly withheldEnv: readonly string[];
  /** How to reach a remote agent; undefined for one that runs here. */
  readonly remote?: RemoteAgent;
  readonly cwd?: string;
  readonly label?: string;
  readonly timeouts: {
    readonly initializeMs: number;
    readonly cancelMs: number;
    readonly stopGraceMs: number;
    readonly stallMs: number;
    /** Ends a silent turn of an agent that does not report the end of turns. */
    readonly quietMs: number;
    /** How long one prompt may take, and how long a permission request may wait for its answer; 0: without limit. */
    readonly promptMs: number;
    readonly permissionMs: number;
  };
  /** A name from dialects/, or `auto`. */
  readonly framing: string;
  readonly dialect: string;
  /** The longest line that it reads, for a dialect that has a limit. */
  readonly maxLineBytes: number;
  /** What the proxy does, besides a message to the user, when a turn has been silent for `stallMs`. */
  readonly onStall: 'notice' | 'cancel' | 'end';
  /** `session`: one process for each session, for agents that can hold only one. `auto`: as its dialect needs it. */
  readonly isolation: 'auto' | 'shared' | 'session';
  /** What becomes of a prompt during a turn; undefined: as the kind of connection has it. */
  readonly whileRunning?: 'pass' | 'queue' | 'steer' | 'refuse';
  readonly rememberAlways?: 'off' | 'session';
  /** The transport of the host tools. */
  readonly mcpTransport: 'auto' | 'acp' | 'http' | 'stdio' | 'off';
  /** Whether the proxy bridges client MCP servers that the agent does not support; `auto`: unless it is the only agent. */
  readonly mcpBridge: 'auto' | 'on' | 'off';
  /** What becomes of images and audio in prompts that the agent does not support. */
  readonly unsupportedContent: 'refuse' | 'describe';
  /** How long after a plan further ones are held, so that only the last passes; 0: never. */
  readonly coalescePlansMs: number;
  readonly restart: { readonly enabled: boolean; readonly max: number; readonly windowS: number };
  /** Undefined if the configuration says nothing about a sandbox. */
  readonly sandbox?: SandboxSettings;
  /** A command prefix: a sandbox that the user brings. */
  readonly wrap?: readonly string[];
  /** Why it cannot be started: its settings refer to something that is not there. Other agents work. */
  readonly unusable?: { readonly why: string; readonly next: string };
};

/** An agent that hosts offer on the bus. */
export type BusAgent = {
  readonly kind: 'bus';
  /** Its name on the hosts. */
  readonly agent: string;
  readonly labels: Readonly<Record<string, string>>;
};

/** An agent on another machine: behind a URL, started there through ssh, or on a host of the bus. */
export type RemoteAgent = (({ readonly kind: 'url' } & Remote) | ({ readonly kind: 'ssh' } & SshHost) | BusAgent) & {
  /** For messages. */
  readonly address: string;
  /** With `map`, its own paths for directories of this side. */
  readonly files: 'none' | 'same' | { readonly map: Readonly<Record<string, string>> };
};

/** The settings of an agent whose options leave them out. */
export const AGENT_DEFAULTS = {
  inheritEnv: 'all',
  connectMs: 10_000,
  keepaliveMs: 30_000,
  files: 'none',
  timeouts: { initializeMs: 30_000, cancelMs: 10_000, stopGraceMs: 3_000, stallMs: 60_000, quietMs: 5_000, promptMs: 0, permissionMs: 0 },
  framing: 'auto',
  dialect: 'auto',
  maxLineBytes: 1024 * 1024,
  onStall: 'notice',
  isolation: 'auto',
  mcpTransport: 'auto',
  mcpBridge: 'auto',
  unsupportedContent: 'refuse',
  coalescePlansMs: 0,
  restart: { enabled: true, max: 5, windowS: 60 },
} as const;

/** Valid agent names. On the wire, `/` separates an agent from its auth method id, and `~` an alias from its session id. */
export const AGENT_NAME = /^[A-Za-z0-9][\w.-]*$/;

/** Fills in what a valid `agent_servers` entry leaves out. */
export function agentSpec(
  name: string,
  options: AgentOptions & { readonly sandbox?: unknown; readonly wrap?: readonly string[] | undefined },
  withheldEnv: readonly string[] = [],
  forAll: {
    readonly sandbox?: unknown;
    readonly whileRunning?: AgentSpec['whileRunning'];
    readonly rememberAlways?: AgentSpec['rememberAlways'];
  } = {},
): AgentSpec {
  const { timeouts, restart } = AGENT_DEFAULTS;
  const whileRunning = options.while_running ?? forAll.whileRunning;
  const rememberAlways = options.remember_always ?? forAll.rememberAlways;
  return {
    name,
    command: options.url === undefined ? (options.command ?? '') : shownUrl(options.url),
    args: options.args ?? [],
    env: options.env ?? {},
    inheritEnv: options.inherit_env ?? AGENT_DEFAULTS.inheritEnv,
    withheldEnv,
    ...remoteOf(name, options),
    ...(options.cwd !== undefined && { cwd: options.cwd }),
    ...(options.label !== undefined && { label: options.label }),
    timeouts: {
      initializeMs: options.timeouts?.initialize_ms ?? timeouts.initializeMs,
      cancelMs: options.timeouts?.cancel_ms ?? timeouts.cancelMs,
      stopGraceMs: options.timeouts?.stop_grace_ms ?? timeouts.stopGraceMs,
      stallMs: options.timeouts?.stall_ms ?? timeouts.stallMs,
      quietMs: options.timeouts?.quiet_ms ?? timeouts.quietMs,
      promptMs: options.timeouts?.prompt_ms ?? timeouts.promptMs,
      permissionMs: options.timeouts?.permission_ms ?? timeouts.permissionMs,
    },
    framing: options.framing ?? AGENT_DEFAULTS.framing,
    dialect: options.dialect ?? AGENT_DEFAULTS.dialect,
    maxLineBytes: options.max_line_bytes ?? AGENT_DEFAULTS.maxLineBytes,
    onStall: options.on_stall ?? AGENT_DEFAULTS.onStall,
    isolation: options.isolation ?? AGENT_DEFAULTS.isolation,
    ...(whileRunning !== undefined && { whileRunning }),
    ...(rememberAlways !== undefined && { rememberAlways }),
    mcpTransport: options.mcp_transport ?? AGENT_DEFAULTS.mcpTransport,
    mcpBridge: options.mcp_bridge ?? AGENT_DEFAULTS.mcpBridge,
    unsupportedContent: options.unsupported_content ?? AGENT_DEFAULTS.unsupportedContent,
    coalescePlansMs: options.coalesce_plans_ms ?? AGENT_DEFAULTS.coalescePlansMs,
    restart: {
      enabled: options.restart?.enabled ?? restart.enabled,
      max: options.restart?.max ?? restart.max,
      windowS: options.restart?.window_s ?? restart.windowS,
    },
    ...((options.sandbox !== undefined || forAll.sandbox !== undefined || options.wrap !== undefined) && {
      // A prefix is a sandbox of the user's own: ours applies as well only if it is asked for.
      sandbox: sandboxSettings(options.wrap === undefined ? forAll.sandbox : 'off', options.sandbox),
    }),
    ...(options.wrap !== undefined && { wrap: options.wrap }),
  };
}

function remoteOf(name: string, options: AgentOptions): { readonly remote?: RemoteAgent } {
  const { url, ssh } = options;
  const common = {
    connectMs: options.connect_ms ?? AGENT_DEFAULTS.connectMs,
    keepaliveMs: options.keepalive_ms ?? AGENT_DEFAULTS.keepaliveMs,
    configKey: configKey(name),
    files: options.files ?? AGENT_DEFAULTS.files,
  };
  if (ssh !== undefined) return { remote: { kind: 'ssh', host: ssh, address: ssh, ...common } };
  if (url === undefined) return {};
  return { remote: { kind: 'url', url, address: shownUrl(url), headers: options.headers ?? {}, tls: options.tls ?? {}, ...common } };
}

/** The configuration key of an agent, for messages that ask the user to change it. */
export const configKey = (name: string): string => `agent_servers.${name}`;
