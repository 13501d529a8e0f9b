// The MCP server of one session: its own token, its own tools. No other session can see its calls. Every session has one and most agents
// never use it, so it is one small object: what calls need is created for the first of them.
import { createHash } from 'node:crypto';
import { type CallDeps, type Caller, callTool, failed } from './call-tool.ts';
import type { McpTransport } from './inject-servers.ts';
import type { Abilities, HostTool, SessionHost, ToolArgs, ToolOutcome } from './tool.ts';

/** How far the agent got: it received the entry, connected, listed the tools, called one. */
export type ToolServerState = 'offered' | 'connected' | 'listed' | 'called';
const ORDER: readonly ToolServerState[] = ['offered', 'connected', 'listed', 'called'];

/** How long a call may wait for the response that names its session. */
const BIND_MS = 60_000;
const MAX_CALLS = 64;

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
  readonly tools: () => readonly HostTool[];
  readonly find: (name: string) => HostTool | undefined;
  readonly toolsKnown: () => Promise<void>;
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
  tools(): readonly HostTool[] {
    const { abilities } = this.#toolSession;
    return this.#deps.tools().filter(({ needs }) => needs.every((ability) => abilities.has(ability)));
  }
  /** Tools of other servers may take a moment to load. */
  toolsKnown(): Promise<void> {
    return this.#deps.toolsKnown();
  }
  async call(name: string, args: ToolArgs, caller: Caller): Promise<ToolOutcome> {
    const tool = this.#find(name) ?? (await this.toolsKnown().then(() => this.#find(name)));
    if (!tool) return failed(`There is no tool "${name}" here; tools/list names those there are`);
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
      return await callTool(tool, args, this.#host, caller, this.#deps);
    } finally {
      this.#underWay.delete(caller.abort);
    }
  }
  #find(name: string): HostTool | undefined {
    const tool = this.#deps.find(name);
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

/** Tokens are found by hash: the time of a lookup reveals nothing about a guess. */
export const tokenKey = (token: string): string => createHash('sha256').update(token).digest('base64');
