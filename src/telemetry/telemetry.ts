// Telemetry of one process: metrics and traces from the events of all its connections. Nothing waits for it, and nothing here throws into a
// frame's way.
import { randomBytes, randomUUID } from 'node:crypto';
import type { Emit } from './events.ts';
import { countEvents } from './metrics/count-events.ts';
import { type History, keepHistory } from './metrics/history.ts';
import { measureProcess } from './metrics/process-metrics.ts';
import { prometheusText } from './metrics/prometheus.ts';
import { createRegistry, type Registry } from './metrics/registry.ts';
import { type ConnectionTelemetry, measureConnection } from './observe/connection.ts';
import { encodeMetrics, encodeSpans, type Resource } from './otlp/encode.ts';
import { createExporter } from './otlp/exporter.ts';
import { createPost } from './otlp/post.ts';
import { pushMetrics } from './otlp/push-metrics.ts';
import { addressOf, type TelemetrySettings } from './settings.ts';
import { cleaned, withoutSecrets } from './traces/attributes.ts';
import type { Span } from './traces/span.ts';
import { createTurnSpans } from './traces/turn-spans.ts';

/** What a connection knows when the metrics are read. */
export type ConnectionState = {
  sessions(): Iterable<{ readonly agent: string; readonly state: string }>;
  /** By the id of the agent's process. */
  agents(): Iterable<{ readonly agent: string; readonly state: string; readonly inFlight: number }>;
  queuedPrompts(): number;
  /** The agent of an open session. */
  agentOf(sessionId: string): string | undefined;
};

export type Telemetry = {
  /** For a client and its agents. `end` when both are gone. */
  connection(state: () => ConnectionState): ConnectionTelemetry;
  /** The text of /metrics. */
  text(): string;
  /** Undefined unless it was asked for. */
  readonly history: History | undefined;
  /** A number that only the caller knows; replaces what the connections report. */
  clientsAre(count: () => number): void;
  /** Sends what is left, for a second at most. */
  close(): Promise<void>;
};

export type TelemetryOptions = {
  readonly version: string;
  readonly keepsHistory: boolean;
  readonly redactions: () => number;
  /** Removes secrets. Peers choose the ids of sessions and tool calls. */
  readonly redact: (text: string) => string;
  readonly settings: TelemetrySettings;
  /** A message for people: nothing reaches the collector. */
  readonly report: (text: string) => void;
};

const CLOSE_MS = 1000;

/** Never jumps back, unlike the wall clock. */
const now = (): number => performance.timeOrigin + performance.now();

export function createTelemetry({ version, keepsHistory, redactions, redact, settings, report }: TelemetryOptions): Telemetry {
  const registry = createRegistry();
  const count = countEvents(registry);
  // Without its own id, the numbers of several processes would be those of one.
  const resource = { 'service.instance.id': randomUUID(), ...withoutSecrets(settings.resource, redact, Object.keys(settings.resource)) };
  const spans = settings.traces && exportSpans(settings.traces, resource, registry, redact, report);
  const pushed = settings.metrics && push(settings.metrics, resource, registry, report);
  const emit: Emit = (event) => {
    count(event);
    spans?.note(event);
  };
  const connections = new Set<() => ConnectionState>();
  const stopMeasuring = measureProcess(registry, version);
  const history = keepsHistory ? keepHistory(registry, now) : undefined;
  let clients = () => connections.size;
  let number = 0;
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
      connections.add(state);
      const measured = measureConnection({
        registry,
        emit,
        now,
        nextNumber: () => number++,
        agentOf: (sessionId) => (sessionId === undefined ? undefined : state().agentOf(sessionId)),
        contextFor: settings.inject ? spans?.contextOf : undefined,
      });
      return {
        ...measured,
        end() {
          measured.end();
          connections.delete(state);
        },
      };
    },
    text: () => prometheusText(registry.collect()),
    history,
    clientsAre(counted) {
      clients = counted;
    },
    async close() {
      history?.stop();
      // The last metrics count what became of the last spans.
      const closing = performance.now();
      await spans?.close(CLOSE_MS * (pushed ? 0.6 : 1));
      await pushed?.close(CLOSE_MS - (performance.now() - closing));
      stopMeasuring();
    },
  };
}

type Report = TelemetryOptions['report'];

function exportSpans(
  target: NonNullable<TelemetrySettings['traces']>,
  resource: Resource,
  registry: Registry,
  redact: TelemetryOptions['redact'],
  report: Report,
) {
  const { post, close } = createPost(target);
  const exporter = createExporter<Span>({
    ...target,
    post,
    encode: (batch) =>
      encodeSpans(
        batch.map((span) => cleaned(span, redact)),
        resource,
      ),
    onSent: (sent) => registry.add('telemetryExported', ['traces'], sent),
    onDropped: (dropped, reason) => registry.add('telemetryDropped', ['traces', reason], dropped),
    onProblem: (why) => report(`telemetry: the collector at ${addressOf(target)} does not take traces (${why})`),
  });
  registry.onCollect(() => {
    registry.series('queueLength', 'spans').value = exporter.length();
  });
  return {
    ...createTurnSpans({
      sampler: target.sampler,
      randomId: (bytes) => randomBytes(bytes).toString('hex'),
      onSpan: exporter.add,
      onDropped: () => registry.add('telemetryDropped', ['traces', 'too_many']),
    }),
    async close(withinMs: number) {
      await exporter.close(withinMs);
      close();
    },
  };
}

function push(target: NonNullable<TelemetrySettings['metrics']>, resource: Resource, registry: Registry, report: Report) {
  const { post, close } = createPost(target);
  const startMs = now();
  const pushed = pushMetrics({
    post,
    everyMs: target.everyMs,
    payload: () => encodeMetrics(registry.collect(), resource, startMs, now()),
    onSent: () => registry.add('telemetryExported', ['metrics']),
    onProblem: (why) => report(`telemetry: the collector at ${addressOf(target)} does not take metrics (${why})`),
  });
  return {
    async close(withinMs: number) {
      await pushed.close(withinMs);
      close();
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
