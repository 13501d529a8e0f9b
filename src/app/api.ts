// What the library looks like from outside. Written out, and not derived from the schema: whoever embeds us needs none of our packages for
// these types. The common keys of a configuration are typed; all of them are checked when the switchboard is made.
import type { Readable, Writable } from 'node:stream';

/** An agent, as an entry of `agent_servers` has it (docs/configuration.md). `${env:X}` and `${file:P}` are resolved at start. */
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

/** A configuration, as its file has it: docs/configuration.md lists every key. */
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

/** A policy as its file has it (docs/policy.md). */
export type Policy = { version: 1; [section: string]: unknown };

export type SwitchboardOptions = {
  /** The agents and settings. Left out, the two embedded demo agents serve, which need no account, key or network. */
  config?: Configuration;
  /** The same from a file, instead of `config`. Its content is taken for your own word, as with `--config`. */
  configFile?: string;
  /** What agents may do, besides what the configuration says of that: a policy, a preset (`careful`, `standard`, `ci`, `readonly`) or a file. Left out, every question goes to the client. */
  policy?: Policy | string;
  /** `observe` blocks nothing and writes down what would have been. */
  policyMode?: 'enforce' | 'observe';
  /** Whether clients can be asked where a policy wants that; if not, asking is denying. True unless said otherwise. */
  interactive?: boolean;
  /** Functions of yours that every agent may call. */
  tools?: HostFunction[];
  /** Where sessions, transcripts and logs are kept; the same place as the command's unless given. */
  stateDir?: string;
  /** Hears what happens. What it throws is ignored, and it should be quick. */
  onEvent?: (event: SwitchboardEvent) => void;
};

/** A function of the host that agents call as a tool, `name` on the MCP server `switchboard`. */
export type HostFunction = {
  /** Small letters, digits and `_`. */
  name: string;
  title?: string;
  /** For the agent: what it does and when to use it. */
  description: string;
  /** JSON Schema of the arguments, `"type": "object"`; calls that do not fit it never arrive. Left out, there are no arguments. */
  inputSchema?: Record<string, unknown>;
  /** `read` only looks and runs unasked, unless a policy says otherwise. For `execute`, which it is unless given, the user or the policy is asked first. */
  effect?: 'read' | 'execute';
  /** A minute unless given. */
  timeoutMs?: number;
  /** What it returns is the tool's answer; what it throws is told to the agent as a failure, in these words. */
  run(args: Record<string, unknown>, call: HostCall): string | ToolAnswer | Promise<string | ToolAnswer>;
};

/** Whose call it is. */
export type HostCall = {
  readonly sessionId: string;
  readonly agent: string;
  /** The session's working directory. */
  readonly cwd: string | undefined;
  /** Aborted when the call is taken back or takes too long. */
  readonly signal: AbortSignal;
  /** Tells the agent how it goes. */
  progress(text: string): void;
};

/** A result of MCP's `tools/call`. */
export type ToolAnswer = {
  content: ({ type: 'text'; text: string } | { type: 'image' | 'audio'; data: string; mimeType: string })[];
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
};

export type SwitchboardEvent =
  /** Words for people, cleaned of secrets: what the command says on stderr. */
  | { type: 'notice'; text: string }
  | { type: 'agent-started'; agent: string; pid: number }
  /** `why` when it could not even be started. */
  | { type: 'agent-exited'; agent: string; code: number | null; signal: string | null; why: string | undefined }
  /** A tool we lend was called, or was not allowed to be. */
  | {
      type: 'tool';
      outcome: 'called' | 'denied' | 'failed';
      tool: string;
      agent: string | undefined;
      sessionId: string | undefined;
      reason: string | undefined;
    }
  /** What the policy has decided, as it stands in the audit log. */
  | {
      type: 'decision';
      agent: string;
      sessionId: string | undefined;
      method: string;
      summary: string;
      verdict: 'allow' | 'ask' | 'deny';
      why: string | undefined;
      answeredBy: 'policy' | 'user' | 'memory' | 'timeout' | 'agent';
    };

/** The bytes of one ACP client, newline-delimited JSON both ways: streams of Node's or of the web's. */
export type ClientStreams =
  | { readonly input: Readable; readonly output: Writable }
  | { readonly readable: ReadableStream<Uint8Array>; readonly writable: WritableStream<Uint8Array> };

export type ClientConnection = {
  /** The client has gone and everything that was started for it has ended. */
  readonly closed: Promise<void>;
  /** Ends it from this side: turns are cancelled, requests answered, agents ended. */
  close(): Promise<void>;
};

export type Switchboard = {
  /** Serves one client more. Each has its own agents, sessions and records; they share the configuration and the policy. */
  connect(client: ClientStreams): ClientConnection;
  /** Ends all connections; nothing is left behind. */
  close(): Promise<void>;
};

/** Why a switchboard cannot be set up: the kind of failure, for programs; the message; what to do next. */
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
