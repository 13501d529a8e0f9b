// The Agents screen and its server.
import type { Nothing } from './sessions.ts';

/** What the processes of an agent use. */
export type AgentLoad = {
  readonly id: string;
  readonly processes: number;
  readonly memoryBytes: number;
  /** Of one processor; undefined at the first look. */
  readonly cpuPercent?: number | undefined;
};

/** How far an agent has come with the tools a session was lent: `offered`, `connected`, `listed`, `called`. */
export type HostTools = {
  readonly sessionId: string;
  readonly agent: string;
  readonly transport: string;
  readonly state: string;
  readonly tools: readonly string[];
};

export type AgentActions = {
  /** Out of service until it is restarted: `now` cancels its turns, `drain` lets them end. */
  stopAgent: { params: { readonly agent: string; readonly how: 'now' | 'drain' }; result: unknown };
};

export type AgentTopics = {
  /** Looked up every other second while somebody follows. */
  agentUse: {
    params: Nothing;
    news: { readonly loads: readonly AgentLoad[]; readonly hostTools: readonly HostTools[] };
  };
};
