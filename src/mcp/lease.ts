// One session's server: its own token, its own object, its own tools. What one session does here no other session can see.
import { createHash, randomBytes } from 'node:crypto';
import { type CallDeps, type Caller, callTool, failed } from './call-tool.ts';
import type { McpTransport } from './choose-transport.ts';
import type { Abilities, HostTool, SessionHost, ToolArgs, ToolOutcome } from './tool.ts';

/** How far the agent has come: it was told of the server, spoke to it, asked for its tools, called one. */
export type LeaseState = 'offered' | 'connected' | 'listed' | 'called';
const ORDER: readonly LeaseState[] = ['offered', 'connected', 'listed', 'called'];

export type Lease = {
  readonly token: string;
  /** How the agent names the server when it is reached through the ACP connection itself. */
  readonly serverId: string;
  readonly transport: McpTransport;
  readonly state: LeaseState;
  readonly isRevoked: boolean;
  /** The session is known: calls that came earlier go on. */
  bind(host: SessionHost): void;
  /** The token is worth nothing from now on, and what is connected with it is cut off. */
  revoke(): void;
  onRevoke(act: () => void): void;
  reached(state: LeaseState): void;
  tools(): readonly HostTool[];
  /** Tools of other servers may take a moment to be known. */
  toolsKnown(): Promise<void>;
  call(name: string, args: ToolArgs, caller: Caller): Promise<ToolOutcome>;
};

/** How long a call may wait for the answer that names its session. */
const BIND_MS = 60_000;
const MAX_CALLS = 64;

export type LeaseDeps = CallDeps & {
  readonly tools: () => readonly HostTool[];
  readonly toolsKnown: () => Promise<void>;
  readonly abilities: Abilities;
  readonly onState: (lease: Lease) => void;
};

export function createLease(transport: McpTransport, deps: LeaseDeps): Lease {
  const revoked: (() => void)[] = [];
  const ended = new AbortController();
  let state: LeaseState = 'offered';
  let calls = 0;
  let bind: (host: SessionHost) => void = () => {};
  const bound = new Promise<SessionHost>((resolve) => {
    bind = resolve;
  });
  const lease: Lease = {
    token: randomBytes(32).toString('base64url'),
    serverId: randomBytes(16).toString('base64url'),
    transport,
    get state() {
      return state;
    },
    get isRevoked() {
      return ended.signal.aborted;
    },
    bind,
    revoke() {
      if (ended.signal.aborted) return;
      ended.abort();
      for (const act of revoked) act();
    },
    onRevoke(act) {
      if (ended.signal.aborted) act();
      else revoked.push(act);
    },
    reached(now) {
      if (ORDER.indexOf(now) <= ORDER.indexOf(state)) return;
      state = now;
      deps.onState(lease);
    },
    tools: () => deps.tools().filter(({ needs }) => needs.every((ability) => deps.abilities.has(ability))),
    toolsKnown: deps.toolsKnown,
    async call(name, args, { signal, progress }) {
      const find = () => lease.tools().find((one) => one.name === name);
      const tool = find() ?? (await deps.toolsKnown().then(find));
      if (!tool) return failed(`There is no tool "${name}" here; tools/list names those there are`);
      if (ended.signal.aborted) return failed('The session this server belonged to has ended');
      if (calls >= MAX_CALLS) return failed(`There are already ${MAX_CALLS} calls under way in this session; wait for some to end`);
      lease.reached('called');
      calls++;
      try {
        const host = await soon(bound, ended.signal);
        if (!host) return failed('The session this server belongs to was not opened');
        return await callTool(tool, args, host, { signal: AbortSignal.any([signal, ended.signal]), progress }, deps);
      } finally {
        calls--;
      }
    },
  };
  return lease;
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
