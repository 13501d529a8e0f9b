// Puts the parts of one proxy together. One process may have many proxies.
import { randomUUID } from 'node:crypto';
import type { AgentSpec } from '../agents/defaults.ts';
import { failure } from '../errors.ts';
import type { Sink, Source } from '../wire/byte-stream.ts';
import { createAgentEvents, createEnforcementHost, createHostDecision, createPoolEvents, createRegistryDeps } from './agent-events.ts';
import { Agent } from './agents/agent.ts';
import { createAgentPool } from './agents/agent-pool.ts';
import type { ProxyOptions, RunningProxy } from './api.ts';
import { ClientConnection } from './client/client-connection.ts';
import { type Context, createTimers, noCounts } from './context.ts';
import { createAgentSide } from './from-client.ts';
import type { Parts, ProxyParts } from './parts.ts';
import { createAgentRequests } from './requests/agent-requests.ts';
import { AlwaysAnswers } from './requests/always-answers.ts';
import { paramsOnLayer, paramsWithoutFiles } from './requests/serve-workspace.ts';
import { actAsUser, answerElsewhere, cancelElsewhere, runAsUser } from './requests/user-actions.ts';
import type { Session } from './sessions/session.ts';
import { SessionRegistry } from './sessions/session-registry.ts';
import { hostToolsState } from './tools/check-tool-use.ts';
import { delegate } from './tools/delegation.ts';
import { createBridging } from './tools/session-servers.ts';
import { createToolAttachments } from './tools/session-tools.ts';
import { cancelTurns, endCancelled } from './turns/cancel.ts';
import { changeQueued, describedAgents, queuedPrompts, runningPrompts } from './turns/prompt-queue.ts';

/** Time for agents to answer their cancelled turns before their input ends. */
const CANCEL_GRACE_MS = 500;
const POLL_MS = 25;

export function startProxy(input: Source, output: Sink, options: ProxyOptions): RunningProxy {
  const { limits, scanner } = options;
  const timers = createTimers(options.clock);
  const context: Context = {
    clock: timers,
    counters: noCounts(),
    lastFrame: { method: undefined, bytes: 0 },
    version: options.version,
    initializeWaitMs: options.initializeWaitMs,
    maxQueueBytes: limits.maxQueueBytes,
    queuesPrompts: options.queuesPrompts ?? false,
    report: options.report,
    onStallCancel: options.onStallCancel ?? (() => {}),
    log: options.log,
    transcripts: options.transcripts,
    cache: options.cache,
    workspace: options.workspace,
    servesMissing: options.servesMissing ?? options.workspace !== undefined,
    review: options.review,
    enforcement: options.enforcement?.(createEnforcementHost(() => proxy)),
    always: options.always && !options.enforcement ? new AlwaysAnswers(options.always) : undefined,
    scope: options.scope,
    multiplexer: options.multiplexer,
    activity: options.activity,
  };
  const client = new ClientConnection({
    input,
    output,
    limits,
    scanner,
    observer: options.watch?.('editor', 'editor').observer,
    context,
    agents: createAgentSide(() => proxy),
    mustYield: context.enforcement?.mustYield,
  });
  const events = createAgentEvents({
    parts: () => proxy,
    gate: client,
    enforcement: context.enforcement,
    onStateChange: () => options.onStateChange?.(),
  });
  const decideHost = options.isContained && createHostDecision(() => proxy);
  const createAgent = (spec: AgentSpec, id: string, sibling: Agent | undefined): Agent =>
    new Agent(
      spec,
      {
        launch: options.launch,
        decideHost,
        containCommand: options.containCommand,
        records: options.watch?.(id, 'agent'),
        limits,
        scanner,
        clock: timers,
        mustYield: context.enforcement?.mustYield,
        initializeParams() {
          if (!pool.initializeParams) return '{"protocolVersion":1}';
          if (options.isReviewed?.(spec)) return paramsOnLayer(pool.initializeParams);
          return spec.remote?.files === 'none' ? paramsWithoutFiles(pool.initializeParams) : pool.initializeParams.paramsText;
        },
        ...events,
      },
      id,
      sibling,
    );
  const { isContained, isReviewed, review } = options;
  const layerFor = (spec: AgentSpec, sessionId: string | undefined): string | undefined =>
    review && isReviewed?.(spec) ? ((sessionId && review.layerOf(sessionId)) ?? randomUUID()) : undefined;
  const poolEvents = createPoolEvents(() => proxy, createAgent, { isContained, layerFor });
  const pool = createAgentPool(options, timers, poolEvents);
  const proxy: ProxyParts = {
    context,
    pool,
    registry: new SessionRegistry(createRegistryDeps(() => proxy)),
    client,
    requests: createAgentRequests({ client, counters: context.counters }),
    tools: {
      attachments:
        options.toolAttachments &&
        createToolAttachments({ ...options.toolAttachments, children: options.children }, () => proxy, options.version, delegate),
      bridging: options.shim && createBridging(options.shim, options.children, () => proxy),
    },
  };
  const changed = (isChanged: boolean): boolean => {
    if (isChanged) options.onStateChange?.();
    return isChanged;
  };

  return {
    ended: client.ended,
    async stop() {
      await shutDown(proxy);
      timers.stop();
      // Nobody else will answer the requests that are still open.
      for (const request of client.openRequests()) {
        if (request.isCancelled) endCancelled(proxy, request);
        else client.fail(request, failure('SHUTTING_DOWN', []));
      }
    },
    kill() {
      pool.kill();
      context.workspace?.kill();
    },
    reconfigure: (wanted) => pool.replace(wanted),
    lastFrame: () => ({ ...context.lastFrame }),
    counters: context.counters,
    health: () => pool.health(),
    sessions: () => [...proxy.registry.all()].map((session) => ({ agent: session.agent.name, state: shownState(session) })),
    agentOf: (sessionId) => proxy.registry.get(sessionId)?.agent.name,
    described: () => describedAgents(proxy),
    evaluatedRequest: (id) => proxy.requests.open(id)?.evaluated,
    answersAutomatically: (id) => proxy.requests.markAutomatic(id),
    answer: (answer) => !pool.isClosed && answerElsewhere(proxy, answer),
    cancel: (sessionId) => !pool.isClosed && cancelElsewhere(proxy, sessionId),
    fileActionByUser: (sessionId, act, file, where) => actAsUser(proxy, sessionId, act, file, where),
    commandByUser: (sessionId, command) => runAsUser(proxy, sessionId, command),
    restart: (name) => !pool.isClosed && changed(pool.restartAgent(name)),
    stopAgent: (name, how) => !pool.isClosed && changed(pool.stopAgent(name, how)),
    hostToolsState: () => hostToolsState(proxy),
    queuedPrompts: () => queuedPrompts(proxy),
    runningPrompts: (sessionId) => runningPrompts(proxy, sessionId),
    changeQueued: (prompt, text) => !pool.isClosed && changeQueued(proxy, prompt, text),
  };
}

/** For metrics. */
const shownState = ({ state, turns }: Session): string => (turns.size > 0 ? 'running' : state.kind === 'open' ? 'idle' : state.kind);

/** Cancels the turns, answers the agents' requests and ends every process. */
async function shutDown(proxy: ProxyParts): Promise<void> {
  const { pool, registry, requests, tools, context } = proxy;
  pool.close();
  for (const session of registry.all()) if (session.turns.size > 0) cancelTurns(proxy, session);
  requests.stop();
  // An answer through a host tool server takes a turn of the event loop, and must reach the agent before the end of its input.
  if (tools.attachments) await new Promise(setImmediate);
  await turnsEnded(proxy);
  // All at once: each may take its grace period, and the end must not take the sum of them.
  await Promise.all([tools.bridging?.bridges.close(), tools.attachments?.close(), pool.stop(), context.workspace?.stop()]);
  for (const session of registry.all()) context.enforcement?.turnEnding(session);
}

function turnsEnded({ registry, context }: Parts<'context' | 'registry'>): Promise<void> {
  return new Promise((resolve) => {
    const poll = (leftMs: number) => {
      const isBusy = [...registry.all()].some(({ turns }) => turns.size > 0);
      if (!isBusy || leftMs <= 0) resolve();
      else context.clock.after(POLL_MS, () => poll(leftMs - POLL_MS));
    };
    poll(CANCEL_GRACE_MS);
  });
}
