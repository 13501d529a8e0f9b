// What is known of an agent and of what it is about. A class, because it is looked at with each frame: in an object that has getters of its
// own V8 looks up everything as in a table.
import type { AgentSpec } from '../../agents/defaults.ts';
import type { Handshake } from '../../agents/handshake.ts';
import { createRestartPolicy, type RestartPolicy } from '../../agents/restart-policy.ts';
import { initialDialect, type SelectedDialect, settingOf, traitsOf } from '../../dialects/select-dialect.ts';
import type { ProxyError } from '../../errors.ts';
import type { Frame } from '../../wire/frame.ts';
import { NativeSessions } from '../sessions/native-sessions.ts';
import type { Parked } from '../sessions/session.ts';
import type { AgentConnection } from './agent-connection.ts';

export class AgentState {
  readonly spec: AgentSpec;
  readonly name: string;
  /** The name, unless the agent has a process for each session: then they are told apart. */
  readonly id: string;
  readonly restart: RestartPolicy;
  /** Of all its processes. Stopped by hand: it takes no more requests, and is not started before somebody wants it to be. */
  readonly service: { isStopped: boolean };
  /** Sessions of this agent by its own ids. */
  readonly sessions = new NativeSessions();
  /** How many session/new or session/fork are under way, and the frames held for sessions the editor has not heard of. */
  openings = 0;
  readonly early = new Map<string, Frame[]>();
  earlyBytes = 0;
  /** Sessions that the editor has left, and in which life: what the agent still says of them is not for anyone. */
  readonly ended = new Map<string, number>();
  /** Sessions that a policy does not let go on in the mode they are in, and why: neither side hears of the other there until they come back in another. */
  readonly refused = new Map<string, ProxyError>();
  /** Sessions that the editor has closed and the agent, which cannot close any, still has. */
  readonly park = new Map<string, Parked>();
  /** Files it has asked for by an earlier name: its ids of those requests. */
  readonly earlierReads = new Set<string>();
  /** MCP servers of the editor's that the agent was given: their names by their ids. */
  readonly mcpServers = new Map<string, string>();
  /** The configuration has another in its place: it is there for the sessions it has, and for no others. */
  isSuperseded = false;
  /** What it answered to initialize, now or in an earlier life. */
  handshake: Handshake | undefined = undefined;
  /** How it speaks, as far as is known. */
  selectedDialect: SelectedDialect | undefined;
  /** The life that it is in, and how often it has been started. */
  connection: AgentConnection | undefined = undefined;
  generation = 0;

  /** `of` is the agent's first leg, when this is a further process of it. */
  constructor(spec: AgentSpec, id: string, of: Pick<AgentState, 'restart' | 'service' | 'selectedDialect'> | undefined) {
    this.spec = spec;
    this.name = spec.name;
    this.id = id;
    this.restart = of?.restart ?? createRestartPolicy(spec.restart);
    this.service = of?.service ?? { isStopped: false };
    this.selectedDialect = of?.selectedDialect;
  }

  get title(): string {
    return this.spec.label ?? this.handshake?.result.agentInfo?.title ?? this.spec.name;
  }

  /** One process holds one session. */
  get isIsolated(): boolean {
    return (this.spec.isolation === 'auto' ? this.#traits.isolation : this.spec.isolation) === 'session';
  }

  /** It can be told of MCP servers. */
  get takesServers(): boolean {
    return this.#traits.takesServers;
  }

  get isReady(): boolean {
    return this.connection?.isReady() === true;
  }

  get isStarted(): boolean {
    return this.connection !== undefined;
  }

  get #traits(): ReturnType<typeof traitsOf> {
    return traitsOf(this.selectedDialect ?? initialDialect(settingOf(this.spec), undefined));
  }
}
