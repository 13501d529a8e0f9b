// What a lent tool is, and what it is given when it is called. Tools know sessions, not connections.
import type { CallToolResult } from '@modelcontextprotocol/server';

// Files and terminals of a session, in the words of ACP's own fs/* and terminal/* methods. The editor fills what it offers (unsaved buffers
// are the point of asking it); our own workspace fills the rest. A member that is missing is not there, and its tools are not listed.
export type ExitStatus = { readonly exitCode?: number | null | undefined; readonly signal?: string | null | undefined };
export type TerminalOutput = { readonly output: string; readonly truncated: boolean; readonly exitStatus?: ExitStatus | null | undefined };
export type DirectoryEntry = { readonly name: string; readonly kind: 'file' | 'directory' | 'other'; readonly bytes?: number | undefined };
export type SearchHit = { readonly path: string; readonly line?: number | undefined; readonly text?: string | undefined };

/** Paths are absolute; `judged` is where they led when the call was decided about. Everything rejects with an Error whose message may be shown to the agent. */
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
  /** `name` is a glob over paths relative to `path`; `text` is looked for inside the files. At least one is given. */
  searchFiles?(
    params: { readonly path: string; readonly name?: string | undefined; readonly text?: string | undefined; readonly limit: number },
    signal: AbortSignal,
  ): Promise<{ readonly hits: readonly SearchHit[]; readonly truncated: boolean }>;
  /** `terminal/*`; all of it or nothing. */
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

/** What a call would do, for whoever decides about it. `read` looks only, and only inside the session's roots. */
export type Effect = 'read' | 'write' | 'execute' | 'ask' | 'delegate' | 'foreign';

export type ToolOutcome = CallToolResult;

/** The ACP session a call belongs to. */
export type SessionHost = {
  readonly sessionId: string;
  readonly agent: string;
  readonly cwd: string | undefined;
  /** Where files may be read and written: the session's `cwd` and its `additionalDirectories`. */
  readonly roots: readonly string[];
  readonly workspace: Workspace;
  /** Puts a question to the user. */
  ask(question: Question, signal: AbortSignal): Promise<Answer>;
  /** Whom `delegate` could be for. */
  readonly otherAgents?: readonly string[];
  /** Hands a prompt to another agent and waits for its turn. */
  delegate?(task: Delegation, signal: AbortSignal, onProgress: (text: string) => void): Promise<Delegated>;
};

export type Question = { readonly message: string; readonly choices: readonly string[] | undefined };
export type Answer = { readonly kind: 'answered'; readonly text: string } | { readonly kind: 'declined' | 'unavailable' };
export type Delegation = { readonly agent: string; readonly prompt: string };
export type Delegated = { readonly agent: string; readonly sessionId: string; readonly text: string; readonly stopReason: string };

export type CallContext = {
  readonly host: SessionHost;
  readonly signal: AbortSignal;
  /** Tells whoever called how it goes; nobody need be listening. */
  readonly progress: (text: string) => void;
  /** Where the path led when the call was decided about. */
  readonly evaluatedPath: string | undefined;
};

/** What a connection can lend at all, before any session of it is known. */
export type Ability = 'read' | 'write' | 'list' | 'search' | 'terminal' | 'ask' | 'delegate';
export type Abilities = ReadonlySet<Ability>;

export type HostTool = {
  readonly name: string;
  /** Where the server behind it calls it something else. */
  readonly ownName?: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly effect: Effect;
  /** Not listed where one of these is missing. */
  readonly needs: readonly Ability[];
  /** A tool that ends by itself has none: asking a person takes as long as the person does. */
  readonly timeoutMs: number | undefined;
  /** Where it comes from: ours, the user's, or the name of the server behind it. */
  readonly server: string;
  run(args: ToolArgs, context: CallContext): Promise<ToolOutcome>;
};

/** An expected failure: the agent hears these words and may try something else. */
export class ToolFailure extends Error {
  override readonly name = 'ToolFailure';
}

export const text = (words: string): ToolOutcome => ({ content: [{ type: 'text', text: words }] });

export const object = (properties: Readonly<Record<string, JsonSchema>>, required: readonly string[] = []): JsonSchema => ({
  type: 'object',
  properties,
  ...(required.length > 0 && { required }),
  additionalProperties: false,
});
