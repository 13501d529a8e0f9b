// One session: its agent, its state, its open requests and its waiting frames.
import type { Roots } from '../../workspace/roots.ts';
import type { Agent } from '../agents/agent.ts';
import type { AgentConnection } from '../agents/agent-connection.ts';
import type { ClientRequest } from '../boundary.ts';
import type { SessionEnforcement } from '../enforcement/enforcement-state.ts';
import type { Serving } from '../requests/serve-workspace.ts';
import type { DelegatedSession } from '../tools/delegation.ts';
import { ToolServers } from '../tools/tool-servers.ts';
import type { StallWatch } from '../turns/stall-watch.ts';
import { ToolCalls } from '../turns/tool-calls.ts';
import { ConfigOptions } from './config-options.ts';
import { createFrameQueue, type FrameQueue, type Step } from './frame-queue.ts';
import {
  type Change,
  type Close,
  DISCOVERED,
  KNOWN,
  type Load,
  type Open,
  operationOf,
  type Recovery,
  restingOf,
  rootsOf,
  type SessionState,
  settle,
  withholdsUpdates,
} from './session-state.ts';

// A set that allocates nothing while it is empty: a session has several, and most sessions are idle.
const NOTHING: ReadonlySet<never> = new Set<never>();

export class LazySet<T> implements Iterable<T> {
  #items: Set<T> | undefined;

  get size(): number {
    return this.#items?.size ?? 0;
  }
  has(item: T): boolean {
    return this.#items?.has(item) ?? false;
  }
  add(item: T): void {
    this.#items ??= new Set();
    this.#items.add(item);
  }
  delete(item: T): boolean {
    return this.#items?.delete(item) ?? false;
  }
  clear(): void {
    this.#items?.clear();
  }
  /** Sees additions and deletions during the iteration, as any set does. */
  [Symbol.iterator](): Iterator<T> {
    return (this.#items ?? NOTHING).values();
  }
}

export type Session = {
  readonly publicId: string;
  agent: Agent;
  nativeId: string;
  cwd: string | undefined;
  /** Who named it first. A session that its agent created exists even if the client cannot load it. */
  readonly origin: 'client' | 'agent';
  readonly state: SessionState;
  /** The next state, unless the session has ended. Returns false when it has. */
  advance(transition: (state: Exclude<SessionState, { kind: 'closed' }>) => SessionState): boolean;
  /** Settles an operation. Returns false when it is late: the session no longer waits for it. */
  settle: Settle;
  // Views of the state.
  readonly isDiscovered: boolean;
  readonly agentLocked: boolean;
  readonly openParams: string | undefined;
  readonly isTranscript: boolean;
  readonly isLost: boolean;
  readonly isLoading: boolean;
  readonly isRecovering: boolean;
  readonly isClosing: boolean;
  readonly isClosed: boolean;
  /** Its updates are a replay that no client asked for. */
  readonly withholdsUpdates: boolean;
  readonly roots: Roots | undefined;
  /** Undefined before the first turn, and when no limit is configured. */
  stallWatch: StallWatch | undefined;
  readonly toolCalls: ToolCalls;
  /** Requests of the agent that we answer ourselves. */
  readonly serving: LazySet<Serving>;
  /** Its host tools and bridges. */
  readonly servers: ToolServers;
  /** The same, undefined before the first use. */
  readonly usedServers: ToolServers | undefined;
  /** For a session that one agent has opened with another; its public id is that of the session it is for. */
  delegation: DelegatedSession | undefined;
  /** Agents that are at work for it. */
  readonly delegations: LazySet<{ cancel(): void }>;
  /** What enforcement knows of it; undefined without a policy. */
  enforcement: SessionEnforcement | undefined;
  options: ConfigOptions;
  /** Held while the session is loaded or recovered, or its agent is changed. */
  readonly toAgent: FrameQueue;
  /** Held while the session is closed or deleted. Frames behind that look up the session again, since its id may be another's. */
  readonly afterEnd: FrameQueue;
  /** Prompts without an answer yet. */
  readonly turns: LazySet<ClientRequest>;
};

type Settle = {
  (op: Load, next: Parameters<typeof settle<'load'>>[2]): boolean;
  (op: Recovery, next: Parameters<typeof settle<'recovery'>>[2]): boolean;
  (op: Change, next: Parameters<typeof settle<'change'>>[2]): boolean;
  (op: Close, next: Parameters<typeof settle<'close'>>[2]): boolean;
};

/** What it takes to continue a session that the client has closed and its agent still has. */
export type Parked = Pick<Session, 'options'> &
  Pick<ToolServers, 'attachment' | 'bridged'> & {
    readonly open: Open;
    /** The agent connection that has it. */
    readonly connection: AgentConnection | undefined;
  };

export function createSession(publicId: string, agent: Agent, nativeId: string, cwd: string | undefined): Session {
  return new SessionObject(publicId, agent, nativeId, cwd, 'client');
}

/** A session that an agent has made itself, for a subagent for example. */
export function createDiscovered(publicId: string, agent: Agent, nativeId: string): Session {
  return new SessionObject(publicId, agent, nativeId, undefined, 'agent');
}

/** Its sets and queues are created on first use: of a thousand sessions most are idle. */
class SessionObject implements Session {
  // First the fields that every frame from the agent reads, side by side: with many sessions, little of them is in the cache.
  isDiscovered: boolean;
  isLost = false;
  isTranscript = false;
  withholdsUpdates = false;
  stallWatch: StallWatch | undefined = undefined;
  delegation: DelegatedSession | undefined = undefined;
  readonly publicId: string;
  nativeId: string;
  agent: Agent;
  cwd: string | undefined;
  readonly origin: 'client' | 'agent';
  #state: SessionState;
  usedServers: ToolServers | undefined = undefined;
  enforcement: SessionEnforcement | undefined = undefined;
  #options: ConfigOptions | undefined;
  #toolCalls: ToolCalls | undefined;
  #serving: LazySet<Serving> | undefined;
  #delegations: LazySet<{ cancel(): void }> | undefined;
  #turns: LazySet<ClientRequest> | undefined;
  #toAgent: FrameQueue | undefined;
  #afterEnd: FrameQueue | undefined;

  constructor(publicId: string, agent: Agent, nativeId: string, cwd: string | undefined, origin: 'client' | 'agent') {
    this.publicId = publicId;
    this.agent = agent;
    this.nativeId = nativeId;
    this.cwd = cwd;
    this.origin = origin;
    this.#state = origin === 'agent' ? DISCOVERED : KNOWN;
    this.isDiscovered = origin === 'agent';
  }

  get state(): SessionState {
    return this.#state;
  }
  advance(transition: (state: Exclude<SessionState, { kind: 'closed' }>) => SessionState): boolean {
    if (this.#state.kind === 'closed') return false;
    this.#enter(transition(this.#state));
    return true;
  }
  settle(op: Load | Recovery | Change | Close, next: (now: never) => SessionState): boolean {
    const settled = settle(this.#state, op as Load, next as never);
    if (settled) this.#enter(settled);
    return settled !== undefined;
  }
  /** The only place where a session's state is assigned. */
  #enter(next: SessionState): void {
    this.#state = next;
    const { kind } = restingOf(next);
    this.isDiscovered = kind === 'discovered';
    this.isLost = kind === 'lost';
    this.isTranscript = kind === 'transcript';
    this.withholdsUpdates = withholdsUpdates(next);
  }
  get agentLocked(): boolean {
    const resting = restingOf(this.#state);
    return resting.kind === 'open' || resting.kind === 'lost' ? resting.agentLocked : true;
  }
  get openParams(): string | undefined {
    const resting = restingOf(this.#state);
    return resting.kind === 'open' || resting.kind === 'lost' ? resting.openParams : undefined;
  }
  get isLoading(): boolean {
    return operationOf(this.#state, 'load') !== undefined;
  }
  get isRecovering(): boolean {
    return operationOf(this.#state, 'recovery') !== undefined;
  }
  get isClosing(): boolean {
    return this.#state.kind === 'closing';
  }
  get isClosed(): boolean {
    return this.#state.kind === 'closed';
  }
  get roots(): Roots | undefined {
    return rootsOf(this.#state);
  }

  get options(): ConfigOptions {
    this.#options ??= new ConfigOptions();
    return this.#options;
  }
  set options(options: ConfigOptions) {
    this.#options = options;
  }
  get toolCalls(): ToolCalls {
    this.#toolCalls ??= new ToolCalls();
    return this.#toolCalls;
  }
  get serving(): LazySet<Serving> {
    this.#serving ??= new LazySet();
    return this.#serving;
  }
  get delegations(): LazySet<{ cancel(): void }> {
    this.#delegations ??= new LazySet();
    return this.#delegations;
  }
  get servers(): ToolServers {
    this.usedServers ??= new ToolServers();
    return this.usedServers;
  }
  get turns(): LazySet<ClientRequest> {
    this.#turns ??= new LazySet();
    return this.#turns;
  }
  get toAgent(): FrameQueue {
    this.#toAgent ??= createFrameQueue();
    return this.#toAgent;
  }
  get afterEnd(): FrameQueue {
    this.#afterEnd ??= createFrameQueue();
    return this.#afterEnd;
  }
}

/**
 * A close or delete overtakes the frames that wait in the queue, and the agent must not get those behind it. True when the step waits on: it
 * runs if the close fails; otherwise the close answers it.
 */
export function waitsForEnd({ toAgent, afterEnd }: Session, step: Step): boolean {
  if (!afterEnd.isHeld) return false;
  toAgent.hold();
  toAgent.waitFirst(step);
  afterEnd.waitFirst({ request: undefined, run: () => toAgent.release() });
  return true;
}
