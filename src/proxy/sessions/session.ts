// A session as this connection knows it: whose it is, what is open on it, and what waits.
import { type AgentOptions, NO_OPTIONS } from '../../router/config-options.ts';
import type { Frame } from '../../wire/frame.ts';
import { sessionIdOf } from '../../wire/scanner/large-frame.ts';
import type { Patch } from '../../wire/writer.ts';
import type { Roots } from '../../workspace/roots.ts';
import type { Agent } from '../agents/agent.ts';
import type { AgentConnection } from '../agents/agent-connection.ts';
import type { AgentRequest, OpenRequest } from '../client/client-connection.ts';
import { LazySet } from '../lazy-set.ts';
import type { Serving } from '../requests/serve-workspace.ts';
import type { DelegatedSession } from '../tools/delegation.ts';
import type { Attachment } from '../tools/host-tools.ts';
import type { BridgedServers } from '../tools/session-servers.ts';
import { createFrameQueue, type FrameQueue, type Step } from './frame-queue.ts';
import type { Return } from './recover-session.ts';

export type Session = {
  readonly publicId: string;
  agent: Agent;
  nativeId: string;
  cwd: string | undefined;
  /** The agent has spoken of it before the editor was told of it. */
  isDiscovered: boolean;
  /** So it began: it is there even when the editor cannot load it. */
  isAgentsOwn: boolean;
  /** A prompt or a load has been seen: the agent cannot change any more. */
  isStarted: boolean;
  /** The `params` it was opened with, to open it again: at another agent, or at this one after a crash. */
  openParams: string | undefined;
  /** It has been told from its transcript, and its agent knows nothing of it: it can be read and not gone on with. */
  isRecord: boolean;
  /** Its agent has died since; the next request brings it back. */
  isLost: boolean;
  /** Its agent has been asked for it again, and has not answered yet. */
  returning: Return | undefined;
  /** A turn was under way when its agent died. */
  wasInTurn: boolean;
  /** Something has come from the agent since the last look. */
  isActive: boolean;
  /** Somebody looks whether it is, and since when it has not been. */
  isWatched: boolean;
  quietSinceMs: number;
  /** Tool calls that have begun and not ended. */
  readonly toolCalls: LazySet<string>;
  readonly terminals: LazySet<string>;
  /** Where files and terminals of our own may reach; undefined when there are none. */
  roots: Roots | undefined;
  /** Requests of the agent that we answer ourselves. */
  readonly serving: LazySet<Serving>;
  /** The tools it was lent, the terminals opened for them, and those of them the user has allowed for good. */
  attachment: Attachment | undefined;
  /** For a session that one agent has opened with another; its public id is that of the session it is for. */
  delegation: DelegatedSession | undefined;
  /** Agents that are at work for it. */
  readonly delegations: LazySet<{ cancel(): void }>;
  /** Servers of the editor's that its agent reaches through us. */
  bridged: BridgedServers | undefined;
  readonly hostTerminals: LazySet<string>;
  readonly allowedTools: LazySet<string>;
  options: AgentOptions;
  /** The agent has sent its commands, with ours among them. */
  hasCommands: boolean;
  /** One of them is called like ours, and then it is the agent's. */
  hasAgentCommand: boolean;
  /** It is being loaded: what the agent tells of it is long over. */
  isLoading: boolean;
  /** The loads under way whose replays nobody asked to see: until they are over, nothing is passed on. */
  withheldReplay: Set<object> | undefined;
  /** Held while the agent is being changed or the session is being loaded. */
  readonly toAgent: FrameQueue;
  /** Held while the session is being closed or deleted: what comes behind that finds out anew whose session it is. */
  readonly afterEnd: FrameQueue;
  /** Prompts that wait for the agent's answer. */
  readonly turns: LazySet<OpenRequest>;
  /** Requests of the agent that wait for the editor's answer. */
  readonly agentRequests: LazySet<AgentRequest>;
};

/** What is needed to go on with a session that its agent has never been told the end of. */
export type Parked = Pick<Session, 'openParams' | 'options' | 'roots' | 'hasCommands' | 'hasAgentCommand' | 'attachment' | 'bridged'> & {
  /** The agent connection that has it. */
  readonly connection: AgentConnection | undefined;
};

export function createSession(publicId: string, agent: Agent, nativeId: string, cwd: string | undefined): Session {
  return new OpenSession(publicId, agent, nativeId, cwd);
}

/** Its sets and lanes are made when they are first asked for: of a thousand sessions most are idle. */
class OpenSession implements Session {
  // First what every frame of the agent's looks at, side by side: with many sessions, little of them is in the cache.
  isDiscovered = false;
  isActive = false;
  delegation: DelegatedSession | undefined = undefined;
  withheldReplay: Set<object> | undefined = undefined;
  readonly publicId: string;
  nativeId: string;
  agent: Agent;
  cwd: string | undefined;
  isAgentsOwn = false;
  isStarted = true;
  openParams: string | undefined = undefined;
  isRecord = false;
  isLost = false;
  returning: Return | undefined = undefined;
  wasInTurn = false;
  isWatched = false;
  quietSinceMs = 0;
  roots: Roots | undefined = undefined;
  attachment: Attachment | undefined = undefined;
  bridged: BridgedServers | undefined = undefined;
  options: AgentOptions = NO_OPTIONS;
  hasCommands = false;
  hasAgentCommand = false;
  isLoading = false;
  #toolCalls: LazySet<string> | undefined;
  #terminals: LazySet<string> | undefined;
  #serving: LazySet<Serving> | undefined;
  #errands: LazySet<{ cancel(): void }> | undefined;
  #lentTerminals: LazySet<string> | undefined;
  #allowedTools: LazySet<string> | undefined;
  #turns: LazySet<OpenRequest> | undefined;
  #questions: LazySet<AgentRequest> | undefined;
  #toAgent: FrameQueue | undefined;
  #afterEnd: FrameQueue | undefined;

  constructor(publicId: string, agent: Agent, nativeId: string, cwd: string | undefined) {
    this.publicId = publicId;
    this.agent = agent;
    this.nativeId = nativeId;
    this.cwd = cwd;
  }

  get toolCalls(): LazySet<string> {
    this.#toolCalls ??= new LazySet();
    return this.#toolCalls;
  }
  get terminals(): LazySet<string> {
    this.#terminals ??= new LazySet();
    return this.#terminals;
  }
  get serving(): LazySet<Serving> {
    this.#serving ??= new LazySet();
    return this.#serving;
  }
  get delegations(): LazySet<{ cancel(): void }> {
    this.#errands ??= new LazySet();
    return this.#errands;
  }
  get hostTerminals(): LazySet<string> {
    this.#lentTerminals ??= new LazySet();
    return this.#lentTerminals;
  }
  get allowedTools(): LazySet<string> {
    this.#allowedTools ??= new LazySet();
    return this.#allowedTools;
  }
  get turns(): LazySet<OpenRequest> {
    this.#turns ??= new LazySet();
    return this.#turns;
  }
  get agentRequests(): LazySet<AgentRequest> {
    this.#questions ??= new LazySet();
    return this.#questions;
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
 * A close or delete goes past what waits in the lane, and the agent must not hear of that behind it. True when the step waits on: should the
 * end fail, it goes on then, and else the end has answered it.
 */
export function waitsForEnd({ toAgent, afterEnd }: Session, step: Step): boolean {
  if (!afterEnd.isHeld) return false;
  toAgent.hold();
  toAgent.waitFirst(step);
  afterEnd.waitFirst({ request: undefined, run: () => toAgent.release() });
  return true;
}

/** One for all: nearly every frame goes as it came. */
const NO_PATCHES: readonly Patch[] = [];

const unchanged = (): readonly Patch[] => NO_PATCHES;

/**
 * Puts the agent's own id where the editor wrote the public one. Nothing to do unless two agents minted the same id. The id is that of now:
 * a frame may have to wait for its agent, and the session may have moved to another meanwhile.
 */
export function toNative(session: Session | undefined): (frame: Frame) => readonly Patch[] {
  if (!session || session.publicId === session.nativeId) return unchanged;
  const text = JSON.stringify(session.nativeId);
  return ({ sessionId: span }) => (span ? [{ span, text }] : NO_PATCHES);
}

/** The other way. Only where the frame names this session: an agent's error may name another. */
export function toPublic(session: Session | undefined, frame: Frame): readonly Patch[] {
  if (!session || !frame.sessionId || session.publicId === session.nativeId) return NO_PATCHES;
  if (sessionIdOf(frame) !== session.nativeId) return NO_PATCHES;
  return [{ span: frame.sessionId, text: JSON.stringify(session.publicId) }];
}

/**
 * From now on its updates are a replay that nobody asked to see, until the load that brings it is over, however late. One that was given up
 * may never be: the session must not stay mute for it once it has come back in another way.
 */
export function withholdReplay(session: Session): () => void {
  const load = {};
  const loads = session.withheldReplay ?? new Set();
  session.withheldReplay = loads.add(load);
  return () => {
    loads.delete(load);
    if (loads.size === 0 && session.withheldReplay === loads) session.withheldReplay = undefined;
  };
}
