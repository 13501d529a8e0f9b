// One history: a client, some agents, the proxy between them, and chance deciding what happens next.
import { type AgentSpec, agentSpec } from '../../src/agents/defaults.ts';
import type { RunningProxy } from '../../src/proxy/api.ts';
import { startProxy } from '../../src/proxy/proxy.ts';
import { capabilityKey } from '../../src/store/capability-cache.ts';
import { Scanner } from '../../src/wire/scanner/scanner.ts';
import { createModel, initializeResult, openSession } from './agent-model.ts';
import { createCluster, type SimCluster } from './bus/cluster.ts';
import { type ClientActions, createClientActions } from './client-actions.ts';
import { createVirtualClock } from './clock.ts';
import { createFaults } from './faults.ts';
import { createHostTools } from './host-tools.ts';
import { createLedger } from './ledger.ts';
import { createOracle } from './oracle.ts';
import { createPolicyModel } from './policy-model.ts';
import { type Random, seeded } from './random.ts';
import type { Sim } from './sim.ts';
import { type Run, startSimAgent } from './sim-agent.ts';
import { createSimClient, type SimClient } from './sim-client.ts';
import { createMemoryCache, createMemoryLog } from './stores.ts';

export type World = {
  readonly seed: number;
  readonly sim: Sim;
  readonly client: SimClient;
  readonly clientActions: ClientActions;
  readonly runs: readonly Run[];
  readonly connection: RunningProxy;
  readonly trace: readonly string[];
  readonly cluster: SimCluster | undefined;
  /** Does one thing and waits until all its effects are done. */
  event(happen: () => void): Promise<void>;
  readonly events: number;
};

const LIMITS = { maxFrameBytes: 3000, maxQueueBytes: 9000 };
const CANCEL_MS = 10_000;
/** From this seed on, most agents are remote. */
export const REMOTE_SEEDS = 1_000_000;
/** From this seed on, agents also differ in what they do with a prompt during a turn, and in the limits of a prompt and a permission request. */
export const OPTION_SEEDS = 1_000_000_000;
/** From this seed on, the agents are on hosts of a bus. */
export const BUS_SEEDS = 2_000_000_000;

export function createWorld(seed: number): World {
  const random = seeded(seed);
  const faults = createFaults(random);
  const clock = createVirtualClock();
  const ledger = createLedger();
  const trace: string[] = [];
  const names = Array.from({ length: random.int(1, 4) }, (_, i) => `a${i + 1}`);
  // Ids of the proxy's own requests and of host tool servers must be unguessable, so they are not drawn from the seed.
  const nameless = (text: string) =>
    text.replace(/(switchboard|delegated)-[0-9a-f-]{36}/g, '$1-#').replace(/"serverId":"switchboard-[\w-]{22}"/g, '"serverId":"#"');
  const note = (text: string) => void trace.push(`${String(clock.nowMs).padStart(7)}  ${nameless(text)}`);
  const policyModel = createPolicyModel(seed, note);
  const oracle = createOracle(ledger, clock, { agents: names, limits: LIMITS, cancelMs: CANCEL_MS, policyModel });
  const hostTools = policyModel && createHostTools(seed, oracle.hostToolRan);
  const sim: Sim = {
    ...{ random, faults, ledger, clock, oracle, policyModel, hostTools, limits: LIMITS, cancelMs: CANCEL_MS, agents: names, terminals: [] },
    trace: note,
  };
  // A separate random source, so that other histories stay the same.
  const choice = seed >= OPTION_SEEDS ? seeded(seed + 2_000_003) : undefined;
  const models = new Map(names.map((name) => [name, createModel(name, random, choice?.chance(0.7))]));
  const isRemote = seed >= REMOTE_SEEDS && seed < BUS_SEEDS;
  const cluster = seed >= BUS_SEEDS ? createCluster(seed, sim) : undefined;
  const local = names.map((name) =>
    agentSpec(name, {
      ...(isRemote && random.chance(0.7) ? { url: `ws://${name}/acp`, files: 'same' } : { command: `/bin/${name}` }),
      mcp_transport: hostTools?.takes(name) ? 'acp' : 'off',
      framing: 'ndjson', // asked in another one it would not understand anything
      isolation: random.chance(0.15) ? 'session' : 'shared',
      on_stall: random.chance(0.2) ? 'cancel' : 'notice',
      timeouts: { cancel_ms: CANCEL_MS, stall_ms: random.pick([0, 5000, 60_000]), ...(choice && limitsOf(choice)) },
      restart: { enabled: random.chance(0.9), max: random.pick([0, 1, 5]) },
      while_running: choice?.pick(['steer', 'steer', 'queue', 'pass', 'refuse', undefined]),
    }),
  );
  const specs = cluster ? local.map(onBus) : local;
  for (const { name, timeouts } of specs) oracle.seen.limits.set(name, timeouts);
  const log = createMemoryLog();
  log.append({ sessionId: 'orphan', agent: 'gone', nativeId: 'orphan', cwd: '/w/old', at: clock.for('log').now() });
  const cache = createMemoryCache();

  // Sessions from before: some recorded by an earlier process, some known only to their agent.
  for (const model of models.values())
    for (let left = random.int(0, 2); left > 0; left--) {
      const session = openSession(model, ledger, ledger.newLineage(), '/w/old');
      if (random.chance(0.5) && !log.records().has(session.native))
        log.append({ sessionId: session.native, agent: model.name, nativeId: session.native, cwd: '/w/old', at: clock.for('log').now() });
    }
  if (random.chance(0.5)) {
    const clientCapabilities = { fs: { readTextFile: true, writeTextFile: true }, terminal: true };
    for (const spec of specs) {
      const model = models.get(spec.name);
      if (model && random.chance(0.9))
        cache.keep(capabilityKey(spec, clientCapabilities), {
          agent: spec.name,
          version: '1',
          text: random.chance(0.9) ? JSON.stringify(initializeResult(model, 1)) : undefined,
        });
    }
  }

  const client = createSimClient(sim);
  const runs: Run[] = [];
  const connection = startProxy(client.source.readable, client.sink.writable, {
    agents: specs,
    defaultAgent: random.pick(names),
    explicitDefault: random.chance(0.5),
    routes: random.chance(0.2) ? [{ cwd: '/w/routed/**', agent: random.pick(names) }] : [],
    limits: LIMITS,
    scanner: new Scanner(),
    initializeWaitMs: 5000,
    enforcement: policyModel?.enforcement,
    toolAttachments: hostTools?.options,
    launch(spec) {
      const run = startSimAgent(sim, models.get(spec.name) as NonNullable<ReturnType<typeof models.get>>, spec, cluster);
      runs.push(run);
      oracle.launched(run);
      return run.process;
    },
    log,
    cache,
    clock: clock.for('proxy'),
    version: '0.0.0',
    report: (text) => sim.trace(`notice: ${text}`),
  });

  let events = 0;
  return {
    ...{ seed, sim, client, runs, connection, trace, cluster },
    clientActions: createClientActions(sim, client),
    get events() {
      return events;
    },
    async event(happen) {
      events++;
      happen();
      await settle();
      if (hostTools) await settle(); // a call is shown after its response, in the next turn of the loop
      oracle.settled();
      if (oracle.problems.length > 0) throw new Error(oracle.problems.join('\n  '));
    },
  };
}

/** As `switchboard acp --bus` has the agents of hosts. */
const onBus = (spec: AgentSpec): AgentSpec => ({
  ...spec,
  isolation: 'session',
  remote: { kind: 'bus', agent: spec.name, labels: {}, address: 'the bus', files: 'same' },
});

const limitsOf = (choice: Random) => ({
  prompt_ms: choice.pick([0, 0, 8000, 40_000]),
  permission_ms: choice.pick([0, 0, 5000, 30_000]),
});

/** Until no microtask is left: the proxy writes in one, and an ending takes several. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
