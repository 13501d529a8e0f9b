// One session's server: its own token, its own object, its own tools. What one session does here no other session can see.
// Every session has one and most agents never use it, so a lease is one small object: what calls need is made for the first of them.
import { createHash } from 'node:crypto';
import { type CallDeps, type Caller, callTool, failed } from './call-tool.ts';
import type { McpTransport } from './choose-transport.ts';
import type { Abilities, HostTool, SessionHost, ToolArgs, ToolOutcome } from './tool.ts';

/** How far the agent has come: it was told of the server, spoke to it, asked for its tools, called one. */
export type LeaseState = 'offered' | 'connected' | 'listed' | 'called';
const ORDER: readonly LeaseState[] = ['offered', 'connected', 'listed', 'called'];

/** How long a call may wait for the answer that names its session. */
const BIND_MS = 60_000;
const MAX_CALLS = 64;

/** Whoever a lease is for. */
export type Borrower = {
  readonly abilities: Abilities;
  onState(lease: Lease): void;
  onRevoke(): void;
  /** Its session; asked for once the lease is bound, and only when a tool is called. */
  host(): SessionHost;
};

/** The same for all leases. */
export type LeaseDeps = CallDeps & {
  readonly tools: () => readonly HostTool[];
  readonly toolsKnown: () => Promise<void>;
  readonly onRevoke: (lease: Lease) => void;
};

/** What calls need. */
type Work = {
  calls: number;
  readonly ended: AbortController;
  readonly bound: Promise<SessionHost>;
  readonly bind: (host: SessionHost) => void;
};

export class Lease {
  readonly transport: McpTransport;
  /** What it is found by: the hash of its token or, where the agent reaches it through the ACP connection, the name it has there. */
  readonly key: string;
  readonly #borrower: Borrower;
  readonly #deps: LeaseDeps;
  #state: LeaseState = 'offered';
  #isRevoked = false;
  #isBound = false;
  #work: Work | undefined;
  #onRevoke: (() => void)[] | undefined;

  constructor(transport: McpTransport, key: string, borrower: Borrower, deps: LeaseDeps) {
    this.transport = transport;
    this.key = key;
    this.#borrower = borrower;
    this.#deps = deps;
  }
  get state(): LeaseState {
    return this.#state;
  }
  get isRevoked(): boolean {
    return this.#isRevoked;
  }
  /** The session is known: calls that came earlier go on. */
  bind(): void {
    this.#isBound = true;
    this.#work?.bind(this.#borrower.host());
  }
  /** The token is worth nothing from now on, and what is connected with it is cut off. */
  revoke(): void {
    if (this.#isRevoked) return;
    this.#isRevoked = true;
    this.#work?.ended.abort();
    this.#deps.onRevoke(this);
    this.#borrower.onRevoke();
    for (const act of this.#onRevoke ?? []) act();
  }
  onRevoke(act: () => void): void {
    if (this.#isRevoked) return act();
    this.#onRevoke ??= [];
    this.#onRevoke.push(act);
  }
  reached(now: LeaseState): void {
    if (ORDER.indexOf(now) <= ORDER.indexOf(this.#state)) return;
    this.#state = now;
    this.#borrower.onState(this);
  }
  tools(): readonly HostTool[] {
    const { abilities } = this.#borrower;
    return this.#deps.tools().filter(({ needs }) => needs.every((ability) => abilities.has(ability)));
  }
  /** Tools of other servers may take a moment to be known. */
  toolsKnown(): Promise<void> {
    return this.#deps.toolsKnown();
  }
  async call(name: string, args: ToolArgs, { signal, progress }: Caller): Promise<ToolOutcome> {
    const find = () => this.tools().find((one) => one.name === name);
    const tool = find() ?? (await this.toolsKnown().then(find));
    if (!tool) return failed(`There is no tool "${name}" here; tools/list names those there are`);
    if (this.#isRevoked) return failed('The session this server belonged to has ended');
    const work = this.#beginWork();
    if (work.calls >= MAX_CALLS) return failed(`There are already ${MAX_CALLS} calls under way in this session; wait for some to end`);
    this.reached('called');
    work.calls++;
    try {
      const host = await soon(work.bound, work.ended.signal);
      if (!host) return failed('The session this server belongs to was not opened');
      return await callTool(tool, args, host, { signal: AbortSignal.any([signal, work.ended.signal]), progress }, this.#deps);
    } finally {
      work.calls--;
    }
  }
  #beginWork(): Work {
    if (this.#work) return this.#work;
    let bind: (host: SessionHost) => void = () => {};
    const bound = new Promise<SessionHost>((resolve) => {
      bind = resolve;
    });
    if (this.#isBound) bind(this.#borrower.host());
    this.#work = { calls: 0, ended: new AbortController(), bound, bind };
    return this.#work;
  }
}

/** Tokens are found by their hash: how long a search takes says nothing about how near a guess was. */
export const tokenKey = (token: string): string => createHash('sha256').update(token).digest('base64');

function soon(bound: Promise<SessionHost>, ended: AbortSignal): Promise<SessionHost | undefined> {
  return new Promise((resolve) => {
    const give = (host?: SessionHost) => {
      clearTimeout(timer);
      ended.removeEventListener('abort', over);
      resolve(host);
    };
    const over = () => give();
    const timer = setTimeout(over, BIND_MS);
    ended.addEventListener('abort', over, { once: true });
    void bound.then(give);
  });
}
