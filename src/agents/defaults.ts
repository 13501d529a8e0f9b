// An agent's settings with defaults applied. Separate from options.ts, so that nothing here loads zod.
import type { Inherited } from './environment.ts';
import type { AgentOptions } from './options.ts';

/** One configured agent, ready to be started. */
export type AgentSpec = {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly inheritEnv: Inherited;
  /** Variables that the configuration uses for other agents and servers: it does not inherit them. */
  readonly withheldEnv: readonly string[];
  readonly cwd?: string;
  readonly label?: string;
  readonly timeouts: {
    readonly initializeMs: number;
    readonly cancelMs: number;
    readonly stopGraceMs: number;
    readonly stallMs: number;
    /** Ends a silent turn of an agent that does not report the end of turns. */
    readonly quietMs: number;
  };
  /** A name from dialects/, or `auto`. */
  readonly framing: string;
  readonly dialect: string;
  /** What the proxy does, besides a message to the user, when a turn has been silent for `stallMs`. */
  readonly onStall: 'notice' | 'cancel' | 'end';
  /** `session`: one process for each session, for agents that can hold only one. `auto`: as its dialect needs it. */
  readonly isolation: 'auto' | 'shared' | 'session';
  /** The transport of the host tools. */
  readonly mcpTransport: 'auto' | 'acp' | 'http' | 'stdio' | 'off';
  /** Whether the proxy bridges client MCP servers that the agent does not support; `auto`: unless it is the only agent. */
  readonly mcpBridge: 'auto' | 'on' | 'off';
  readonly restart: { readonly enabled: boolean; readonly max: number; readonly windowS: number };
};

/** The settings of an agent whose options leave them out. */
export const AGENT_DEFAULTS = {
  inheritEnv: 'all',
  timeouts: { initializeMs: 30_000, cancelMs: 10_000, stopGraceMs: 3_000, stallMs: 60_000, quietMs: 5_000 },
  framing: 'auto',
  dialect: 'auto',
  onStall: 'notice',
  isolation: 'auto',
  mcpTransport: 'auto',
  mcpBridge: 'auto',
  restart: { enabled: true, max: 5, windowS: 60 },
} as const;

/** Valid agent names. On the wire, `/` separates an agent from its auth method id, and `~` an alias from its session id. */
export const AGENT_NAME = /^[A-Za-z0-9][\w.-]*$/;

/** Fills in what a valid `agent_servers` entry leaves out. */
export function agentSpec(name: string, options: AgentOptions, withheldEnv: readonly string[] = []): AgentSpec {
  const { timeouts, restart } = AGENT_DEFAULTS;
  return {
    name,
    command: options.command,
    args: options.args ?? [],
    env: options.env ?? {},
    inheritEnv: options.inherit_env ?? AGENT_DEFAULTS.inheritEnv,
    withheldEnv,
    ...(options.cwd !== undefined && { cwd: options.cwd }),
    ...(options.label !== undefined && { label: options.label }),
    timeouts: {
      initializeMs: options.timeouts?.initialize_ms ?? timeouts.initializeMs,
      cancelMs: options.timeouts?.cancel_ms ?? timeouts.cancelMs,
      stopGraceMs: options.timeouts?.stop_grace_ms ?? timeouts.stopGraceMs,
      stallMs: options.timeouts?.stall_ms ?? timeouts.stallMs,
      quietMs: options.timeouts?.quiet_ms ?? timeouts.quietMs,
    },
    framing: options.framing ?? AGENT_DEFAULTS.framing,
    dialect: options.dialect ?? AGENT_DEFAULTS.dialect,
    onStall: options.on_stall ?? AGENT_DEFAULTS.onStall,
    isolation: options.isolation ?? AGENT_DEFAULTS.isolation,
    mcpTransport: options.mcp_transport ?? AGENT_DEFAULTS.mcpTransport,
    mcpBridge: options.mcp_bridge ?? AGENT_DEFAULTS.mcpBridge,
    restart: {
      enabled: options.restart?.enabled ?? restart.enabled,
      max: options.restart?.max ?? restart.max,
      windowS: options.restart?.window_s ?? restart.windowS,
    },
  };
}
