// One session: its agent, its state, its open requests and its waiting frames.

import type { SessionSettings } from '../../store/sessions/session-records.ts';
import type { Roots } from '../../workspace/roots.ts';
import type { Agent } from '../agents/agent.ts';
import type { ClientRequest } from '../boundary.ts';
import type { SessionEnforcement } from '../enforcement/enforcement-state.ts';
import type { Serving } from '../requests/serve-workspace.ts';
import type { DelegatedSession } from '../tools/delegation.ts';
import { ToolServers } from '../tools/tool-servers.ts';
import type { LateReplay } from '../turns/late-replay.ts';
import type { PromptQueue } from '../turns/prompt-queue.ts';
import type { ShownHistory } from '../turns/shown-history.ts';
import type { StallWatch } from '../turns/stall-watch.ts';
import { ToolCalls } from '../turns/tool-calls.ts';
import { ConfigOptions } from './config-options.ts';
import { FrameQueue } from './frame-queue.ts';
import {
  admit,
  type Change,
  type Close,
  DISCOVERED,
  KNOWN,
  type Load,
  operationOf,
  overtakes,
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
  /** The id of its record: another than the public one if the record of that id belongs to a session of another agent. */
  recordId: string;
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
  /** From the answer to a load until the first prompt after it is answered. */
  lateReplay: LateReplay | undefined;
  /** Without transcripts, at an agent that brings sessions back by session/load only: what the client has seen. */
  shown: ShownHistory | undefined;
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
  /** What the client has set before the first prompt, for an agent that does not keep it. */
  settings: SessionSettings | undefined;
  /** Frames from the client that the state does not admit yet. */
  readonly waiting: FrameQueue;
  readonly hasWaiting: boolean;
  /** Lets waiting frames go on as far as the state admits them. Every operation calls it when it is over. */
  resume(): void;
  /** Prompts without an answer yet. */
  readonly turns: LazySet<ClientRequest>;
  /** Prompts that wait for a turn to end; undefined before the first one. */
  queued: PromptQueue | undefined;
};

type Settle = {
  (op: Load, next: Parameters<typeof settle<'load'>>[2]): boolean;
  (op: Recovery, next: Parameters<typeof settle<'recovery'>>[2]): boolean;
  (op: Change, next: Parameters<typeof settle<'change'>>[2]): boolean;
  (op: Close, next: Parameters<typeof settle<'close'>>[2]): boolean;
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
  lateReplay: LateReplay | undefined = undefined;
  shown: ShownHistory | undefined = undefined;
  stallWatch: StallWatch | undefined = undefined;
  delegation: DelegatedSession | undefined = undefined;
  readonly publicId: string;
  nativeId: string;
  agent: Agent;
  cwd: string | undefined;
  recordId: string;
  readonly origin: 'client' | 'agent';
  #state: SessionState;
  usedServers: ToolServers | undefined = undefined;
  enforcement: SessionEnforcement | undefined = undefined;
  #options: ConfigOptions | undefined;
  #toolCalls: ToolCalls | undefined;
  #serving: LazySet<Serving> | undefined;
  #delegations: LazySet<{ cancel(): void }> | undefined;
  #turns: LazySet<ClientRequest> | undefined;
  #waiting: FrameQueue | undefined;
  queued: PromptQueue | undefined = undefined;
  settings: SessionSettings | undefined = undefined;

  constructor(publicId: string, agent: Agent, nativeId: string, cwd: string | undefined, origin: 'client' | 'agent') {
    this.publicId = publicId;
    this.agent = agent;
    this.nativeId = nativeId;
    this.cwd = cwd;
    this.recordId = publicId;
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
  get waiting(): FrameQueue {
    this.#waiting ??= new FrameQueue();
    return this.#waiting;
  }
  get hasWaiting(): boolean {
    return this.#waiting?.isEmpty === false;
  }
  resume(): void {
    this.#waiting?.run(({ method, request }) => admit(this.#state, method, request !== undefined) !== 'wait', overtakes);
    // The id of a closed session finds another one, whose turns would not start the prompts that wait here.
    if (this.isClosed) for (const { frame, enter } of this.queued?.releaseAll() ?? []) enter(frame);
  }
}
