// Telemetry of one process: metrics from the events of all its connections. Nothing waits for it, and nothing here throws into a frame's way.
import type { Observer } from '../wire/observer.ts';
import type { Activity } from './activity.ts';
import type { Emit, TelemetryEvent } from './events.ts';
import { countEvents } from './metrics/count-events.ts';
import { type History, keepHistory } from './metrics/history.ts';
import { measureProcess } from './metrics/process-metrics.ts';
import { prometheusText } from './metrics/prometheus.ts';
import { createRegistry, type Registry } from './metrics/registry.ts';
import { createFrameCounter, observeAgent } from './observe/count-frames.ts';
import { observeClient } from './observe/observe-client.ts';

/** What a connection knows when the metrics are read. */
export type ConnectionState = {
  sessions(): Iterable<{ readonly agent: string; readonly state: string }>;
  /** By the id of the agent's process. */
  agents(): Iterable<{ readonly agent: string; readonly state: string; readonly inFlight: number }>;
  queuedPrompts(): number;
  /** The agent of an open session. */
  agentOf(sessionId: string): string | undefined;
};

export type ConnectionTelemetry = {
  /** For each connection: that of the client, and those of its agents, by process. */
  observer(side: 'editor' | 'agent', name: string): Observer & { readonly down?: (reason: string) => void };
  /** `process` is the agent's name, with a number if the agent has several processes. */
  agentStarting(process: string, transport: 'process' | 'remote'): void;
  readonly activity: Activity;
  end(): void;
};

/** A decision of the policy, as far as telemetry reads it. */
export type DecisionMade = Pick<Extract<TelemetryEvent, { type: 'decision' }>, 'agent' | 'verdict' | 'outcome' | 'answeredBy'> & {
  readonly session?: string | undefined;
  readonly method: string;
  readonly count?: number | undefined;
  readonly latencyMs: number;
};

export type ToolCalled = {
  readonly kind: 'called' | 'denied' | 'failed' | 'refused-token';
  readonly agent: string | undefined;
};

export type Telemetry = {
  /** For a client and its agents. */
  connection(state: () => ConnectionState): ConnectionTelemetry;
  onDecision(decision: DecisionMade): void;
  onTool(call: ToolCalled): void;
  /** The text of /metrics. */
  text(): string;
  /** Undefined unless it was asked for. */
  readonly history: History | undefined;
  /** A number that only the caller knows; replaces what the connections report. */
  clientsAre(count: () => number): void;
  close(): Promise<void>;
};

export type TelemetryOptions = {
  readonly version: string;
  readonly keepsHistory: boolean;
  readonly redactions: () => number;
};

/** `claude#2` is a further process of `claude`. */
const agentIn = (process: string): string => process.split('#')[0] as string;

/** Never jumps back, unlike the wall clock. */
const now = (): number => performance.timeOrigin + performance.now();

export function createTelemetry({ version, keepsHistory, redactions }: TelemetryOptions): Telemetry {
  const registry = createRegistry();
  const count = countEvents(registry);
  const emit: Emit = (event) => count(event);
  const connections = new Set<() => ConnectionState>();
  const stopMeasuring = measureProcess(registry, version);
  const history = keepsHistory ? keepHistory(registry, now) : undefined;
  let clients = () => connections.size;
  let nextConnection = 0;
  let nextStart = 0;
  registry.onCollect(() =>
    readConnections(
      registry,
      [...connections].map((state) => state()),
    ),
  );
  registry.onCollect(() => {
    registry.series('clients').value = clients();
    registry.series('redactions').value = redactions();
  });

  return {
    connection(state) {
      const prefix = `${nextConnection++}/`;
      connections.add(state);
      /** By process. */
      const starting = new Map<string, { readonly start: number; readonly at: number }>();
      const agentOf = (sessionId: string | undefined) => (sessionId === undefined ? undefined : state().agentOf(sessionId));
      const begun = (process: string) => {
        const start = starting.get(process);
        starting.delete(process);
        return start;
      };
      return {
        observer(side, name) {
          const counter = createFrameCounter(registry, side === 'editor' ? 'client' : 'agent');
          if (side === 'editor') return observeClient({ counter, emit, now, prefix, agentOf });
          return {
            ...observeAgent(counter),
            down(reason) {
              const start = begun(name)?.start;
              if (reason !== 'stopped') emit({ type: 'agent-failed', at: now(), start, agent: agentIn(name), reason });
            },
          };
        },
        agentStarting(process, transport) {
          const [start, at] = [nextStart++, now()];
          starting.set(process, { start, at });
          emit({ type: 'agent-start', at, start, agent: agentIn(process), transport });
        },
        activity: {
          agentReady(process) {
            const at = now();
            const start = begun(process);
            if (start) emit({ type: 'agent-ready', at, start: start.start, agent: agentIn(process), tookMs: at - start.at });
          },
        },
        end: () => void connections.delete(state),
      };
    },
    onDecision({ session, agent, method, verdict, outcome, answeredBy, count: many = 1, latencyMs }) {
      const about = { session, agent, surface: method, verdict, outcome, answeredBy, count: many };
      emit({ type: 'decision', at: now(), ...about, tookMs: latencyMs });
    },
    onTool({ kind, agent }) {
      if (kind !== 'refused-token') emit({ type: 'tool-end', at: now(), id: '', agent, outcome: kind });
    },
    text: () => prometheusText(registry.collect()),
    history,
    clientsAre(counted) {
      clients = counted;
    },
    async close() {
      stopMeasuring();
      history?.stop();
    },
  };
}

/** The usual states are shown from the beginning, so that series do not come and go. */
const SESSION_STATES = ['idle', 'running', 'lost'];
const AGENT_STATES = ['idle', 'starting', 'ready', 'unhealthy', 'unavailable', 'draining', 'stopped'];

const each = (agents: readonly string[], states: readonly string[]) =>
  agents.flatMap((agent) => states.map((state) => [[agent, state], 0] as const));

function readConnections(registry: Registry, states: readonly ConnectionState[]): void {
  const sessions = states.flatMap((state) => [...state.sessions()]);
  const agents = states.flatMap((state) => [...state.agents()]);
  const names = [...new Set(agents.map(({ agent }) => agent))];
  registry.setAll('sessions', [...each(names, SESSION_STATES), ...sessions.map(({ agent, state }) => [[agent, state], 1] as const)]);
  registry.setAll('agents', [...each(names, AGENT_STATES), ...agents.map(({ agent, state }) => [[agent, state], 1] as const)]);
  registry.series('queueLength', 'prompts').value = states.reduce((sum, state) => sum + state.queuedPrompts(), 0);
  registry.series('queueLength', 'requests').value = agents.reduce((sum, { inFlight }) => sum + inFlight, 0);
}
