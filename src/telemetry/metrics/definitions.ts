// Every metric: its name, what it counts, and its labels. Labels have few values: names of agents from the configuration, methods of the
// protocol, fixed words. Ids, paths and texts are never labels.

export type Metric = {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
  /** Upper bounds, for a histogram. */
  readonly buckets?: readonly number[];
  /** As in UCUM, for OTLP: `s`, `By`. */
  readonly unit?: string;
};

/** Turns take from a second to an hour. */
const TURN_SECONDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900, 3600];
/** People answer within seconds or after lunch. */
const WAIT_SECONDS = [0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600];
const START_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

export const METRICS = {
  buildInfo: {
    name: 'switchboard_build_info',
    help: 'Always 1. The label is the version.',
    type: 'gauge',
    labels: ['version'],
  },
  clients: { name: 'switchboard_clients', help: 'Connected clients.', type: 'gauge', labels: [] },
  sessions: {
    name: 'switchboard_sessions',
    help: 'Sessions by agent and state. running: a turn is under way. idle: none is. lost: its agent has exited.',
    type: 'gauge',
    labels: ['agent', 'state'],
  },
  agents: { name: 'switchboard_agents', help: 'Processes and connections of agents by state.', type: 'gauge', labels: ['agent', 'state'] },
  frames: { name: 'switchboard_frames_total', help: 'Frames by direction.', type: 'counter', labels: ['direction'] },
  frameBytes: {
    name: 'switchboard_frame_bytes_total',
    help: 'Bytes of frames by direction.',
    type: 'counter',
    labels: ['direction'],
    unit: 'By',
  },
  refusedLines: {
    name: 'switchboard_refused_lines_total',
    help: 'Lines from a client or an agent that are no frame.',
    type: 'counter',
    labels: ['direction'],
  },
  requests: {
    name: 'switchboard_requests_total',
    help: 'Answered requests of clients by method and outcome.',
    type: 'counter',
    labels: ['method', 'outcome'],
  },
  turns: {
    name: 'switchboard_turns_total',
    help: 'Ended turns by agent and outcome: the stop reason, error, or abandoned if the client was gone.',
    type: 'counter',
    labels: ['agent', 'outcome'],
  },
  turnSeconds: {
    name: 'switchboard_turn_duration_seconds',
    help: 'Time from a prompt to its answer.',
    type: 'histogram',
    labels: ['agent'],
    buckets: TURN_SECONDS,
    unit: 's',
  },
  firstUpdateSeconds: {
    name: 'switchboard_turn_first_update_seconds',
    help: 'Time from a prompt to the first update of its session.',
    type: 'histogram',
    labels: ['agent'],
    buckets: TURN_SECONDS,
    unit: 's',
  },
  permissionSeconds: {
    name: 'switchboard_permission_wait_seconds',
    help: 'Time that a permission request waits for an answer, by outcome: allowed, rejected, cancelled or error.',
    type: 'histogram',
    labels: ['agent', 'outcome'],
    buckets: WAIT_SECONDS,
    unit: 's',
  },
  tokens: {
    name: 'switchboard_tokens_total',
    help: 'Tokens that agents report at the end of a turn, by kind: input, output, cached_read and cached_write.',
    type: 'counter',
    labels: ['agent', 'kind'],
  },
  cost: {
    name: 'switchboard_cost_total',
    help: 'What agents report that their sessions cost, by currency.',
    type: 'counter',
    labels: ['agent', 'currency'],
  },
  decisions: {
    name: 'switchboard_decisions_total',
    help: 'Policy decisions by surface, verdict (allow, ask, deny) and outcome (allowed, prevented, noticed, unasked, withdrawn).',
    type: 'counter',
    labels: ['surface', 'verdict', 'outcome'],
  },
  agentStarts: { name: 'switchboard_agent_starts_total', help: 'Starts of agents.', type: 'counter', labels: ['agent'] },
  agentRestarts: {
    name: 'switchboard_agent_restarts_total',
    help: 'Starts of agents after an earlier one failed.',
    type: 'counter',
    labels: ['agent'],
  },
  agentFailures: {
    name: 'switchboard_agent_failures_total',
    help: 'Agents that could not start or ended by themselves, by reason.',
    type: 'counter',
    labels: ['agent', 'reason'],
  },
  agentStartSeconds: {
    name: 'switchboard_agent_start_seconds',
    help: 'Time from the start of an agent to its answer to initialize.',
    type: 'histogram',
    labels: ['agent'],
    buckets: START_SECONDS,
    unit: 's',
  },
  queueLength: {
    name: 'switchboard_queue_length',
    help: 'What waits: prompts for the end of a turn, requests for the answer of an agent, permissions for a person, spans for their export.',
    type: 'gauge',
    labels: ['queue'],
  },
  toolCalls: {
    name: 'switchboard_host_tool_calls_total',
    help: 'Calls of host tools and of configured MCP servers by outcome: called, denied or failed.',
    type: 'counter',
    labels: ['agent', 'outcome'],
  },
  delegations: {
    name: 'switchboard_delegations_total',
    help: 'Turns that one agent gave to another, by the agent that ran them.',
    type: 'counter',
    labels: ['agent', 'outcome'],
  },
  redactions: {
    name: 'switchboard_redactions_total',
    help: 'Texts for records from which a secret was removed.',
    type: 'counter',
    labels: [],
  },
  telemetryExported: {
    name: 'switchboard_telemetry_exported_total',
    help: 'Spans and metric pushes that a collector accepted.',
    type: 'counter',
    labels: ['signal'],
  },
  telemetryDropped: {
    name: 'switchboard_telemetry_dropped_total',
    help: 'Spans that were dropped, by reason: the queue was full, the collector rejected them, there were too_many at once, or the process ended.',
    type: 'counter',
    labels: ['signal', 'reason'],
  },
  eventLoopDelay: {
    name: 'switchboard_event_loop_delay_seconds',
    help: 'Delay of the event loop in the last 30 to 60 seconds: p50, p99 and max.',
    type: 'gauge',
    labels: ['statistic'],
    unit: 's',
  },
  memory: {
    name: 'switchboard_memory_bytes',
    help: 'Memory of the process: rss, heap_used, heap_total and external.',
    type: 'gauge',
    labels: ['kind'],
    unit: 'By',
  },
  cpuSeconds: {
    name: 'switchboard_cpu_seconds_total',
    help: 'CPU time of the process, user and system. Agents are not included.',
    type: 'counter',
    labels: [],
    unit: 's',
  },
  startTime: {
    name: 'switchboard_start_time_seconds',
    help: 'When the process started, in seconds since 1970.',
    type: 'gauge',
    labels: [],
    unit: 's',
  },
} as const satisfies Record<string, Metric>;

export type MetricKey = keyof typeof METRICS;
