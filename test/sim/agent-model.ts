// An agent across all its processes: its capabilities, its naming, and the sessions on its disk.
import type { AgentSession, Ledger } from './ledger.ts';
import type { Random } from './random.ts';

export type AgentModel = {
  readonly name: string;
  readonly traits: Traits;
  readonly sessions: Map<string, AgentSession>;
  /** How many of its processes have been started. */
  runs: number;
};

type Traits = {
  /** Session ids that other agents use too. */
  readonly clashes: boolean;
  /** Its sessions die with its process. */
  readonly forgets: boolean;
  readonly load: boolean;
  readonly resume: boolean;
  readonly list: boolean;
  readonly close: boolean;
  readonly delete: boolean;
  readonly fork: boolean;
  readonly embedded: boolean;
  readonly modes: boolean;
  /** Removed from the protocol, still sent. */
  readonly models: boolean;
  /** Ids of its own configuration options; `agent` clashes with ours. */
  readonly options: readonly string[];
  readonly logout: boolean;
  readonly status: boolean;
  /** A prompt may join its turn. */
  readonly steers: boolean;
};

export function createModel(name: string, random: Random, steers = false): AgentModel {
  const likely = (probability: number) => random.chance(probability);
  const options = random.weighted<readonly string[]>([
    [5, []],
    [4, ['effort']],
    [1, ['agent', 'effort']],
  ]);
  const traits: Traits = {
    clashes: likely(0.6),
    forgets: likely(0.2),
    load: likely(0.6),
    resume: likely(0.5),
    list: likely(0.5),
    close: likely(0.5),
    delete: likely(0.5),
    fork: likely(0.5),
    embedded: likely(0.5),
    modes: likely(0.4),
    models: likely(0.2),
    options,
    logout: likely(0.3),
    status: likely(0.3),
    steers,
  };
  return { name, traits, sessions: new Map(), runs: 0 };
}

/** A session that did not exist before. One agent never reuses an id; several agents often share one. */
export function openSession(model: AgentModel, ledger: Ledger, lineage: number, cwd: string, isDelegation = false): AgentSession {
  const number = model.sessions.size + 1;
  const native = model.traits.clashes ? `s${number}` : `${model.name}-s${number}`;
  const session = ledger.addSession({
    agent: model.name,
    native,
    lineage,
    cwd,
    mode: 'ask',
    turns: 0,
    openedBy: undefined,
    isDeleted: false,
    isDelegation,
    delegationFor: undefined,
  });
  model.sessions.set(native, session);
  return session;
}

export function initializeResult({ name, traits }: AgentModel, protocolVersion: number): Record<string, unknown> {
  const session = {
    ...(traits.resume && { resume: {} }),
    ...(traits.list && { list: {} }),
    ...(traits.close && { close: {} }),
    ...(traits.delete && { delete: {} }),
    ...(traits.fork && { fork: {} }),
  };
  return {
    protocolVersion,
    agentCapabilities: {
      loadSession: traits.load,
      promptCapabilities: { embeddedContext: traits.embedded },
      sessionCapabilities: session,
      auth: { ...(traits.logout && { logout: {} }), ...(traits.status && { status: {} }) },
      _meta: { sim: {} },
    },
    agentInfo: { name, version: '1.0.0' },
    authMethods: [{ id: 'key', name: 'API key' }],
    ...(traits.steers && { _meta: { steering: { supported: true } } }),
  };
}

/** The fields of a session response besides its id. */
export function openedResult({ traits }: AgentModel, session: AgentSession): Record<string, unknown> {
  return {
    ...(traits.modes && { modes: modesOf(session) }),
    ...(traits.models && { models: { currentModelId: 'm1', availableModels: [{ modelId: 'm1', name: 'M1' }] } }),
    ...(traits.options.length > 0 && { configOptions: optionsOf(traits) }),
  };
}

const modesOf = ({ mode }: AgentSession) => ({
  currentModeId: mode,
  availableModes: [
    { id: 'ask', name: 'Ask' },
    { id: 'code', name: 'Code' },
  ],
});

export const optionsOf = ({ options }: Traits) =>
  options.map((id) => ({ id, name: id, type: 'select', currentValue: 'low', options: [{ value: 'low', name: 'Low' }] }));

export function listResult(model: AgentModel, cursor: unknown): Record<string, unknown> {
  const from = typeof cursor === 'string' ? Number(cursor) : 0;
  const all = [...model.sessions.values()].filter((session) => !session.isDeleted);
  const page = all.slice(from, from + 3);
  return {
    sessions: page.map(({ native, cwd, agent }) => ({ sessionId: native, cwd, title: `${agent}/${native}` })),
    ...(all.length > from + 3 && { nextCursor: String(from + 3) }),
  };
}
