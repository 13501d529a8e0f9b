// What a proxy takes from its composition root, and what it offers in return.
import type { InitializeResult } from '../acp/shapes.ts';
import type { AgentSpec } from '../agents/defaults.ts';
import type { Children } from '../mcp/gateway/server-process.ts';
import type { GateVerdict } from '../mcp/server/gate.ts';
import type { Shim } from '../mcp/transports/listeners.ts';
import type { TerminalRequest } from '../policy/actions/surfaces.ts';
import type { Review } from '../review/review.ts';
import type { WhileRunning } from '../router/while-running.ts';
import type { CapabilityCache } from '../store/capability-cache.ts';
import type { SessionStore } from '../store/sessions/session-store.ts';
import type { TranscriptSource } from '../store/transcripts/transcript-source.ts';
import type { Activity } from '../telemetry/activity.ts';
import type { Transport } from '../transports/transport.ts';
import type { Limits } from '../wire/frame.ts';
import type { ConnectionRecords } from '../wire/observer.ts';
import type { Scanner } from '../wire/scanner/scanner.ts';
import type { Workspace } from '../workspace/workspace.ts';
import type { AgentHealth } from './agents/agent.ts';
import type { AgentConfiguration, HowToStop, Reconfigured } from './agents/agent-pool.ts';
import type { ContainServed, ProcessContext } from './agents/process-context.ts';
import type { Multiplexer } from './boundary.ts';
import type { ClientScope } from './client-scope.ts';
import type { Clock, Counters } from './context.ts';
import type { CreateEnforcement, Evaluated } from './enforcement/enforcement.ts';
import type { UserPage } from './enforcement/surfaces/user-actions.ts';
import type { AlwaysStoreOptions } from './requests/always-answer-store.ts';
import type { ElsewhereAnswer } from './requests/user-actions.ts';
import type { HostToolsState } from './tools/check-tool-use.ts';
import type { HostToolsOptions } from './tools/session-tools.ts';
import type { QueuedPrompt } from './turns/prompt-queue.ts';

export type ProxyOptions = {
  readonly agents: readonly AgentSpec[];
  readonly defaultAgent: string;
  readonly explicitDefault: boolean;
  readonly routes: readonly { readonly cwd: string; readonly agent: string }[];
  readonly limits: Limits;
  /** Shared by all connections of the process. */
  readonly scanner: Scanner;
  readonly initializeWaitMs: number;
  readonly launch: (spec: AgentSpec, context: ProcessContext) => Transport;
  /** Whether an agent's next process runs in a sandbox. */
  readonly isContained?: ((spec: AgentSpec) => boolean) | undefined;
  /** Puts a command that is served to a contained agent into the agent's sandbox. */
  readonly containCommand?: ContainServed | undefined;
  /** Whether an agent works on a layer over the project. */
  readonly isReviewed?: ((spec: AgentSpec) => boolean) | undefined;
  readonly review?: Review | undefined;
  readonly log: SessionStore;
  readonly cache: CapabilityCache;
  readonly clock: Clock;
  readonly version: string;
  readonly enforcement?: CreateEnforcement | undefined;
  /** Where answers with "always" are kept if there is no policy. */
  readonly always?: AlwaysStoreOptions | undefined;
  readonly report: (text: string, level?: 'debug') => void;
  /** Limits a network client. */
  readonly scope?: ClientScope | undefined;
  /** Several clients share the connection. */
  readonly multiplexer?: Multiplexer | undefined;
  /** Our own files and terminals, for host tools, and for agents if `servesMissing`. */
  readonly workspace?: Workspace | undefined;
  readonly servesMissing?: boolean | undefined;
  /** Prompts that arrive during a turn wait, also for a single agent, unless its settings say otherwise. */
  readonly queuesPrompts?: boolean | undefined;
  /** Creates the observer of a connection, by name. */
  readonly watch?: (connection: string, side: 'editor' | 'agent') => ConnectionRecords;
  /** The transcripts of sessions, for agents that cannot replay them. */
  readonly transcripts?: TranscriptSource | undefined;
  /** Host tools for agents; without them, sessions are opened exactly as the client opens them. */
  readonly toolAttachments?: HostToolsOptions | undefined;
  /** How an agent starts the shim that reaches MCP servers through us; without it, none of the client's servers are bridged. */
  readonly shim?: Shim | undefined;
  /** Records the MCP servers that are started, so that the next process can end leftovers of this one. */
  readonly children?: Children | undefined;
  /** An agent became ready, exited, or was stopped or restarted by the user. */
  readonly onStateChange?: (() => void) | undefined;
  /** The turns of a session are cancelled because its agent is silent. */
  readonly onStallCancel?: ((sessionId: string) => void) | undefined;
  /** For telemetry. */
  readonly activity?: Activity | undefined;
};

export type DescribedAgent = {
  readonly name: string;
  readonly title: string;
  readonly answer: InitializeResult | undefined;
  /** What happens to a prompt during a turn, and whether it can join the turn if the client asks for that. */
  readonly whileRunning: WhileRunning;
  readonly canSteer: boolean;
};

export type RunningProxy = {
  /** Resolves when the client has gone, or does not read. */
  readonly ended: Promise<void>;
  /** Cancels turns, answers open requests and ends every agent; resolves when no process is left. */
  stop(): Promise<void>;
  /** Ends every agent at once. */
  kill(): void;
  /** Uses other agents for new sessions; open sessions keep theirs. */
  reconfigure(wanted: AgentConfiguration): Reconfigured;
  health(): Readonly<Record<string, AgentHealth>>;
  /** Open sessions. `running`: a turn is under way. `idle`: none is. */
  sessions(): Iterable<{ readonly agent: string; readonly state: string }>;
  /** The agent of an open session. */
  agentOf(sessionId: string): string | undefined;
  /** Frames that reached nobody. */
  readonly counters: Readonly<Counters>;
  /** By process id: the agent, and its answer to initialize. */
  described(): Readonly<Record<string, DescribedAgent>>;
  /** Answers a permission request or elicitation in place of the client; false when it is no longer open. */
  answer(answer: ElsewhereAnswer): boolean;
  /** The policy's decision about an open request, by the id that the client knows. */
  evaluatedRequest(id: string): Evaluated | undefined;
  /** The client (in this process) answers an open request without asking a person; the audit log says so. */
  answersAutomatically(id: string): void;
  /** Cancels the turns of a session; false for an unknown session. */
  cancel(sessionId: string): boolean;
  /** Whether the policy lets the user read or edit a file of a session outside the client. */
  fileActionByUser(sessionId: string, act: 'read' | 'edit', file: string, where?: UserPage): GateVerdict;
  /** The same for a command. */
  commandByUser(sessionId: string, command: TerminalRequest): GateVerdict;
  /** Stops an agent's processes cleanly and starts new ones; false for an unknown agent. */
  restart(name: string): boolean;
  /** Takes an agent out of service until it is restarted; false for an unknown agent. */
  stopAgent(name: string, how: HowToStop): boolean;
  /** The host tools of each session, and whether its agent has connected to them. */
  hostToolsState(): readonly HostToolsState[];
  /** The prompts that wait for the end of a turn. */
  queuedPrompts(): readonly QueuedPrompt[];
  /** How many prompts of a session the agent has. */
  runningPrompts(sessionId: string): number;
  /** Gives a waiting prompt another text, or removes it if `text` is undefined. False when it no longer waits. */
  changeQueued(prompt: Pick<QueuedPrompt, 'sessionId' | 'id'>, text: string | undefined): boolean;
  /** The newest frame, to explain a delay. */
  lastFrame(): { readonly method: string | undefined; readonly bytes: number };
};
