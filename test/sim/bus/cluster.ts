// The hosts and the edge of one history, and what goes wrong between them.
import type { AgentSpec } from '../../../src/agents/defaults.ts';
import { type Edge, startEdge } from '../../../src/bus/cluster/edge.ts';
import { startHost } from '../../../src/bus/cluster/host.ts';
import { type Random, seeded } from '../random.ts';
import type { Sim } from '../sim.ts';
import { type Arrival, type BusProcess, createBusProcess } from './bus-process.ts';
import { type BusNode, createSimBus } from './sim-bus.ts';

export type SimCluster = {
  /** Everybody is on the bus. */
  readonly begun: Promise<void>;
  process(spec: AgentSpec, hooks: { onWrite(bytes: Buffer): void; onEnd(): void; readonly arrival: Arrival }): BusProcess;
  readonly hasMessages: boolean;
  step(): void;
  /** A restart of the broker, a host that freezes or is cut off, each for a while. */
  fault(): void;
  /** No more faults: what is away comes back. */
  recover(): void;
};

const HOSTS = ['h1', 'h2'];
const OFTEN = [0, 0.01, 0.05, 0.2];
/** Small, as the frames are: windows fill. */
const LIMITS = { windowBytes: 6000, chunkBytes: 700 };
/** Most absences are outlasted; some end leases. */
const SHORT_MS = 8000;
const LONG_MS = 40_000;

export function createCluster(seed: number, sim: Sim): SimCluster {
  const random: Random = seeded(seed + 3_000_017); // of its own, so that faults of the bus do not change what the others do
  const faults = { loses: random.pick(OFTEN), repeats: random.pick(OFTEN), overtakes: random.pick(OFTEN) };
  const simBus = createSimBus(random, sim.clock, faults, sim.faults.count);
  const nodes = HOSTS.map((name) => simBus.node(name));
  const edgeNode = simBus.node('edge');
  const timers = sim.clock.for('bus');
  const ways: (() => void)[] = [];
  let processes: BusProcess[] = [];
  let edge: Edge;
  const report = (text: string) => sim.trace(`notice: ${text}`);

  async function begin(): Promise<void> {
    for (const host of nodes)
      await startHost({
        bus: host.bus,
        tenant: 't',
        host: host.name,
        labels: {},
        agents: sim.agents,
        served: () => ({ fs: 'agent', terminal: 'agent' }),
        allowsDirectory: () => true,
        capacity: 1000,
        limits: LIMITS,
        version: '0',
        clock: host.clock,
        sessions: () => [],
        onSession: () => {},
        adopt: () => {},
        ended: async () => {},
        report,
        // The number of a link is that of the connection.
        serve: (streams, { link }) => (processes[Number(link.split('_')[1]) - 1] as BusProcess).serve({ host, ...streams }),
      });
    edge = await startEdge({
      bus: edgeNode.bus,
      tenant: 't',
      principal: 'someone',
      clock: edgeNode.clock,
      random: random.next,
      limits: LIMITS,
      report,
    });
  }
  function away(what: string, ms: number, leave: () => void, comeBack: () => void): void {
    sim.faults.count(`bus: ${what}${ms > SHORT_MS ? ' for long' : ''}`);
    sim.trace(`--- ${what} for ${ms} ms`);
    leave();
    const back = () => {
      ways.splice(ways.indexOf(back), 1);
      stop();
      sim.trace(`--- ${what}: over`);
      comeBack();
    };
    const stop = timers.after(ms, back);
    ways.push(back);
  }
  const isWell = (host: BusNode) => !host.isFrozen && !host.isCut;
  return {
    begun: begin(),
    process(spec, hooks) {
      const number = processes.length;
      const connect = () => edge.connect({ agent: spec.name, labels: {}, process: `${spec.name}/${number}`, sessionId: undefined });
      const created = createBusProcess(sim, spec, connect, hooks);
      processes = [...processes, created];
      return created;
    },
    get hasMessages() {
      return simBus.hasMessages;
    },
    step: simBus.step,
    fault() {
      const ms = random.chance(0.2) ? random.int(SHORT_MS, LONG_MS) : random.int(1, SHORT_MS);
      const host = random.pick(nodes);
      const kind = random.pick(['broker', 'freeze', 'cut'] as const);
      if (kind === 'broker' && simBus.isRunning) away('the broker is away', ms, simBus.stop, simBus.restart);
      if (kind === 'freeze' && isWell(host)) away(`${host.name} is frozen`, ms, host.freeze, host.thaw);
      if (kind === 'cut' && isWell(host))
        away(
          `${host.name} is cut off`,
          ms,
          () => {
            host.isCut = true;
          },
          () => {
            host.isCut = false;
          },
        );
    },
    recover() {
      for (const back of [...ways]) back();
    },
  };
}
