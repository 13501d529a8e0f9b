// The parts of one proxy: each owns its state. Nothing is global, so one process can serve many clients.
import type { AgentPool } from './agents/agent-pool.ts';
import type { ClientPort } from './boundary.ts';
import type { Context } from './context.ts';
import type { AgentRequests } from './requests/agent-requests.ts';
import type { SessionRegistry } from './sessions/session-registry.ts';
import type { ToolParts } from './tools/session-tools.ts';

export type ProxyParts = {
  readonly context: Context;
  readonly pool: AgentPool;
  readonly registry: SessionRegistry;
  readonly client: ClientPort;
  readonly requests: AgentRequests;
  readonly tools: ToolParts;
};

/** The parts that a function uses. */
export type Parts<Name extends keyof ProxyParts> = Pick<ProxyParts, Name>;
