// Serves one client, from its first byte to the end of the last process that was started for it.
import { describeDaemons, findDaemons, rememberDaemons } from '../agents/daemons.ts';
import type { AgentSpec } from '../agents/defaults.ts';
import { inheritedEnvironment } from '../agents/environment.ts';
import { createRunningRecord, newMark, type RunningRecordWriter } from '../agents/running-record.ts';
import type { Config } from '../config/config.ts';
import type { ProcessContext } from '../proxy/agents/process-context.ts';
import type { RunningProxy } from '../proxy/api.ts';
import type { Multiplexer } from '../proxy/boundary.ts';
import type { ClientScope } from '../proxy/client-scope.ts';
import { countsMessage, systemClock } from '../proxy/context.ts';
import type { CreateEnforcement } from '../proxy/enforcement/enforcement.ts';
import { startProxy } from '../proxy/proxy.ts';
import type { HostToolsOptions } from '../proxy/tools/session-tools.ts';
import type { Redactor, Secrets } from '../redaction/redact.ts';
import type { CapabilityCache } from '../store/capability-cache.ts';
import type { Side } from '../store/frame-log/frame-lines.ts';
import { ownSessions, type SessionStore } from '../store/sessions/session-store.ts';
import type { TranscriptSource } from '../store/transcripts/transcript-source.ts';
import type { ConnectionState, Telemetry } from '../telemetry/telemetry.ts';
import type { Sink, Source } from '../wire/byte-stream.ts';
import type { Scanner } from '../wire/scanner/scanner.ts';
import type { TerminalsOptions } from '../workspace/terminals.ts';
import { createWorkspace } from '../workspace/workspace.ts';
import { shimOf } from './configured-tools.ts';
import type { Diagnostics } from './diagnostics.ts';
import type { Listener, Notify } from './events.ts';
import { type ConnectOnBus, launchAgent, unlessContained } from './launch.ts';
import { VERSION } from './package-files.ts';
import { createRecords, type ExtraObserver } from './records.ts';
import type { containServers, Sandbox } from './sandbox.ts';

export type ClientStreams = { readonly input: Source; readonly output: Sink };

/** What the clients of one switchboard share. */
export type Shared = {
  readonly config: Config;
  readonly stateDir: string;
  readonly secrets: Secrets;
  readonly diagnostics: Diagnostics;
  readonly notify: Notify;
  readonly onProblem: (error: unknown) => void;
  readonly events: Listener;
  readonly enforcement: (onDecision: Listener['onDecision']) => CreateEnforcement | undefined;
  /** The settings an agent starts with under the policy. */
  readonly prepared: (spec: AgentSpec) => AgentSpec;
  readonly log: SessionStore;
  readonly cache: CapabilityCache;
  readonly scanner: Scanner;
  readonly toolAttachments: HostToolsOptions | undefined;
  readonly extraObserver: ExtraObserver | undefined;
  /** Undefined while it is off. */
  readonly telemetry: Telemetry | undefined;
  readonly queuesPrompts: boolean;
  /** Undefined if nothing can be contained. */
  readonly sandbox: Sandbox | undefined;
  readonly connectOnBus: ConnectOnBus;
  /** Puts MCP servers that switchboard starts into a sandbox. */
  readonly containServer: ReturnType<typeof containServers>;
};

export type Served = {
  readonly connection: RunningProxy;
  /** Undefined if transcripts are off. */
  readonly transcripts: TranscriptSource | undefined;
  /** Stops its agents. Resolves when nothing of them is left; calls after the first have no effect. */
  close(): Promise<void>;
  /** Resolves when `close` is done. */
  readonly closed: Promise<void>;
  /** It keeps its one agent when the configuration changes. */
  readonly isPinned: boolean;
};

/** A client of a daemon. */
export type Guest = {
  /** Limits a network client. */
  readonly scope?: ClientScope | undefined;
  /** Whose sessions it sees; undefined: all. */
  readonly principal?: string | undefined;
  /** Several clients share the connection. */
  readonly multiplexer?: Multiplexer | undefined;
  /** The one agent that it uses, with its files and terminals served here; undefined: all agents of the configuration. */
  readonly only?: OnlyAgent | undefined;
  /** The one agent of the configuration that it uses; undefined: all. */
  readonly agent?: string | undefined;
};

export type OnlyAgent = {
  readonly spec: AgentSpec;
  /** Gets each line of its stderr, redacted. */
  readonly onStderr: (line: string) => void;
  readonly onTerminal: NonNullable<TerminalsOptions['heard']>;
};

/** `number` distinguishes it from the other clients of this process. */
export function serveClient(shared: Shared, { input, output }: ClientStreams, number: number, recordTo?: string, guest?: Guest): Served {
  const {
    stateDir,
    secrets,
    diagnostics,
    notify,
    onProblem,
    events,
    enforcement,
    prepared,
    log,
    cache,
    scanner,
    toolAttachments,
    extraObserver,
    telemetry,
    queuesPrompts,
    sandbox,
    containServer,
    connectOnBus,
  } = shared;
  const only = guest?.only;
  const spec = only?.spec ?? shared.config.agents.find((one) => one.name === guest?.agent);
  const config = spec ? { ...shared.config, agents: [spec], defaultAgent: spec.name, routes: [] } : shared.config;
  const mark = newMark();
  const name = number === 0 ? String(process.pid) : `${process.pid}-${number}`;
  const visible = guest?.principal === undefined ? log : ownSessions(log, guest.principal);
  const scope = guest?.scope;
  const mayRecord = scope && !scope.isOwner ? (sessionId: string) => !scope.isObserver && visible.records().has(sessionId) : undefined;
  const measured = telemetry?.connection(() => stateOf(connection));
  const extraObservers = [
    ...(extraObserver ? [extraObserver] : []),
    ...(measured ? [(of: string, side: Side) => measured.observer(side, of)] : []),
  ];
  const records = createRecords({ config, stateDir, secrets, notify, name, recordTo, extraObservers, mayRecord });
  const running = createRunningRecord(stateDir, mark, onProblem);
  const health = publishHealth(() => connection, secrets.redact, running);
  const launch = (configured: AgentSpec, context: ProcessContext) => {
    const spec = prepared(configured);
    const reached = measured?.agentStarting(context.process ?? spec.name, spec.remote ? 'remote' : 'process');
    const child = launchAgent(spec, {
      onBus: (agent) => connectOnBus(agent, context, name),
      ...{ mark, secrets, limits: config.limits, heard: only?.onStderr },
      contain: sandbox ? sandbox.start(spec, context) : unlessContained(spec),
    });
    diagnostics.log('debug', `started agent "${spec.name}"`, { agent: spec.name, agentPid: child.pid });
    if (child.pid !== undefined) running.childStarted(child.pid);
    if (reached) child.onOpen?.(reached);
    health.changed();
    events.onAgent(spec.name, child);
    return child;
  };
  const connection = startProxy(input, output, {
    ...config,
    launch,
    isContained: sandbox?.isContained,
    containCommand: sandbox?.startCommand,
    isReviewed: sandbox?.isReviewed,
    review: sandbox?.review,
    // Host tools use it where the client has no files or terminals. Agents see it only if the configuration says so, or if the client that
    // has them is one of several, and gone.
    workspace:
      config.workspace === 'off' && !toolAttachments && !guest
        ? undefined
        : createWorkspace({
            mark,
            onChild: running.childStarted,
            environment: () => inheritedEnvironment(process.env, 'all', config.secretVariables),
            heard: only?.onTerminal,
          }),
    servesMissing: config.workspace !== 'off' || only !== undefined,
    enforcement: enforcement((entry) => {
      measured?.decided(entry);
      events.onDecision(entry);
    }),
    always: { stateDir, redact: secrets.redact, onProblem },
    queuesPrompts,
    watch: records.watch,
    transcripts: records.transcripts,
    report: (text, level) => diagnostics.log(level ?? 'warn', text),
    clock: systemClock,
    log: visible,
    scope,
    multiplexer: guest?.multiplexer,
    cache,
    scanner,
    version: VERSION,
    toolAttachments,
    shim: shimOf(),
    children: { mark, started: running.childStarted, contain: containServer },
    onStateChange: health.changed,
    onStallCancel: events.onStallCancel,
    activity: measured?.activity,
  });
  let finish = () => {};
  const closed = new Promise<void>((resolve) => {
    finish = resolve;
  });
  /** Only for information: a failure must not keep the connection from ending. */
  function reportDaemons(): void {
    try {
      const daemons = findDaemons(mark);
      if (daemons.length === 0) return;
      const { names, end } = describeDaemons(daemons);
      notify(
        `agents left these processes running in their own process groups: ${names}. Switchboard does not stop them; to stop them, run: ${end}`,
      );
      rememberDaemons(stateDir, mark, daemons);
    } catch (error) {
      diagnostics.log('debug', `cannot look for processes that agents left running: ${(error as Error).message}`);
    }
  }
  async function end(): Promise<void> {
    await connection.stop();
    const dropped = countsMessage(connection.counters);
    if (dropped !== undefined) diagnostics.log('debug', dropped, connection.counters);
    health.stop();
    measured?.end();
    running.clear();
    await records.close();
    reportDaemons();
    finish();
  }
  let ending: Promise<void> | undefined;
  return {
    connection,
    transcripts: records.transcripts,
    isPinned: spec !== undefined,
    closed,
    close() {
      ending ??= end();
      return ending;
    },
  };
}

/** What metrics read of a connection. */
function stateOf({ sessions, health, queuedPrompts, agentOf }: RunningProxy): ConnectionState {
  return {
    sessions,
    agents: () => Object.entries(health()).map(([id, { state, inFlight }]) => ({ agent: id.split('#')[0] as string, state, inFlight })),
    queuedPrompts: () => queuedPrompts().length,
    agentOf,
  };
}

const PUBLISH_EVERY_MS = 2000;
/** An agent that starts, crashes and starts again within this time is written once. */
const GATHER_MS = 50;
const STDERR_LINES = 10;
const MAX_QUEUED_TEXT = 500;

export type HealthPublisher = {
  /** The state of an agent has changed. Counters alone wait for the next round. */
  changed(): void;
  stop(): void;
};

/** Writes the health of a connection's agents, and its queued prompts, to its running record, for other commands. Text of an agent is redacted. */
export function publishHealth(
  connection: () => Pick<RunningProxy, 'health' | 'queuedPrompts'>,
  redact: Redactor,
  running: RunningRecordWriter,
): HealthPublisher {
  const clean = (text: string | undefined) => (text === undefined ? undefined : redact(text));
  let isStopped = false;
  let pending: NodeJS.Timeout | undefined;
  function publish(): void {
    pending = undefined;
    const health = Object.entries(connection().health()).map(([id, { stderrTail, lastError, unavailable, uptimeMs, ...kept }]) => {
      const since = uptimeMs === undefined ? undefined : Math.round((Date.now() - uptimeMs) / 1000) * 1000;
      const why = { lastError: lastError?.key, lastErrorText: clean(lastError?.message), unavailable: clean(unavailable?.message) };
      const tail = redact(stderrTail.slice(-STDERR_LINES).join('\n'))
        .split('\n')
        .filter((line) => line !== '');
      return [id, { ...kept, ...why, stderrTail: tail, since: since && new Date(since).toISOString() }];
    });
    const queued = connection()
      .queuedPrompts()
      .map(({ sessionId, text }) => ({ sessionId, text: redact(text).slice(0, MAX_QUEUED_TEXT) }));
    running.healthIs(Object.fromEntries(health), queued);
  }
  const timer = setInterval(publish, PUBLISH_EVERY_MS);
  timer.unref();
  return {
    changed() {
      if (!isStopped) pending ??= setTimeout(publish, GATHER_MS).unref();
    },
    stop() {
      isStopped = true;
      clearInterval(timer);
      clearTimeout(pending);
    },
  };
}
