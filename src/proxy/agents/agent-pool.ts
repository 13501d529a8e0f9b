// The agents of one proxy. Only the pool adds, replaces and retires agents and their further processes.
import type { InitializeResult } from '../../acp/shapes.ts';
import type { AgentSpec } from '../../agents/defaults.ts';
import type { Choice } from '../../router/route.ts';
import type { WhileRunning } from '../../router/while-running.ts';
import type { Clock } from '../context.ts';
import type { Agent, AgentHealth } from './agent.ts';

/** The part of a configuration that can change while a proxy runs. */
export type AgentConfiguration = {
  readonly agents: readonly AgentSpec[];
  readonly defaultAgent: string;
  readonly explicitDefault: boolean;
  readonly routes: readonly { readonly cwd: string; readonly agent: string }[];
};

/** `message` is for people. */
export type Reconfigured = { readonly isTaken: boolean; readonly message: string };

/** The params with which agents are initialized. */
export type InitializeParams = {
  readonly paramsText: string;
  readonly clientCapabilities: unknown;
  /** Client methods that we answer, because the client cannot. */
  readonly served: ReadonlySet<string>;
  /** Client methods that nobody answers. */
  readonly missing: ReadonlySet<string>;
};

/** `now` cancels running turns and gives the agent a moment to answer; `drain` lets them finish. */
export type HowToStop = 'now' | 'drain';

/** The pool's effects on sessions and requests. */
export type PoolEvents = {
  /** Creates an agent without starting it; `sibling` is the agent whose further process it is. */
  create(spec: AgentSpec, id: string, sibling: Agent | undefined): Agent;
  /** Whether its next process runs in a sandbox. */
  isContained?: ((spec: AgentSpec) => boolean) | undefined;
  /** The layer for the changes of a session, known or new; undefined for an agent that writes the project itself. */
  layerFor?: ((spec: AgentSpec, sessionId: string | undefined) => string | undefined) | undefined;
  /** A further process has ended, and no session needs it any more. */
  released?: ((agent: Agent) => void) | undefined;
  cancelTurns(agent: Agent): void;
  /** The process is about to end. Its sessions can be recovered, as after a crash. */
  ending(agent: Agent): void;
  /** The process is about to end, and no client has a session there. */
  endingUnused(agent: Agent): void;
  /** The process has ended: its requests to the client are withdrawn. */
  ended(agent: Agent): void;
  /** Other agents can be chosen from now on. */
  replaced(): void;
};

export interface AgentPool {
  /** The only configured agent: the proxy is transparent then. */
  readonly single: Agent | undefined;
  readonly choice: Choice;
  /** The configuration names `default_agent`; otherwise the first agent is the default. */
  readonly hasExplicitDefault: boolean;
  /** Undefined before the client has sent initialize. */
  readonly initializeParams: InitializeParams | undefined;
  /** The proxy is shutting down: no further process is created. */
  readonly isClosed: boolean;
  get(name: string): Agent | undefined;
  /** The configured agents, in their order. */
  all(): readonly Agent[];
  /** All processes of an agent. */
  processesOf(name: string): readonly Agent[];
  /** The agents as a list of choices shows them. */
  titles(): { readonly name: string; readonly title: string }[];
  /** The first initialize counts. */
  initialized(params: InitializeParams): void;
  /** The process for a new session: an isolated agent gets one for each. A contained one is made for the session's directories. */
  processFor(agent: Agent, directories: readonly string[], sessionId?: string): Agent;
  /** Ends a process that serves isolated sessions, or an agent no longer configured, once no session needs it. */
  endIfUnused(agent: Agent): void;
  /** Ends one process; its sessions are recovered by their next requests, in a new one. */
  endProcess(agent: Agent): void;
  /** Uses another configuration for new sessions; open sessions keep their agents. */
  replace(next: AgentConfiguration): Reconfigured;
  /** Takes an agent out of service until it is restarted; false for an unknown agent. */
  stopAgent(name: string, how: HowToStop): boolean;
  /** Replaces an agent's processes; its sessions are recovered by their next requests. False for an unknown agent. */
  restartAgent(name: string): boolean;
  /** Back-pressure: the client does not read. */
  pause(): void;
  resume(): void;
  close(): void;
  /** Ends all processes at once: each may take its grace period, and the end must not take the sum of them. */
  stop(): Promise<void>;
  kill(): void;
  health(): Record<string, AgentHealth>;
  described(): Record<string, Described>;
}

type Described = {
  readonly name: string;
  readonly title: string;
  readonly answer: InitializeResult | undefined;
  /** As configured. */
  readonly whileRunning: WhileRunning | undefined;
};

/** Time for an agent to answer a cancelled turn before its process ends. */
const CANCEL_GRACE_MS = 1000;
const POLL_MS = 50;

export const createAgentPool = (first: AgentConfiguration, clock: Clock, on: PoolEvents): AgentPool => new Pool(first, clock, on);

/** A class: `single` and `choice` are read for every frame. */
class Pool implements AgentPool {
  single: Agent | undefined = undefined;
  choice: Choice;
  hasExplicitDefault: boolean;
  initializeParams: InitializeParams | undefined = undefined;
  isClosed = false;
  readonly #clock: Clock;
  readonly #on: PoolEvents;
  readonly #agents = new Map<string, Agent>();
  /** Further processes of isolated agents, and agents that are no longer configured and still have sessions. */
  readonly #further = new Set<Agent>();
  /** Further processes that are stopping. */
  readonly #leaving = new Set<Agent>();
  #created = 0;
  #isPaused = false;

  constructor(first: AgentConfiguration, clock: Clock, on: PoolEvents) {
    this.#clock = clock;
    this.#on = on;
    for (const spec of first.agents) this.#agents.set(spec.name, this.#create(spec, spec.name));
    if (this.#agents.size === 1) [this.single] = this.#agents.values();
    this.choice = this.#choiceOf(first);
    this.hasExplicitDefault = first.explicitDefault;
  }

  get(name: string): Agent | undefined {
    return this.#agents.get(name);
  }

  all(): readonly Agent[] {
    return [...this.#agents.values()];
  }

  processesOf(name: string): readonly Agent[] {
    const agent = this.#agents.get(name);
    const further = [...this.#further].filter((other) => other.name === name);
    return agent ? [agent, ...further] : further;
  }

  titles(): { readonly name: string; readonly title: string }[] {
    const all = this.all();
    const isShared = (wanted: string) => all.filter(({ title }) => title === wanted).length > 1;
    return all.map(({ name, title }) => ({ name, title: isShared(title) ? `${title} (${name})` : title }));
  }

  initialized(params: InitializeParams): void {
    this.initializeParams ??= params;
  }

  processFor(agent: Agent, directories: readonly string[], sessionId?: string): Agent {
    agent.isContained = this.#on.isContained?.(agent.spec) === true;
    // A contained agent's first process sees no project, so that it can start before a session does. On the bus, each session has its own host.
    const isForNone = agent.isContained || agent.spec.remote?.kind === 'bus';
    const isFree = !isForNone && agent.sessions.size === 0 && !agent.sessions.isOpening;
    if (this.isClosed || !agent.isIsolated || isFree) return agent;
    const another = this.#create(agent.spec, this.#nextId(agent.name), agent);
    another.isContained = agent.isContained;
    another.directories = directories;
    if (agent.isContained) another.layer = this.#on.layerFor?.(agent.spec, sessionId);
    this.#further.add(another);
    return another;
  }

  endIfUnused(agent: Agent): void {
    const isForAll = !agent.isIsolated && !agent.isSuperseded;
    if (isForAll || agent.sessions.isOpening) return;
    for (const { isDiscovered } of agent.sessions.values()) if (!isDiscovered) return;
    this.#on.endingUnused(agent);
    agent.retire();
    this.#on.ended(agent);
    if (agent.isStarted || !this.#further.delete(agent)) return; // callers still wait for it
    // The process may take its time to end, and a shutdown waits for it.
    this.#leaving.add(agent);
    void agent.processesEnded().then(() => {
      this.#leaving.delete(agent);
      this.#on.released?.(agent);
    });
  }

  endProcess(agent: Agent): void {
    this.#end(agent);
  }

  replace(next: AgentConfiguration): Reconfigured {
    const before = this.all();
    const isAlike = this.single ? next.agents.length === 1 && next.agents[0]?.name === this.single.name : next.agents.length > 1;
    if (!isAlike)
      return {
        isTaken: false,
        message: this.single
          ? 'this connection has one agent and is transparent; restart switchboard to use other agents'
          : 'this connection has several agents and cannot change to a single agent; restart switchboard for that',
      };
    const changed = this.#setAgents(next.agents);
    if (this.single) [this.single] = this.#agents.values();
    this.choice = this.#choiceOf(next);
    this.hasExplicitDefault = next.explicitDefault;
    for (const agent of before) if (this.#agents.get(agent.name) !== agent) this.#supersede(agent);
    this.#on.replaced();
    // Their capabilities must be known before a client looks for a session among them.
    if (this.initializeParams) for (const agent of this.#agents.values()) if (!before.includes(agent)) agent.start();
    return { isTaken: true, message: changed.length === 0 ? 'no agents changed' : changed.join(', ') };
  }

  stopAgent(name: string, how: HowToStop): boolean {
    const agent = this.#agents.get(name);
    if (!agent) return false;
    agent.service.isStopped = true;
    for (const one of this.processesOf(name)) {
      if (how === 'now') this.#on.cancelTurns(one);
      this.#endWhenIdle(one, how === 'now' ? CANCEL_GRACE_MS : Number.POSITIVE_INFINITY);
    }
    return true;
  }

  restartAgent(name: string): boolean {
    const agent = this.#agents.get(name);
    if (!agent) return false;
    agent.service.isStopped = false;
    for (const one of this.processesOf(name)) this.#end(one);
    agent.start();
    return true;
  }

  pause(): void {
    this.#isPaused = true;
    for (const agent of this.#processes()) agent.pause();
  }

  resume(): void {
    this.#isPaused = false;
    for (const agent of this.#processes()) agent.resume();
  }

  close(): void {
    this.isClosed = true;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#processes().map((agent) => agent.stop()));
  }

  kill(): void {
    for (const agent of this.#processes()) agent.kill();
  }

  health(): Record<string, AgentHealth> {
    return Object.fromEntries(this.#processes().map((agent) => [agent.id, agent.health()]));
  }

  described(): ReturnType<AgentPool['described']> {
    return Object.fromEntries(
      this.#processes().map(({ id, name, title, handshake, spec }) => [
        id,
        { name, title, answer: handshake?.result, whileRunning: spec.whileRunning },
      ]),
    );
  }

  #processes(): readonly Agent[] {
    return [...this.#agents.values(), ...this.#further, ...this.#leaving];
  }

  #create(spec: AgentSpec, id: string, sibling?: Agent): Agent {
    const agent = this.#on.create(spec, id, sibling);
    agent.isContained = this.#on.isContained?.(spec) === true;
    if (this.#isPaused) agent.pause();
    return agent;
  }

  #nextId(name: string): string {
    return `${name}#${++this.#created}`;
  }

  #choiceOf({ defaultAgent, routes }: AgentConfiguration): Choice {
    return { agents: [...this.#agents.keys()], defaultAgent, routes };
  }

  /** Agents with an unchanged specification stay. Returns the differences, for people. */
  #setAgents(specs: readonly AgentSpec[]): readonly string[] {
    const before = new Map(this.#agents);
    const changed: string[] = [];
    this.#agents.clear();
    for (const spec of specs) {
      const agent = before.get(spec.name);
      const isSame = agent !== undefined && JSON.stringify(agent.spec) === JSON.stringify(spec);
      if (!isSame) changed.push(`${agent ? 'changed' : 'new'}: ${spec.name}`);
      this.#agents.set(spec.name, isSame ? agent : this.#create(spec, this.#nextId(spec.name)));
    }
    for (const name of before.keys()) if (!this.#agents.has(name)) changed.push(`removed: ${name}`);
    return changed;
  }

  /** The agent is no longer configured: it ends with its last session. */
  #supersede(agent: Agent): void {
    agent.isSuperseded = true;
    this.#further.add(agent);
    this.endIfUnused(agent);
  }

  #endWhenIdle(agent: Agent, leftMs: number): void {
    if (!agent.service.isStopped || !agent.isStarted) return;
    if (agent.health().inFlight === 0 || leftMs <= 0) return this.#end(agent);
    this.#clock.after(POLL_MS, () => this.#endWhenIdle(agent, leftMs - POLL_MS));
  }

  #end(agent: Agent): void {
    if (!agent.isStarted) return;
    this.#on.ending(agent);
    agent.retire();
    this.#on.ended(agent);
  }
}

/** The agent's name in a process id such as `claude#2`. */
export const agentOf = (agentId: string): string => agentId.replace(/#\d+$/, '');
