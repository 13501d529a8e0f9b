// One editor and its agents, put together. Everything that happens on this connection happens in here, and nothing of it is global.

import type { InitializeResult } from '../acp/shapes.ts';
import type { AgentSpec } from '../agents/defaults.ts';
import { failure, type ProxyError } from '../errors.ts';
import type { Children } from '../mcp/gateway/server-process.ts';
import type { GateVerdict } from '../mcp/server/gate.ts';
import type { Shim } from '../mcp/transports/listeners.ts';
import type { CapabilityCache } from '../store/capability-cache.ts';
import type { SessionLog } from '../store/sessions/session-store.ts';
import type { TranscriptSource } from '../store/transcripts/transcript-source.ts';
import type { Transport } from '../transports/transport.ts';
import type { Sink, Source } from '../wire/byte-stream.ts';
import { createConnection } from '../wire/connection.ts';
import { detach, type Frame, type Limits } from '../wire/frame.ts';
import type { Watcher } from '../wire/observer.ts';
import type { Scanner } from '../wire/scanner/scanner.ts';
import type { Refusal } from '../wire/scanner/strict-parse.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { createAgentEvents, createEnforcementHost, createPoolEvents, createRegistryDeps } from './agent-events.ts';
import { Agent, type AgentHealth } from './agents/agent.ts';
import { type AgentConfiguration, createAgentPool, type HowToStop, type Reconfigured } from './agents/agent-pool.ts';
import { createClientConnection, type OpenRequest } from './client/client-connection.ts';
import { type Clock, createTimers } from './context.ts';
import { type Counters, noCounts } from './counters.ts';
import type { CreateEnforcement, Evaluated } from './enforcement/enforcement.ts';
import { failedOn } from './failed-on.ts';
import { fromClient } from './from-client.ts';
import { initialize } from './initialize.ts';
import type { ProxyParts } from './parts.ts';
import { createAgentRequests } from './requests/agent-requests.ts';
import { actAsUser, answerElsewhere, cancelElsewhere, type ElsewhereAnswer } from './requests/answer-elsewhere.ts';
import { SessionRegistry } from './sessions/session-registry.ts';
import { type HostToolsState, hostToolsState } from './tools/confirm-tools.ts';
import { delegate } from './tools/delegation.ts';
import { createToolAttachments, type HostToolsOptions } from './tools/host-tools.ts';
import { createBridging } from './tools/session-servers.ts';
import { createTrafficWatch } from './traffic-watch.ts';
import { CANCELLED, cancelTurns } from './turns/cancel.ts';

const LAST_WORDS_MS = 500;
const LOOK_MS = 25;

export type ConnectionOptions = {
  readonly agents: readonly AgentSpec[];
  readonly defaultAgent: string;
  readonly explicitDefault: boolean;
  readonly routes: readonly { readonly cwd: string; readonly agent: string }[];
  readonly limits: Limits;
  /** Shared by all connections of the process. */
  readonly scanner: Scanner;
  readonly initializeWaitMs: number;
  readonly launch: (spec: AgentSpec) => Transport;
  readonly log: SessionLog;
  readonly cache: CapabilityCache;
  readonly clock: Clock;
  readonly version: string;
  readonly enforcement?: CreateEnforcement | undefined;
  readonly report: (text: string) => void;
  /** Files and terminals where the editor has none: for lent tools, and for agents if `servesMissing`. */
  readonly workspace?: Workspace | undefined;
  readonly servesMissing?: boolean | undefined;
  /** Whoever keeps records: it looks on at every leg, by name. */
  readonly watch?: (connection: string, side: 'editor' | 'agent') => Watcher;
  /** What was said in sessions, for agents that cannot tell it again themselves. */
  readonly transcripts?: TranscriptSource | undefined;
  /** Tools for agents; left out, sessions are opened as the editor opens them. */
  readonly toolAttachments?: HostToolsOptions | undefined;
  /** How an agent starts the shim, by which it reaches servers through us; left out, none of the editor's are bridged. */
  readonly shim?: Shim | undefined;
  /** Hears of MCP servers that are started, so that the next process can end what this one leaves behind. */
  readonly children?: Children | undefined;
  /** An agent that was started can be talked to, has exited, or was stopped or restarted by hand. */
  readonly onStateChange?: (() => void) | undefined;
};

export type Connection = {
  /** The editor has gone, or does not take what we send. */
  readonly ended: Promise<void>;
  /** Cancels what runs, answers what is open, ends every agent; resolves when nothing of them is left. */
  stop(): Promise<void>;
  /** Ends every agent at once. */
  kill(): void;
  /** Other agents for sessions to come; those that are open keep theirs. `said` is for people. */
  reconfigure(wanted: AgentConfiguration): Reconfigured;
  health(): Readonly<Record<string, AgentHealth>>;
  /** What has reached nobody so far. */
  readonly counters: Readonly<Counters>;
  /** Every process of an agent by its id: whose it is, and what the agent answered to initialize. */
  described(): Readonly<Record<string, { readonly name: string; readonly title: string; readonly answer: InitializeResult | undefined }>>;
  /** Answers a permission question or an elicitation in the editor's place; false when it is not open any more. */
  answer(answer: ElsewhereAnswer): boolean;
  /** What a policy has said of a question that is open, by the id the editor knows; undefined when none has. */
  judged(id: string): Evaluated | undefined;
  /** Cancels what a session is doing; false when there is no such session. */
  cancel(sessionId: string): boolean;
  /** Whether the user may read or change a file of a session by hand, somewhere else than in the editor. */
  byUser(sessionId: string, act: 'read' | 'edit', file: string): GateVerdict;
  /** Ends an agent's process in good order and starts another; false when there is no such agent. */
  restart(name: string): boolean;
  /** Takes an agent out of service until it is restarted; false when there is no such agent. */
  stopAgent(name: string, how: HowToStop): boolean;
  /** The tools that sessions are lent, and how far their agents have come with them. */
  lent(): readonly HostToolsState[];
  /** The frame that came last, for whoever wonders what held us up. */
  lastFrame(): { readonly method: string | undefined; readonly bytes: number };
};

export function connect(fromClientStream: Source, toClientStream: Sink, options: ConnectionOptions): Connection {
  const { limits, scanner, report } = options;
  const timers = createTimers(options.clock);
  const watch = createTrafficWatch(timers, 'the editor', report);
  let isInitialized = false;
  /** The client has gone: no process is started and no session opened for its last line, should that be whole. */
  let hasLeft = false;
  let isFull = false;
  let beforeInitialize: (() => void)[] = [];
  let bytesBeforeInitialize = 0;
  const roomBeforeInitialize = limits.maxQueueBytes / 2; // all of it may be for one agent, and must not be too much for that
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  /** Until the editor has its answer to initialize, nothing else may reach it; what comes keeps its order. */
  const afterInitialize = (from: { pause(): void }, frame: Frame, then: (frame: Frame) => void): void => {
    if (isInitialized) return then(frame);
    const kept = detach(frame);
    beforeInitialize.push(() => then(kept));
    bytesBeforeInitialize += kept.end - kept.start;
    // Whoever has filled the room is not read any further, be it that its own answer to initialize is behind that.
    if (bytesBeforeInitialize > roomBeforeInitialize) from.pause();
  };
  const initialized = (): void => {
    isInitialized = true;
    const waiting = beforeInitialize;
    beforeInitialize = [];
    for (const run of waiting) run();
    if (bytesBeforeInitialize <= roomBeforeInitialize) return;
    connection.resume();
    if (!isFull) proxy.pool.resume();
  };

  const connection = createConnection(
    fromClientStream,
    toClientStream,
    { scanner, maxFrameBytes: limits.maxFrameBytes, observer: options.watch?.('editor', 'editor').observer },
    {
      frame: received,
      refused: (refusal) => refused(refusal),
      oversized({ kind, idText, bytes }) {
        report(`a frame of ${bytes} bytes from the editor was skipped: limits.max_frame_bytes is ${limits.maxFrameBytes}`);
        complain(kind, idText, failure('FRAME_TOO_LONG', [limits.maxFrameBytes]));
      },
      ending() {
        hasLeft = true;
      },
      end: () => end(),
      error: () => end(),
      // A client that stops reading pauses the agents; memory must not grow for it.
      full() {
        isFull = true;
        proxy.pool.pause();
      },
      drain() {
        isFull = false;
        proxy.pool.resume();
      },
    },
  );
  const client = createClientConnection(connection.writer);
  const counters = noCounts();
  const requests = createAgentRequests({ client, counters });
  const events = createAgentEvents({
    parts: () => proxy,
    isInitialized: () => isInitialized,
    afterInitialize,
    onStateChange: () => options.onStateChange?.(),
  });
  const createPooledAgent = (spec: AgentSpec, id: string, sibling: Agent | undefined): Agent =>
    new Agent(
      spec,
      {
        launch: options.launch,
        watcher: options.watch?.(id, 'agent'),
        limits,
        scanner,
        clock: timers,
        initializeParams: () => proxy.pool.initializeParams?.paramsText ?? '{"protocolVersion":1}',
        ...events,
      },
      id,
      sibling,
    );
  const proxy: ProxyParts = {
    context: {
      clock: timers,
      counters,
      lastFrame: { method: undefined, bytes: 0 },
      version: options.version,
      initializeWaitMs: options.initializeWaitMs,
      maxQueueBytes: limits.maxQueueBytes,
      report,
      log: options.log,
      transcripts: options.transcripts,
      cache: options.cache,
      workspace: options.workspace,
      servesMissing: options.servesMissing ?? options.workspace !== undefined,
      enforcement: options.enforcement?.(createEnforcementHost(() => proxy)),
    },
    pool: createAgentPool(
      options,
      timers,
      createPoolEvents(() => proxy, createPooledAgent),
    ),
    registry: new SessionRegistry(createRegistryDeps(() => proxy)),
    client,
    requests,
    tools: {
      attachments:
        options.toolAttachments &&
        createToolAttachments({ ...options.toolAttachments, children: options.children }, () => proxy, options.version, delegate),
      bridging: options.shim && createBridging(options.shim, options.children, () => proxy),
    },
  };

  function received(frame: Frame): void {
    const bytes = frame.end - frame.start;
    proxy.context.lastFrame.method = frame.method;
    proxy.context.lastFrame.bytes = bytes;
    watch(bytes);
    if (frame.kind === 'response') return requests.answered(frame);
    const request = frame.kind === 'request' ? client.open(frame) : undefined;
    if (frame.kind === 'request' && !request) return;
    if (proxy.pool.isClosed || hasLeft) return void (request && client.fail(request, failure('SHUTTING_DOWN', [])));
    try {
      take(request, frame);
    } catch (error) {
      failedOn(proxy, request, frame.method as string, error);
    }
  }
  function take(request: OpenRequest | undefined, frame: Frame): void {
    if (request && frame.method === 'initialize') return initialize(proxy, request, frame, initialized);
    if (!proxy.pool.initializeParams) {
      if (request) client.fail(request, failure('NOT_INITIALIZED', [request.method]));
      else proxy.context.counters.refusedFromClient++;
      return;
    }
    afterInitialize(connection, frame, (mine) => {
      if (!request?.isAnswered) fromClient(proxy, request, mine);
    });
  }
  function refused({ why, reason, kind, idText }: Refusal): void {
    proxy.context.counters.refusedFromClient++;
    complain(kind, idText, failure(why === 'broken' ? 'PARSE' : why === 'foreign' ? 'NOT_A_MESSAGE' : 'AMBIGUOUS', [reason]));
  }
  /** The answer to a line that was not passed on; when it was itself an answer, the agent that waits for it is told. */
  function complain(kind: Refusal['kind'], idText: string | undefined, error: ProxyError): void {
    if (kind === 'response' && idText !== undefined) requests.unusable(idText, error);
    else if (kind !== 'response') client.complain(kind === 'request' && idText !== undefined ? idText : 'null', error);
  }

  /** Agents answer a cancel in their own words if they are given a moment before the end of their input. */
  function turnsEnded(): Promise<void> {
    return new Promise((resolve) => {
      const look = (leftMs: number) => {
        const isBusy = [...proxy.registry.all()].some(({ turns }) => turns.size > 0);
        if (!isBusy || leftMs <= 0) resolve();
        else timers.after(LOOK_MS, () => look(leftMs - LOOK_MS));
      };
      look(LAST_WORDS_MS);
    });
  }

  function byHandDone(isDone: boolean): boolean {
    if (isDone) options.onStateChange?.();
    return isDone;
  }

  return {
    ended,
    async stop() {
      proxy.pool.close();
      for (const session of proxy.registry.all()) if (session.turns.size > 0) cancelTurns(proxy, session);
      requests.stop();
      // An answer that goes through a server of ours takes a turn of the loop, and must not come behind the end of the agent's input.
      if (proxy.tools.attachments) await new Promise(setImmediate);
      await turnsEnded();
      // All at once: each may take its grace, and the end must not take the sum of them.
      const servers = [proxy.tools.bridging?.bridges.close(), proxy.tools.attachments?.close()];
      await Promise.all([...servers, proxy.pool.stop(), proxy.context.workspace?.stop()]);
      timers.stop();
      // Whatever is still open will not be answered by anyone else.
      for (const request of client.openRequests()) {
        if (request.isCancelled) client.succeed(request, CANCELLED);
        else client.fail(request, failure('SHUTTING_DOWN', []));
      }
    },
    reconfigure: (wanted) => proxy.pool.replace(wanted),
    lastFrame: () => proxy.context.lastFrame,
    kill() {
      proxy.pool.kill();
      proxy.context.workspace?.kill();
    },
    counters: proxy.context.counters,
    health: () => proxy.pool.health(),
    described: () => proxy.pool.described(),
    judged: (id) => requests.open(id)?.evaluated,
    answer: (answer) => !proxy.pool.isClosed && answerElsewhere(proxy, answer),
    cancel: (sessionId) => !proxy.pool.isClosed && cancelElsewhere(proxy, sessionId),
    byUser: (sessionId, act, file) => actAsUser(proxy, sessionId, act, file),
    restart: (name) => !proxy.pool.isClosed && byHandDone(proxy.pool.restartAgent(name)),
    stopAgent: (name, how) => !proxy.pool.isClosed && byHandDone(proxy.pool.stopAgent(name, how)),
    lent: () => hostToolsState(proxy),
  };
}
