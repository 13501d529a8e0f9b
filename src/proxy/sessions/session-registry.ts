// The sessions of one proxy: by public id, by their agents' own ids, and the terminals that agents created in them. Only the registry
// writes these tables and the table of ids.
import { failure, type ProxyError } from '../../errors.ts';
import { type Binding, createSessionTable, type SessionTable } from '../../router/session-table.ts';
import type { Agent } from '../agents/agent.ts';
import { type AgentPool, agentOf } from '../agents/agent-pool.ts';
import type { DelegatedSession } from '../tools/delegation.ts';
import { createDiscovered, createSession, type Session } from './session.ts';
import { end, type OpenedWith, opened, restingOf } from './session-state.ts';

/** Delegated sessions have the public id of the session they are for. */
type TerminalOwner = { readonly agent: Agent; readonly sessionId: string | undefined; readonly delegationId: string | undefined };
type StoredSession = { readonly agent: string; readonly nativeId: string; readonly cwd?: string | undefined };

export type RegistryDeps = {
  readonly pool: () => Pick<AgentPool, 'single' | 'get' | 'processFor' | 'processesOf' | 'endIfUnused'>;
  /** A session that an earlier process opened. */
  readonly stored: (publicId: string) => StoredSession | undefined;
  /** A session of any client or process has or had that id. */
  readonly isUsed: (publicId: string) => boolean;
  /** The record of that id belongs to a session of another agent: the id under which the session of this agent is recorded. */
  readonly recordApart: (publicId: string, agent: Agent) => string;
  /** The client still has an open request under that id: another session must not get the id. */
  readonly isAskedUnder: (publicId: string) => boolean;
  /** The requests of one session belong to the other from now on. */
  readonly moveRequests: (from: Session, to: Session) => void;
  /** Its agent waits for the client's answer to a request. */
  readonly isWaiting: (session: Session) => boolean;
  readonly ended: (session: Session) => void;
};

/** What the agents' lists say about an id. `candidates` are agents that cannot list but can load: for them there is only trying. */
export type Found = { readonly owner: Session | ProxyError | undefined; readonly candidates: readonly Agent[] };
type Waiting = (found: () => Found) => void;

const listOf = (cwd: string | undefined): readonly string[] => (cwd === undefined ? [] : [cwd]);

const MAX_SESSIONS = 10_000;

export class SessionRegistry {
  readonly #deps: RegistryDeps;
  readonly #table: SessionTable;
  readonly #sessions = new Map<string, Session>();
  readonly #terminals = new Map<string, TerminalOwner>();
  readonly #terminalsOf = new Map<Session, Set<string>>();
  /** Ids that agents are being asked about, and the requests that wait for the owner. */
  readonly #lookups = new Map<string, Waiting[]>();

  constructor(deps: RegistryDeps) {
    this.#deps = deps;
    this.#table = createSessionTable(deps.isAskedUnder);
  }

  /** A session in use on this connection. */
  get(publicId: string): Session | undefined {
    return this.#sessions.get(publicId);
  }
  all(): Iterable<Session> {
    return this.#sessions.values();
  }
  /** A session that this connection or an earlier process knows. With one agent, any id is a session of that agent. */
  find(publicId: string): Session | ProxyError | undefined {
    const live = this.#sessions.get(publicId);
    if (live) return live;
    const binding = this.#table.find(publicId) ?? this.#recall(publicId);
    const pool = this.#deps.pool();
    const agent = binding && pool.get(agentOf(binding.agent));
    if (binding && agent)
      return this.#add(createSession(publicId, pool.processFor(agent, listOf(binding.cwd), publicId), binding.nativeId, binding.cwd));
    const successor = binding ? undefined : this.#successorOf(publicId);
    if (successor) return failure('SESSION_SUPERSEDED', [publicId, agentOf(successor.agent), successor.publicId], { sessionId: publicId });
    if (pool.single) {
      const session = this.use(publicId, pool.single, undefined);
      if (binding) session.recordId = this.#deps.recordApart(publicId, pool.single);
      return session;
    }
    if (binding) return failure('SESSION_ORPHANED', [publicId, binding.agent], { sessionId: publicId, agent: binding.agent });
    return undefined;
  }

  /**
   * Waits for the owner of an id; true when the caller has to ask the agents. Later requests join the lookup under way: with one of their own
   * they could overtake the earlier ones.
   */
  beginLookup(publicId: string, waiting: Waiting): boolean {
    const before = this.#lookups.get(publicId);
    if (before) before.push(waiting);
    else this.#lookups.set(publicId, [waiting]);
    return before === undefined;
  }
  /** Each request sees what the ones before it have made of the session. */
  endLookup(publicId: string, found: () => Found): void {
    const all = this.#lookups.get(publicId) ?? [];
    this.#lookups.delete(publicId);
    for (const waiting of all) waiting(found);
  }
  /** A session that the client uses by the id its agent gave it, or that is looked for at that agent. */
  use(sessionId: string, agent: Agent, cwd: string | undefined): Session {
    return this.#add(createSession(sessionId, this.#deps.pool().processFor(agent, listOf(cwd), sessionId), sessionId, cwd));
  }
  /**
   * The agent has opened a session under that id. If its process has named the session before, it is the same one. If an earlier process had
   * a session of that id, this is another. `claim` takes a public id for good; `isKnown`: the client may know the session by it already.
   */
  open(
    agent: Agent,
    nativeId: string,
    cwd: string | undefined,
    by: OpenedWith,
    claim: (publicId: string, isKnown: boolean) => boolean,
  ): Session {
    const known = agent.sessions.get(nativeId);
    const isSame = known !== undefined && !known.delegation && (restingOf(known.state).kind === 'open' || claim(known.publicId, true));
    if (known && !isSame) this.#drop(known);
    // A request that looks for an id means a session that existed before, not this one.
    const { publicId } = isSame ? known : this.#table.mint(agent.id, nativeId, cwd, (id) => this.#lookups.has(id) || !claim(id, false));
    const session = this.#add(isSame ? known : createSession(publicId, agent, nativeId, cwd));
    agent.sessions.reopened(nativeId);
    session.advance((state) => opened(state, by));
    session.cwd = cwd;
    if (known && !isSame) this.#superseded(known);
    return session;
  }
  /** A session that its agent has made itself, under an id that no session of another agent or process has. */
  discover(agent: Agent, nativeId: string): Session {
    const { publicId } = agent.sessions.isOpening
      ? this.#table.mint(agent.id, nativeId, undefined, this.#deps.isUsed)
      : this.#table.adopt(agent.id, nativeId, undefined, this.#deps.isUsed);
    this.#limitDiscovered(agent);
    return this.#add(createDiscovered(publicId, agent, nativeId));
  }
  /** A session that one agent has opened with another. The client knows only the session it is for, so it goes by that one's id. */
  openDelegated(parent: Session, agent: Agent, nativeId: string, by: OpenedWith, delegation: DelegatedSession): Session {
    const child = createSession(parent.publicId, agent, nativeId, parent.cwd);
    child.delegation = delegation;
    child.advance((state) => opened(state, by));
    const discovered = agent.sessions.get(nativeId);
    if (discovered) this.#replace(discovered, child);
    agent.sessions.set(nativeId, child);
    agent.sessions.reopened(nativeId);
    return child;
  }
  /** A load has opened the session again, perhaps from another directory. */
  reopened(session: Session, cwd: string | undefined): void {
    const { publicId, nativeId, agent } = session;
    session.cwd = cwd;
    agent.sessions.reopened(nativeId);
    this.#table.claim(publicId, agent.id, nativeId, cwd);
  }
  /** The session is at another agent now. It has been left at the one before. */
  move(session: Session, agent: Agent, nativeId: string): void {
    session.agent = agent;
    session.nativeId = nativeId;
    this.#add(session);
    agent.sessions.reopened(nativeId);
  }
  /** Its agent has opened it anew. The id before is nobody's: the agent does not know it. */
  openedAnew(session: Session, nativeId: string, cwd: string | undefined): void {
    const { agent } = session;
    if (agent.sessions.get(session.nativeId) === session) agent.sessions.delete(session.nativeId);
    session.cwd = cwd;
    this.move(session, agent, nativeId);
  }
  /** From now on the agent's frames of that session are for nobody. */
  leave(session: Session): void {
    const { agent, nativeId } = session;
    if (agent.sessions.get(nativeId) !== session) return;
    agent.sessions.delete(nativeId);
    this.markEnded(agent, nativeId);
  }
  /** The session has ended. Its ids may be another's from now on. */
  forget(session: Session): void {
    this.takeTerminals(session);
    this.leave(session);
    this.#drop(session);
    this.#deps.ended(session);
    this.#deps.pool().endIfUnused(session.agent);
  }
  /** The agent never had the session: an id that had not ended there has not ended now. */
  forgetUnopened(session: Session): void {
    const { agent, nativeId } = session;
    if (agent.sessions.get(nativeId) === session) agent.sessions.delete(nativeId);
    this.forget(session);
  }
  /** Sessions that no client has named end with the process that named them. */
  forgetDiscovered(session: Session): void {
    session.agent.sessions.delete(session.nativeId);
    this.#drop(session);
  }
  /** Frames of that id are for nobody until the agent has answered that it is open again. */
  markEnded(agent: Agent, nativeId: string): void {
    agent.sessions.markEnded(nativeId, agent.generation);
  }

  /** The id of a session that a list or an update names: an alias if another agent has a session of that id. */
  adopt(agent: Agent, nativeId: string, cwd: string | undefined): Binding {
    return this.#table.adopt(agent.id, nativeId, cwd);
  }
  remember(publicId: string, { agent, nativeId, cwd }: StoredSession): void {
    this.#table.remember({ publicId, agent, nativeId, cwd });
  }
  binding(publicId: string): Binding | undefined {
    return this.#table.find(publicId);
  }
  bindingAt(agent: Agent, nativeId: string): Binding | undefined {
    return this.#table.findNative(agent.id, nativeId);
  }
  /** The session of that id in another process of the agent. */
  bindingElsewhere(agent: Agent, nativeId: string): Binding | undefined {
    for (const other of this.#deps.pool().processesOf(agent.name)) {
      const binding = other === agent ? undefined : this.bindingAt(other, nativeId);
      if (binding) return binding;
    }
    return undefined;
  }

  isTerminalKnown(terminalId: string): boolean {
    return this.#terminals.has(terminalId);
  }
  ownsTerminal(terminalId: string, agent: Agent, session: Session | undefined): boolean {
    const owner = this.#terminals.get(terminalId);
    return owner?.agent === agent && owner.sessionId === session?.publicId && owner.delegationId === session?.delegation?.id;
  }
  terminalCount(session: Session): number {
    return this.#terminalsOf.get(session)?.size ?? 0;
  }
  addTerminal(terminalId: string, agent: Agent, session: Session | undefined): void {
    this.#terminals.set(terminalId, { agent, sessionId: session?.publicId, delegationId: session?.delegation?.id });
    if (!session) return;
    const own = this.#terminalsOf.get(session) ?? new Set();
    this.#terminalsOf.set(session, own.add(terminalId));
  }
  removeTerminal(terminalId: string, session: Session | undefined): void {
    this.#terminals.delete(terminalId);
    const own = session && this.#terminalsOf.get(session);
    if (own?.delete(terminalId) && own.size === 0) this.#terminalsOf.delete(session as Session);
  }
  /** Forgets the terminals of a session, and returns their ids. */
  takeTerminals(session: Session): Iterable<string> {
    const own = this.#terminalsOf.get(session) ?? [];
    this.#terminalsOf.delete(session);
    for (const terminalId of own) this.#terminals.delete(terminalId);
    return own;
  }

  #add(session: Session): Session {
    const before = session.agent.sessions.get(session.nativeId);
    if (before && before !== session) this.#replace(before, session);
    this.#sessions.set(session.publicId, session);
    session.agent.sessions.set(session.nativeId, session);
    this.#table.claim(session.publicId, session.agent.id, session.nativeId, session.cwd);
    return session;
  }
  /** A session that was discovered turns out to be this one: its requests and terminals are this one's. */
  #replace(discovered: Session, session: Session): void {
    this.#drop(discovered);
    this.#deps.moveRequests(discovered, session);
    for (const terminalId of this.takeTerminals(discovered)) this.addTerminal(terminalId, session.agent, session);
  }
  #drop(session: Session): void {
    session.advance(end);
    // It may have ended before, and its id may be another's.
    if (this.#sessions.get(session.publicId) !== session) return;
    this.#sessions.delete(session.publicId);
    this.#table.release(session.publicId);
  }
  /** An agent may name ever new sessions: the oldest are forgotten, and discovered again if need be. */
  #limitDiscovered(agent: Agent): void {
    for (const discovered of agent.sessions.values()) {
      if (agent.sessions.size < MAX_SESSIONS) return;
      if (discovered.isDiscovered && !this.#deps.isWaiting(discovered)) this.forgetDiscovered(discovered);
    }
  }
  /** Its agent has given the id to another session: frames that wait are looked up again, and refused. */
  #superseded(session: Session): void {
    this.#deps.ended(session);
    session.resume();
  }
  /** The session in use that has the agent's id of a stored session. */
  #successorOf(publicId: string): Binding | undefined {
    const stored = this.#deps.stored(publicId);
    const agent = stored && this.#deps.pool().get(stored.agent);
    const binding = agent && this.bindingAt(agent, stored.nativeId);
    return binding?.isLive && binding.publicId !== publicId ? binding : undefined;
  }
  #recall(publicId: string): Binding | undefined {
    const stored = this.#deps.stored(publicId);
    if (!stored) return undefined;
    this.remember(publicId, stored);
    return this.#table.find(publicId);
  }
}
