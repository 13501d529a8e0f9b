// What the steps of one connection share. A connection is an object: nothing here is global, so one process can serve many editors.
import type { Choice } from '../router/route.ts';
import type { SessionTable } from '../router/session-table.ts';
import type { CapabilityCache } from '../store/capability-cache.ts';
import type { SessionLog } from '../store/sessions/session-store.ts';
import type { TranscriptSource } from '../store/transcripts/transcript-source.ts';
import type { Workspace } from '../workspace/workspace.ts';
import type { Agent } from './agents/agent.ts';
import type { ClientConnection } from './client/client-connection.ts';
import type { Clock } from './context.ts';
import type { Counters } from './counters.ts';
import type { Enforcement } from './enforcement/enforcement.ts';
import type { Aliases } from './requests/name-table.ts';
import type { Session } from './sessions/session.ts';
import type { Bridging } from './tools/bridge-servers.ts';
import type { ToolAttachments } from './tools/host-tools.ts';

/** The editor's params of initialize, fit for agents. */
export type InitializeParams = {
  readonly paramsText: string;
  /** As agents hear of them. */
  readonly clientCapabilities: unknown;
  /** Methods of the editor's that we answer, because it cannot. */
  readonly served: ReadonlySet<string>;
};

export type Hub = {
  /** One agent: we are as good as not there. */
  singleAgent: Agent | undefined;
  readonly agents: ReadonlyMap<string, Agent>;
  /** Further processes of agents that have one for each session. */
  readonly isolated: Set<Agent>;
  /** Those of them that are ending. */
  readonly leaving: Set<Agent>;
  /** Makes such a one. */
  readonly anotherProcess: (agent: Agent) => Agent;
  choice: Choice;
  /** `default_agent` was named in the configuration, and not only the first listed. */
  hasExplicitDefault: boolean;
  readonly client: ClientConnection;
  readonly table: SessionTable;
  /** Sessions of this connection by their public ids. */
  readonly sessions: Map<string, Session>;
  /** Which agent's terminal, elicitation or MCP request a name of the editor's side is. */
  readonly terminals: Map<string, { readonly agent: Agent; readonly sessionId: string | undefined }>;
  readonly elicitations: Aliases;
  readonly mcpRequests: Aliases;
  /** The tools we lend to agents; undefined when none are. */
  readonly toolAttachments: ToolAttachments | undefined;
  /** Bridges to the editor's own servers; undefined when there can be none. */
  readonly bridging: Bridging | undefined;
  readonly log: SessionLog;
  /** What was said in sessions; undefined when nothing is written down. */
  readonly transcripts: TranscriptSource | undefined;
  readonly cache: CapabilityCache;
  readonly clock: Clock;
  readonly counters: Counters;
  readonly version: string;
  /** Only when there is a policy. */
  readonly enforcement: Enforcement | undefined;
  readonly initializeWaitMs: number;
  readonly maxQueueBytes: number;
  /** Files and terminals of our own, for an editor that has none; undefined when they are not wanted. */
  readonly workspace: Workspace | undefined;
  /** Whether agents are told of it, where the editor has nothing of its own. */
  readonly servesMissing: boolean;
  /** Undefined before it came. */
  initializeParams: InitializeParams | undefined;
  /** Words for people. */
  readonly report: (text: string) => void;
};

/** How agents are shown in a list of choices. */
export const agentTitles = (hub: Hub): { readonly name: string; readonly title: string }[] =>
  [...hub.agents.values()].map(({ name, title }) => ({ name, title }));
