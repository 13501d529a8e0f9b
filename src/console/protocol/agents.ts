// Messages between the Agents screen and its server.
import type { Nothing } from './sessions.ts';

/** CPU and memory of an agent's processes. */
export type AgentLoad = {
  readonly id: string;
  readonly processes: number;
  readonly memoryBytes: number;
  /** Share of one processor; undefined in the first sample. */
  readonly cpuPercent?: number | undefined;
};

/** How far an agent has come with a session's host tools: `offered`, `connected`, `listed`, `called`. */
export type HostTools = {
  readonly sessionId: string;
  readonly agent: string;
  readonly transport: string;
  readonly state: string;
  readonly tools: readonly string[];
};

/** A client that is connected over the network. */
export type NetworkClient = {
  readonly number: number;
  /** The name of its token. */
  readonly principal: string;
  readonly role: string;
  /** What it calls itself; undefined before initialize. */
  readonly program?: string | undefined;
  readonly since: string;
  /** The sessions it is attached to. */
  readonly sessions: readonly string[];
};

export type AgentActions = {
  disconnectClient: { params: { readonly client: number }; result: unknown };
  /** Stops an agent until it is restarted: `now` cancels its turns, `drain` lets them finish. */
  stopAgent: { params: { readonly agent: string; readonly how: 'now' | 'drain' }; result: unknown };
};

export type AgentTopics = {
  /** Sampled every two seconds while a page subscribes. */
  agentUse: {
    params: Nothing;
    news: { readonly loads: readonly AgentLoad[]; readonly hostTools: readonly HostTools[]; readonly clients: readonly NetworkClient[] };
  };
};
