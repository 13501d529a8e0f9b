// What is known of an agent: its configuration, capabilities and sessions.
import type { AgentSpec } from '../../agents/defaults.ts';
import type { Handshake } from '../../agents/handshake.ts';
import { createRestartPolicy, type RestartPolicy } from '../../agents/restart-policy.ts';
import { initialDialect, type SelectedDialect, settingOf, traitsOf } from '../../dialects/select-dialect.ts';
import type { ProxyError } from '../../errors.ts';
import type { Frame } from '../../wire/frame.ts';
import type { AgentEnforcement } from '../enforcement/enforcement-state.ts';
import { NativeSessions } from '../sessions/native-sessions.ts';
import type { Parked } from '../sessions/session.ts';
import type { AgentConnection } from './agent-connection.ts';

type Sibling = Pick<AgentState, 'restart' | 'service' | 'handshake' | 'selectedDialect'>;

export class AgentState {
  readonly spec: AgentSpec;
  readonly name: string;
  /** The name, or `name#2` for a further process of an isolated agent. */
  readonly id: string;
  /** Shared by all processes of the agent, as is `service`. */
  readonly restart: RestartPolicy;
  /** Stopped by the user: it refuses requests and does not start until the user restarts it. */
  readonly service: { isStopped: boolean };
  /** By the agent's own ids. */
  readonly sessions = new NativeSessions();
  /** How many session/new or session/fork are open, and the frames held for sessions that the client does not know yet. */
  openings = 0;
  readonly early = new Map<string, Frame[]>();
  earlyBytes = 0;
  /** Sessions that the client has left, and the generation in which: further frames about them are dropped. */
  readonly ended = new Map<string, number>();
  /** Sessions whose mode the policy refuses, and why. No frame passes until they are opened again in another mode. */
  readonly refused = new Map<string, ProxyError>();
  /** Sessions that the client has closed and that the agent, which cannot close sessions, still has. */
  readonly park = new Map<string, Parked>();
  /** Ids of file reads that the agent requested by their earlier method name. */
  readonly earlierReads = new Set<string>();
  /** The client's MCP servers that the agent was given: names by id. */
  readonly mcpServers = new Map<string, string>();
  /** What enforcement knows of it; undefined without a policy. */
  enforcement: AgentEnforcement | undefined = undefined;
  /** The configuration has replaced it: it serves its open sessions and no others. */
  isSuperseded = false;
  /** Its answer to initialize, on this connection or an earlier one. */
  handshake: Handshake | undefined;
  selectedDialect: SelectedDialect | undefined;
  /** A new object for each start; undefined while the agent is not running. */
  connection: AgentConnection | undefined = undefined;
  /** How often it has been started. */
  generation = 0;

  constructor(spec: AgentSpec, id: string, sibling: Sibling | undefined) {
    this.spec = spec;
    this.name = spec.name;
    this.id = id;
    this.restart = sibling?.restart ?? createRestartPolicy(spec.restart);
    this.service = sibling?.service ?? { isStopped: false };
    this.handshake = sibling?.handshake;
    this.selectedDialect = sibling?.selectedDialect;
  }

  /** Notes its answer to initialize, from now or from the capability cache. */
  learned(handshake: Handshake, selected: SelectedDialect | undefined): void {
    this.handshake = handshake;
    this.selectedDialect = selected;
  }

  get title(): string {
    return this.spec.label ?? this.handshake?.result.agentInfo?.title ?? this.spec.name;
  }

  /** One process serves one session. */
  get isIsolated(): boolean {
    return (this.spec.isolation === 'auto' ? this.#traits.isolation : this.spec.isolation) === 'session';
  }

  /** It can be given MCP servers. */
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
