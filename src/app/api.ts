// The public types of the library. Written out and not derived from the schema, so that embedding programs need none of our packages for
// them. The common configuration keys are typed; all keys are checked when the switchboard is created.
import type { Readable, Writable } from 'node:stream';

/** An agent, like an entry of `agent_servers` (docs/configuration.md). `${env:X}` and `${file:P}` are resolved at start. */
export type AgentServer = {
  command: string;
  args?: string[];
  env?: Record<string, string>;
  cwd?: string;
  label?: string;
  enabled?: boolean;
  isolation?: 'shared' | 'session';
  [more: string]: unknown;
};

/** A configuration, like its file: docs/configuration.md lists every key. */
export type Configuration = {
  agent_servers: Record<string, AgentServer>;
  default_agent?: string;
  routes?: { cwd: string; agent: string }[];
  workspace?: 'off' | 'serve-missing';
  host_tools?: Record<string, unknown>;
  mcp_servers?: Record<string, unknown>[];
  log?: Record<string, unknown>;
  store?: Record<string, unknown>;
  limits?: { max_frame_bytes?: number; max_queue_bytes?: number };
  timeouts?: { initialize_wait_ms?: number };
  policy?: Policy | string;
};

/** A policy, like its file (docs/policy.md). */
export type Policy = { version: 1; [section: string]: unknown };

export type SwitchboardOptions = {
  /** The agents and settings. Default: the two embedded demo agents, which need no account, key or network. */
  config?: Configuration;
  /** A configuration file, instead of `config`. Trusted without confirmation, as with `--config`. */
  configFile?: string;
  /**
   * A policy in addition to the configuration's: an object, a preset (`careful`, `standard`, `ci`, `readonly`) or a file. Without any
   * policy, every permission request goes to the client.
   */
  policy?: Policy | string;
  /** `observe` blocks nothing and records what would have been blocked. */
  policyMode?: 'enforce' | 'observe';
  /** Whether clients can answer when a policy asks; if not, asking means denying. Default: true. */
  interactive?: boolean;
  /** Functions of the host that every agent may call. */
  tools?: HostFunction[];
  /** The directory for sessions, transcripts and logs. Default: the same as the command's. */
  stateDir?: string;
  /** Receives events. It should return quickly; exceptions are ignored. */
  onEvent?: (event: SwitchboardEvent) => void;
  /** Makes every message on every connection an event. Default: false. */
  frames?: boolean;
};

/** A function of the host that agents call as a tool, `name` on the MCP server `switchboard`. */
export type HostFunction = {
  /** Lower-case letters, digits and `_`. */
  name: string;
  title?: string;
  /** For the agent: what the tool does and when to use it. */
  description: string;
  /** JSON Schema of the arguments, `"type": "object"`; calls that violate it are rejected. Default: no arguments. */
  inputSchema?: Record<string, unknown>;
  /**
   * A `read` tool runs without a permission request, unless a policy says otherwise. An `execute` tool, the default, needs the user's or
   * the policy's permission.
   */
  effect?: 'read' | 'execute';
  /** Default: one minute. */
  timeoutMs?: number;
  /** The return value is the tool's result; the agent sees the message of a thrown error as a failure. */
  run(args: Record<string, unknown>, call: HostCall): string | ToolAnswer | Promise<string | ToolAnswer>;
};

/** The context of a call. */
export type HostCall = {
  readonly sessionId: string;
  readonly agent: string;
  /** The session's working directory. */
  readonly cwd: string | undefined;
  /** Aborted when the call is cancelled or times out. */
  readonly signal: AbortSignal;
  /** Reports progress to the agent. */
  progress(text: string): void;
};

/** A `tools/call` result of MCP. */
export type ToolAnswer = {
  content: ({ type: 'text'; text: string } | { type: 'image' | 'audio'; data: string; mimeType: string })[];
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
};

export type SwitchboardEvent =
  /** A message for people, redacted; the command writes it to stderr. `log.level` in the configuration says how much there is. */
  | { type: 'notice'; level: 'error' | 'warn' | 'info' | 'debug' | 'trace'; text: string }
  /** With the option `frames`: a message on a connection, redacted. `name` is the agent's, or that of the client's connection. */
  | {
      type: 'frame';
      peer: 'client' | 'agent';
      name: string;
      direction: 'received' | 'sent';
      message: Readonly<Record<string, unknown>>;
    }
  | { type: 'agent-started'; agent: string; pid: number }
  /** `why` if the agent could not be started. */
  | { type: 'agent-exited'; agent: string; code: number | null; signal: string | null; why: string | undefined }
  /** An agent called a host tool, or was denied the call. */
  | {
      type: 'tool';
      outcome: 'called' | 'denied' | 'failed';
      tool: string;
      agent: string | undefined;
      sessionId: string | undefined;
      reason: string | undefined;
    }
  /** A policy decision, as in the audit log. */
  | {
      type: 'decision';
      agent: string;
      sessionId: string | undefined;
      method: string;
      summary: string;
      verdict: 'allow' | 'ask' | 'deny';
      why: string | undefined;
      answeredBy: 'policy' | 'user' | 'approve' | 'memory' | 'timeout' | 'agent';
    };

/** The streams of one ACP client, newline-delimited JSON in both directions: Node streams or web streams. */
export type ClientStreams =
  | { readonly input: Readable; readonly output: Writable }
  | { readonly readable: ReadableStream<Uint8Array>; readonly writable: WritableStream<Uint8Array> };

export type ClientConnection = {
  /** Resolves when the client has disconnected and everything started for it has ended. */
  readonly closed: Promise<void>;
  /** Closes the connection: cancels turns, answers requests, stops agents. */
  close(): Promise<void>;
};

export type Switchboard = {
  /** Serves another client. Each has its own agents, sessions and records; all share the configuration and the policy. */
  connect(client: ClientStreams): ClientConnection;
  /** Closes all connections and stops everything. */
  close(): Promise<void>;
};

/** Why a switchboard cannot be set up: a code for programs, a message, and what to do next. */
export class SetupFailure extends Error {
  override readonly name = 'SetupFailure';
  readonly code: 'CONFIG_INVALID' | 'POLICY_INVALID' | 'TOOL_INVALID' | 'RECORD_FILE' | 'LOOP';
  readonly hint: string | undefined;

  constructor(code: SetupFailure['code'], message: string, hint?: string) {
    super(message);
    this.code = code;
    this.hint = hint;
  }
}
