// What a proxy takes from its composition root, and what it offers in return.
import type { InitializeResult } from '../acp/shapes.ts';
import type { AgentSpec } from '../agents/defaults.ts';
import type { Children } from '../mcp/gateway/server-process.ts';
import type { GateVerdict } from '../mcp/server/gate.ts';
import type { Shim } from '../mcp/transports/listeners.ts';
import type { CapabilityCache } from '../store/capability-cache.ts';
import type { SessionLog } from '../store/sessions/session-store.ts';
import type { TranscriptSource } from '../store/transcripts/transcript-source.ts';
import type { Transport } from '../transports/transport.ts';
import type { Limits } from '../wire/frame.ts';
import type { Watcher } from '../wire/observer.ts';
import type { Scanner } from '../wire/scanner/scanner.ts';
import type { Workspace } from '../workspace/workspace.ts';
import type { AgentHealth } from './agents/agent.ts';
import type { AgentConfiguration, HowToStop, Reconfigured } from './agents/agent-pool.ts';
import type { Clock, Counters } from './context.ts';
import type { CreateEnforcement, Evaluated } from './enforcement/enforcement.ts';
import type { ElsewhereAnswer } from './requests/answer-elsewhere.ts';
import type { HostToolsState } from './tools/confirm-tools.ts';
import type { HostToolsOptions } from './tools/host-tools.ts';

export type ConnectionOptions = {
  readonly agents: readonly AgentSpec[];
  readonly defaultAgent: string;
  readonly explicitDefault: boolean;
  readonly routes: readonly { readonly cwd: string; readonly agent: string }[];
  readonly limits: Limits;
  /** Shared by all connections of the process. */
  readonly scanner: Scanner;
  readonly initializeWaitMs: number;
  readonly launch: (spec: AgentSpec) => Transport;
  readonly log: SessionLog;
  readonly cache: CapabilityCache;
  readonly clock: Clock;
  readonly version: string;
  readonly enforcement?: CreateEnforcement | undefined;
  readonly report: (text: string) => void;
  /** Files and terminals where the editor has none: for lent tools, and for agents if `servesMissing`. */
  readonly workspace?: Workspace | undefined;
  readonly servesMissing?: boolean | undefined;
  /** Whoever keeps records: it looks on at every leg, by name. */
  readonly watch?: (connection: string, side: 'editor' | 'agent') => Watcher;
  /** What was said in sessions, for agents that cannot tell it again themselves. */
  readonly transcripts?: TranscriptSource | undefined;
  /** Tools for agents; left out, sessions are opened as the editor opens them. */
  readonly toolAttachments?: HostToolsOptions | undefined;
  /** How an agent starts the shim, by which it reaches servers through us; left out, none of the editor's are bridged. */
  readonly shim?: Shim | undefined;
  /** Hears of MCP servers that are started, so that the next process can end what this one leaves behind. */
  readonly children?: Children | undefined;
  /** An agent that was started can be talked to, has exited, or was stopped or restarted by hand. */
  readonly onStateChange?: (() => void) | undefined;
};

export type Connection = {
  /** The editor has gone, or does not take what we send. */
  readonly ended: Promise<void>;
  /** Cancels what runs, answers what is open, ends every agent; resolves when nothing of them is left. */
  stop(): Promise<void>;
  /** Ends every agent at once. */
  kill(): void;
  /** Other agents for sessions to come; those that are open keep theirs. `said` is for people. */
  reconfigure(wanted: AgentConfiguration): Reconfigured;
  health(): Readonly<Record<string, AgentHealth>>;
  /** What has reached nobody so far. */
  readonly counters: Readonly<Counters>;
  /** Every process of an agent by its id: whose it is, and what the agent answered to initialize. */
  described(): Readonly<Record<string, { readonly name: string; readonly title: string; readonly answer: InitializeResult | undefined }>>;
  /** Answers a permission question or an elicitation in the editor's place; false when it is not open any more. */
  answer(answer: ElsewhereAnswer): boolean;
  /** What a policy has said of a question that is open, by the id the editor knows; undefined when none has. */
  judged(id: string): Evaluated | undefined;
  /** Cancels what a session is doing; false when there is no such session. */
  cancel(sessionId: string): boolean;
  /** Whether the user may read or change a file of a session by hand, somewhere else than in the editor. */
  byUser(sessionId: string, act: 'read' | 'edit', file: string): GateVerdict;
  /** Ends an agent's process in good order and starts another; false when there is no such agent. */
  restart(name: string): boolean;
  /** Takes an agent out of service until it is restarted; false when there is no such agent. */
  stopAgent(name: string, how: HowToStop): boolean;
  /** The tools that sessions are lent, and how far their agents have come with them. */
  lent(): readonly HostToolsState[];
  /** The frame that came last, for whoever wonders what held us up. */
  lastFrame(): { readonly method: string | undefined; readonly bytes: number };
};
