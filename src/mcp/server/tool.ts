// A host tool, and what it receives when called. Tools know sessions, not connections.
import type { CallToolResult, InputRequiredResult, ServerContext } from '@modelcontextprotocol/server';
import type { ContainedStart } from '../../processes/process-tree.ts';

// Files and terminals of a session, shaped like ACP's fs/* and terminal/* methods. The client provides what it offers (including unsaved
// buffers); our own workspace provides the rest. A missing member means that its tools are not listed.
export type ExitStatus = { readonly exitCode?: number | null | undefined; readonly signal?: string | null | undefined };
export type TerminalOutput = { readonly output: string; readonly truncated: boolean; readonly exitStatus?: ExitStatus | null | undefined };
export type DirectoryEntry = { readonly name: string; readonly kind: 'file' | 'directory' | 'other'; readonly bytes?: number | undefined };
export type SearchHit = { readonly path: string; readonly line?: number | undefined; readonly text?: string | undefined };

/**
 * Paths are absolute; `evaluatedPath` is the real path at the time of the decision. Every method rejects with an Error whose message the
 * agent may see.
 */
export type Workspace = {
  readTextFile?(
    params: {
      readonly path: string;
      readonly line?: number | undefined;
      readonly limit?: number | undefined;
      readonly evaluatedPath?: string | undefined;
    },
    signal: AbortSignal,
  ): Promise<{ readonly content: string }>;
  writeTextFile?(
    params: { readonly path: string; readonly content: string; readonly evaluatedPath?: string | undefined },
    signal: AbortSignal,
  ): Promise<void>;
  listDirectory?(
    params: { readonly path: string },
    signal: AbortSignal,
  ): Promise<{ readonly entries: readonly DirectoryEntry[]; readonly truncated: boolean }>;
  /** `name` is a glob over paths relative to `path`; `text` is searched inside the files. At least one is given. */
  searchFiles?(
    params: { readonly path: string; readonly name?: string | undefined; readonly text?: string | undefined; readonly limit: number },
    signal: AbortSignal,
  ): Promise<{ readonly hits: readonly SearchHit[]; readonly truncated: boolean }>;
  /** `terminal/*`: all or nothing. */
  readonly terminals?: Terminals;
};

export type Terminals = {
  create(
    params: { readonly command: string; readonly args: readonly string[]; readonly cwd: string; readonly outputByteLimit: number },
    signal: AbortSignal,
  ): Promise<{ readonly terminalId: string }>;
  output(params: { readonly terminalId: string }): Promise<TerminalOutput>;
  waitForExit(params: { readonly terminalId: string }, signal: AbortSignal): Promise<ExitStatus>;
  kill(params: { readonly terminalId: string }): Promise<void>;
  release(params: { readonly terminalId: string }): Promise<void>;
};

export type JsonSchema = { readonly [keyword: string]: unknown };
export type ToolArgs = Readonly<Record<string, unknown>>;

/** What a call would do, for the gate. `read` only reads, and only inside the session's roots. */
export type Effect = 'read' | 'write' | 'execute' | 'ask' | 'delegate' | 'foreign';

export type ToolOutcome = CallToolResult;
/** A tool of another server may need input first: the client calls again with it. */
export type RunOutcome = ToolOutcome | InputRequiredResult;

/** The MCP client of an agent, as a server behind us must know it. */
export type McpClient = {
  readonly era: '2025' | '2026';
  readonly capabilities: Readonly<Record<string, unknown>>;
  /** The least level of log messages that it wants; undefined if it never said. */
  readonly logLevel: string | undefined;
};
export type McpCaller = { readonly client: McpClient; readonly request: ServerContext['mcpReq'] };

/** An elicitation of an MCP server. */
export type Elicitation = { readonly server: string; readonly params: Readonly<Record<string, unknown>> };

/** The ACP session a call belongs to. */
/** The program to start instead, and what must happen around its start; or why it must not start. */
export type ContainProgram = (
  argv: readonly string[],
  env: Readonly<Record<string, string>>,
  cwd: string,
) => { readonly argv: readonly string[]; readonly env: NodeJS.ProcessEnv; readonly sandbox: SandboxedStart } | { readonly why: string };
export type SandboxedStart = Pick<ContainedStart, 'stdio' | 'tree' | 'started'>;

export type SessionHost = {
  readonly sessionId: string;
  readonly agent: string;
  readonly cwd: string | undefined;
  /** Where files may be read and written: the session's `cwd` and its `additionalDirectories`. */
  readonly roots: readonly string[];
  readonly workspace: Workspace;
  /** Puts a program into the sandbox of the session's agent; undefined if it has none. */
  readonly contain?: ContainProgram | undefined;
  /** Asks the user. */
  ask(question: Question, signal: AbortSignal): Promise<Answer>;
  /** Shows the user the elicitation of an MCP server; undefined if the ACP client has no elicitation. Resolves to the result. */
  elicit?(elicitation: Elicitation, signal: AbortSignal): Promise<Readonly<Record<string, unknown>>>;
  /** The agents that `delegate` accepts. */
  readonly otherAgents?: readonly string[];
  /** Sends a prompt to another agent and waits for its turn. */
  delegate?(task: Delegation, signal: AbortSignal, onProgress: (text: string) => void): Promise<Delegated>;
};

export type Question = { readonly message: string; readonly choices: readonly string[] | undefined };
export type Answer = { readonly kind: 'answered'; readonly text: string } | { readonly kind: 'declined' | 'unavailable' };
export type Delegation = { readonly agent: string; readonly prompt: string };
export type Delegated = { readonly agent: string; readonly sessionId: string; readonly text: string; readonly stopReason: string };

export type CallContext = {
  readonly host: SessionHost;
  readonly signal: AbortSignal;
  /** Reports progress to the caller, who may ignore it. */
  readonly progress: (text: string) => void;
  /** The real path at the time of the decision. */
  readonly evaluatedPath: string | undefined;
  /** The caller; undefined for a client that cannot be asked and wants no log messages. */
  readonly mcp: McpCaller | undefined;
  /** The trace context for a server behind the tool, if servers get it. */
  readonly traceparent?: string | undefined;
};

/** What a connection can offer, before any session is known. */
export type Ability = 'read' | 'write' | 'list' | 'search' | 'terminal' | 'ask' | 'delegate';
export type Abilities = ReadonlySet<Ability>;

export type HostTool = {
  readonly name: string;
  /** The server's own name for the tool, if it differs. */
  readonly ownName?: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly effect: Effect;
  /** Not listed if one of these is missing. */
  readonly needs: readonly Ability[];
  /** Undefined for a tool without a limit, such as one that waits for the user. */
  readonly timeoutMs: number | undefined;
  /** Its origin: `switchboard`, the user's configuration, or a server's name. */
  readonly server: string;
  run(args: ToolArgs, context: CallContext): Promise<RunOutcome>;
};

/** An expected failure: the agent sees the message and may try something else. */
export class ToolFailure extends Error {
  override readonly name = 'ToolFailure';
}

/** A server's own JSON-RPC error, for a client that gets it unchanged. */
export class ServerError extends ToolFailure {
  readonly code: number;
  readonly data: unknown;
  constructor(message: string, { code, data, cause }: { readonly code: number; readonly data?: unknown; readonly cause?: unknown }) {
    super(message, { cause });
    this.code = code;
    this.data = data;
  }
}

export const text = (content: string): ToolOutcome => ({ content: [{ type: 'text', text: content }] });

export const object = (properties: Readonly<Record<string, JsonSchema>>, required: readonly string[] = []): JsonSchema => ({
  type: 'object',
  properties,
  ...(required.length > 0 && { required }),
  additionalProperties: false,
});
