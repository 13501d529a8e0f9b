// The MCP server of one session: its own token, its own tools. No other session can see its calls. Every session has one and most agents
// never use it, so it is one small object: what calls need is created for the first of them.
import { createHash } from 'node:crypto';
import type { ServerSet } from '../gateway/server-set.ts';
import { type CallDeps, type Caller, callTool, failed, needsInput } from './call-tool.ts';
import type { McpTransport } from './inject-servers.ts';
import { type Abilities, type HostTool, type McpClient, type RunOutcome, ServerError, type SessionHost, type ToolArgs } from './tool.ts';

/** How far the agent got: it received the entry, connected, listed the tools, called one. */
export type ToolServerState = 'offered' | 'connected' | 'listed' | 'called';
const ORDER: readonly ToolServerState[] = ['offered', 'connected', 'listed', 'called'];

/** How long a call may wait for the response that names its session. */
const BIND_MS = 60_000;
const MAX_CALLS = 64;
const INVALID_PARAMS = -32602;
/** Calls that wait for input from their clients. */
const MAX_CONTINUED = 64;

/** The session a tool server belongs to. */
export type ToolSession = {
  readonly abilities: Abilities;
  onState(toolServer: ToolServer): void;
  onRevoke(): void;
  /** Read once the server is bound, and only for a call. */
  host(): SessionHost;
};

/** Shared by all tool servers. */
export type ToolServerDeps = CallDeps & {
  /** For an MCP client; without one, all that any client of this session may have. */
  readonly tools: (client?: McpClient) => readonly HostTool[];
  readonly find: (name: string, client?: McpClient) => HostTool | undefined;
  readonly toolsKnown: (client?: McpClient) => Promise<void>;
  /** Configured servers; undefined if there are no such servers. */
  readonly foreign: ((client: McpClient) => ServerSet) | undefined;
  readonly onRevoke: (toolServer: ToolServer) => void;
};

export class ToolServer {
  readonly transport: McpTransport;
  /** The lookup key: the hash of the token or, over the ACP connection, the server's name there. */
  readonly key: string;
  readonly #toolSession: ToolSession;
  readonly #deps: ToolServerDeps;
  #state: ToolServerState = 'offered';
  #isRevoked = false;
  /** Whether the session exists; undefined while it is unknown. */
  #isBound: boolean | undefined;
  #host: SessionHost | undefined;
  #underWay: Set<AbortController> | undefined;
  /** Calls that wait for the session. */
  #waiting: Set<() => void> | undefined;
  #onRevoke: Set<() => void> | undefined;
  /** The arguments of calls that were allowed and need input, by their next request. */
  #continued: Map<string, ToolArgs> | undefined;

  constructor(transport: McpTransport, key: string, toolSession: ToolSession, deps: ToolServerDeps) {
    this.transport = transport;
    this.key = key;
    this.#toolSession = toolSession;
    this.#deps = deps;
  }
  get state(): ToolServerState {
    return this.#state;
  }
  get isRevoked(): boolean {
    return this.#isRevoked;
  }
  /** The session is known: waiting calls continue. */
  bind(): void {
    this.#isBound = true;
    this.#host = undefined;
    for (const go of this.#waiting ?? []) go();
  }
  /** The session is closed and may come back: until it is bound again every call is refused, and connections stay. */
  rest(): void {
    this.#isBound = false;
    this.#endCalls();
  }
  /** Invalidates the token and closes its connections. */
  revoke(): void {
    if (this.#isRevoked) return;
    this.#isRevoked = true;
    this.#endCalls();
    this.#deps.onRevoke(this);
    this.#toolSession.onRevoke();
    for (const handler of [...(this.#onRevoke ?? [])]) handler();
  }
  /** Returns a function that unsubscribes: connections come and go, the tool server stays. */
  onRevoke(handler: () => void): () => void {
    if (this.#isRevoked) handler();
    else {
      this.#onRevoke ??= new Set();
      this.#onRevoke.add(handler);
    }
    return () => void this.#onRevoke?.delete(handler);
  }
  /** A connection admitted just before the revocation may report later; nobody needs it then. */
  reached(now: ToolServerState): void {
    if (this.#isRevoked) return;
    if (ORDER.indexOf(now) <= ORDER.indexOf(this.#state)) return;
    this.#state = now;
    this.#toolSession.onState(this);
  }
  tools(client?: McpClient): readonly HostTool[] {
    const { abilities } = this.#toolSession;
    return this.#deps.tools(client).filter(({ needs }) => needs.every((ability) => abilities.has(ability)));
  }
  /** Tools of other servers may take a moment to load. */
  toolsKnown(client?: McpClient): Promise<void> {
    return this.#deps.toolsKnown(client);
  }
  /** Whether it is our own tool, not one of another server. */
  hasOwn(name: string): boolean {
    const tool = this.#deps.find(name);
    return tool !== undefined && tool.effect !== 'foreign';
  }
  /** Rejects with a `ServerError` if there is no such tool. */
  async call(name: string, args: ToolArgs, caller: Caller): Promise<RunOutcome> {
    const client = caller.mcp?.client;
    const tool = this.#find(name, client) ?? (await this.toolsKnown(client).then(() => this.#find(name, client)));
    if (!tool) throw new ServerError(`Unknown tool: ${name}; tools/list names those there are`, { code: INVALID_PARAMS });
    return this.run(tool, args, caller);
  }
  get foreign(): ToolServerDeps['foreign'] {
    return this.#deps.foreign;
  }
  /** Runs a tool, or the reading of a resource or prompt, once the session is known. */
  async run(tool: HostTool, args: ToolArgs, caller: Caller): Promise<RunOutcome> {
    if (this.#isRevoked) return failed('The session this server belonged to has ended');
    if (this.#isBound === false) return failed('The session this server belongs to is closed');
    this.#underWay ??= new Set();
    if (this.#underWay.size >= MAX_CALLS)
      return failed(`There are already ${MAX_CALLS} calls under way in this session; wait for some to end`);
    this.reached('called');
    this.#underWay.add(caller.abort);
    try {
      if (!this.#isBound) await this.#binding(caller.abort.signal);
      if (!this.#isBound) return failed('The session this server belongs to was not opened');
      this.#host ??= this.#toolSession.host();
      // A call that goes on with its input is the call that was allowed: same tool, same arguments, once.
      const before = caller.mcp?.request.inputResponses && this.#take(callKey(tool, args, caller.mcp.request.requestState()));
      const outcome = await callTool(tool, before ?? args, this.#host, caller, this.#deps, before !== undefined);
      if (needsInput(outcome)) this.#expect(callKey(tool, args, outcome.requestState), before ?? args);
      return outcome;
    } finally {
      this.#underWay.delete(caller.abort);
    }
  }
  #take(key: string): ToolArgs | undefined {
    const args = this.#continued?.get(key);
    this.#continued?.delete(key);
    return args;
  }
  #expect(key: string, args: ToolArgs): void {
    this.#continued ??= new Map();
    this.#continued.set(key, args);
    const [oldest] = this.#continued.size > MAX_CONTINUED ? this.#continued.keys() : [];
    if (oldest !== undefined) this.#continued.delete(oldest);
  }
  #find(name: string, client: McpClient | undefined): HostTool | undefined {
    const tool = this.#deps.find(name, client);
    return tool === undefined || tool.needs.length === 0 || tool.needs.every((ability) => this.#toolSession.abilities.has(ability))
      ? tool
      : undefined;
  }
  #endCalls(): void {
    for (const abort of this.#underWay ?? []) abort.abort();
  }
  /** Waits until the session is known, the call is cancelled, or the time is over. */
  #binding(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const go = () => {
        clearTimeout(timer);
        this.#waiting?.delete(go);
        signal.removeEventListener('abort', go);
        resolve();
      };
      const timer = setTimeout(go, BIND_MS);
      this.#waiting ??= new Set();
      this.#waiting.add(go);
      signal.addEventListener('abort', go, { once: true });
      if (signal.aborted) go();
    });
  }
}

const callKey = ({ server, name }: HostTool, args: ToolArgs, state: unknown): string => JSON.stringify([server, name, args, state ?? null]);

/** Tokens are found by hash: the time of a lookup reveals nothing about a guess. */
export const tokenKey = (token: string): string => createHash('sha256').update(token).digest('base64');

const MAX_REVOKED = 10_000;

/** Keys of tokens that were valid once. The oldest are forgotten. */
export function createRevokedKeys(): { add(key: string): void; has(key: string): boolean } {
  const keys = new Set<string>();
  return {
    add(key) {
      keys.add(key);
      const [oldest] = keys.size > MAX_REVOKED ? keys : [];
      if (oldest !== undefined) keys.delete(oldest);
    },
    has: (key) => keys.has(key),
  };
}
