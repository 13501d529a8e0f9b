// What is known of an agent: its configuration, capabilities and sessions.
import type { AgentSpec } from '../../agents/defaults.ts';
import type { Handshake } from '../../agents/handshake.ts';
import { createRestartPolicy, type RestartPolicy, unlimitedRestarts } from '../../agents/restart-policy.ts';
import { initialDialect, type SelectedDialect, settingOf, traitsOf } from '../../dialects/select-dialect.ts';
import type { ProxyError } from '../../errors.ts';
import { offers } from '../../router/capabilities.ts';
import type { AgentEnforcement } from '../enforcement/enforcement-state.ts';
import { NativeSessions } from '../sessions/native-sessions.ts';
import type { AgentConnection } from './agent-connection.ts';

export const MEDIA = ['image', 'audio'] as const;
export type Media = (typeof MEDIA)[number];

type Sibling = Pick<AgentState, 'restart' | 'service' | 'handshake' | 'selectedDialect'>;

export class AgentState {
  readonly spec: AgentSpec;
  readonly name: string;
  /** The name, or `name#2` for a further process of an isolated agent. */
  readonly id: string;
  /** Shared by all processes of the agent, as is `service`. */
  readonly restart: RestartPolicy;
  /** Stopped by the user: it refuses requests and does not start until the user restarts it. `lastError`: why one of its processes ended. */
  readonly service: { isStopped: boolean; lastError?: ProxyError };
  /** By the agent's own ids. */
  readonly sessions = new NativeSessions();
  /** Ids of file reads that the agent requested by their earlier method name. */
  readonly earlierReads = new Set<string>();
  /** The client's MCP servers that the agent was given: names by id. */
  readonly mcpServers = new Map<string, string>();
  /** What enforcement knows of it; undefined without a policy. */
  enforcement: AgentEnforcement | undefined = undefined;
  /** The configuration has replaced it: it serves its open sessions and no others. */
  isSuperseded = false;
  /** Its program runs in a sandbox, which is made for the directories of one session. */
  isContained = false;
  /** The directories of its session; empty for a process that serves none. */
  directories: readonly string[] = [];
  /** The layer of its session's changes, at the level `review`. */
  layer: string | undefined = undefined;
  /** Its answer to initialize, on this connection or an earlier one. */
  handshake: Handshake | undefined;
  /** What it does not support in prompts. */
  unsupportedMedia: readonly Media[] = [];
  selectedDialect: SelectedDialect | undefined;
  /** It spells its modes in snake_case, though it answered initialize as ACP does. */
  hasSnakeModes = false;
  /** A new object for each start; undefined while the agent is not running. */
  connection: AgentConnection | undefined = undefined;
  /** How often it has been started. */
  generation = 0;

  constructor(spec: AgentSpec, id: string, sibling: Sibling | undefined) {
    this.spec = spec;
    this.name = spec.name;
    this.id = id;
    this.restart = sibling?.restart ?? (spec.remote?.kind === 'bus' ? unlimitedRestarts() : createRestartPolicy(spec.restart));
    this.service = sibling?.service ?? { isStopped: false };
    if (sibling?.handshake) this.noteHandshake(sibling.handshake, sibling.selectedDialect);
  }

  /** Notes its answer to initialize, from now or from the capability cache. */
  noteHandshake(handshake: Handshake, selected: SelectedDialect | undefined): void {
    this.handshake = handshake;
    this.selectedDialect = selected;
    this.unsupportedMedia = MEDIA.filter((media) => !offers(handshake.result, 'promptCapabilities', media));
  }

  get title(): string {
    return this.spec.label ?? this.handshake?.result.agentInfo?.title ?? this.spec.name;
  }

  /** One process serves one session. */
  get isIsolated(): boolean {
    return this.isContained || (this.spec.isolation === 'auto' ? this.#traits.isolation : this.spec.isolation) === 'session';
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
