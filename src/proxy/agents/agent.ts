// One agent over all its lives: started when first needed, its requests numbered by us, and whoever waits for it answered when it cannot be had.
import type { AgentSpec } from '../../agents/defaults.ts';
import type { Handshake } from '../../agents/handshake.ts';
import { failure, ProxyError } from '../../errors.ts';
import { createLedger } from '../../router/request-ledger.ts';
import { detach, type Frame } from '../../wire/frame.ts';
import type { Refusal } from '../../wire/scanner/strict-parse.ts';
import { inOrder, type Patch } from '../../wire/writer.ts';
import type { OpenRequest } from '../client/client-connection.ts';
import { errorLine, notificationLine, requestLine, resultLine } from '../messages.ts';
import type { Session } from '../sessions/session.ts';
import { type AgentConnection, type ConnectionDeps, HANDSHAKE_ID } from './agent-connection.ts';
import { AgentState } from './agent-state.ts';
import { earlierAnswer, earlierResult } from './legacy-frames.ts';
import { startAgent } from './start-agent.ts';

/** What becomes of a request at an agent: exactly one of the two is called, in the order in which the agent's frames arrive. */
export type Call = {
  readonly method: string;
  /** The editor's request behind it; undefined for one of our own. */
  readonly request: OpenRequest | undefined;
  /** The session it is about, where the answer does not name it. */
  readonly session?: Session | undefined;
  /** The answer has come; a policy may have to see to something before it is acted on. */
  readonly onActivity?: (() => void) | undefined;
  readonly onAnswer: (frame: Frame) => void;
  readonly onFail: (error: ProxyError) => void;
};

/** A request of the editor's, and what is put into it for the agent. */
export type ForwardedCall = Call & { patches(frame: Frame): readonly Patch[] };

export type Agent = Omit<AgentState, 'connection' | 'generation'> & {
  /** The connection of now, a new object for each start; undefined while the agent is not running. */
  readonly connection: AgentConnection | undefined;
  /** How often it has been started. */
  readonly generation: number;
  health(): AgentHealth;
  start(): void;
  /** Calls back when the agent can be talked to, or with the reason why it cannot; starts it if need be. */
  whenReady(onReady: () => void, onFail: (error: ProxyError) => void, bytes?: number): void;
  /** Sends a request with an id of ours in place of its own. */
  forward(frame: Frame, call: ForwardedCall): void;
  /** Sends a request of our own. */
  request(method: string, paramsText: string, call: Omit<Call, 'method' | 'request'>): void;
  notify(frame: Frame, patches: (frame: Frame) => readonly Patch[]): void;
  notifyLine(method: string, paramsText: string): void;
  /** Answers a request of the agent's. */
  answer(frame: Frame, idText: string): void;
  succeed(idText: string, resultText: string): void;
  fail(idText: string, error: ProxyError): void;
  /** The editor's request behind an id that the agent has seen. */
  findCall(idText: string): Call | undefined;
  pause(): void;
  resume(): void;
  /** Ends this life in good order, as if it had never been started; the next request begins another. */
  retire(): void;
  /** Nothing is left of the lives that are over. */
  left(): Promise<void>;
  stop(): Promise<void>;
  /** Everything of it, at once. */
  kill(): void;
};

/** What a person wants to know of an agent. */
export type AgentHealth = {
  /** `draining`: stopped by hand, and not over yet. */
  readonly state: 'idle' | 'starting' | 'ready' | 'unhealthy' | 'unavailable' | 'draining' | 'stopped';
  readonly pid: number | undefined;
  readonly uptimeMs: number | undefined;
  readonly restarts: number;
  readonly sessions: number;
  readonly inFlight: number;
  readonly lastError: ProxyError | undefined;
  /** Why it cannot be had now; undefined when it can. */
  readonly unavailable: ProxyError | undefined;
  /** Of the life that runs, else of the last one that failed. */
  readonly stderrTail: readonly string[];
};

export type AgentEvents = {
  readonly onFrame: (agent: Agent, frame: Frame) => void;
  readonly onRefused: (agent: Agent, refusal: Refusal) => void;
  /** An answer that somebody waits for: to be handed to `call.onAnswer`. */
  readonly onAnswer: (agent: Agent, call: Call, answer: Frame) => void;
  readonly onStray: (agent: Agent) => void;
  /** A notification that it could not be told. */
  readonly onUnsaid: () => void;
  /** Something about it that people may want to know. */
  readonly onRemark: (text: string) => void;
  readonly onReady: (agent: Agent, handshake: Handshake) => void;
  /** The process is over; its calls are about to be answered with the error. */
  readonly onDown: (agent: Agent, error: ProxyError, crashLoop: ProxyError | undefined) => void;
};

export type AgentDeps = ConnectionDeps & AgentEvents;

type Waiting = {
  readonly onReady: () => void;
  readonly onFail: (error: ProxyError) => void;
  /** Nobody waits for an answer, so that no process need be started for it alone. */
  readonly isNotification: boolean;
};

/** So many of those who wait for an agent that goes hear all that is known. */
const TOLD_IN_FULL = 16;

/** `of` is the agent's first leg, when this is a further process of it: they fail and recover together. */
export function createAgent(spec: AgentSpec, deps: AgentDeps, id: string = spec.name, of?: Agent): Agent {
  const { clock, limits } = deps;
  const who = `agent "${spec.name}"`;
  const calls = createLedger<Call>(HANDSHAKE_ID + 1);
  const state = new AgentState(spec, id, of);
  const { restart, service } = state;
  /** What ended lives have left to end. */
  const leavings = new Map<AgentConnection, Promise<void>>();
  let stopping: Promise<void> | undefined;
  let isPaused = false;
  let lastError: ProxyError | undefined;
  let waiting: Waiting[] = [];
  let waitingBytes = 0;

  function start(): void {
    if (state.connection || stopping || refusal()) return;
    state.generation++;
    let isOver = false;
    let current: AgentConnection | undefined;
    const memory = { found: () => self.selectedDialect, isKnown: () => self.handshake !== undefined, isBusy: () => calls.size() > 0 };
    current = startAgent(
      spec,
      { ...deps, ...memory },
      {
        ready(handshake, selected) {
          restart.started();
          self.handshake = handshake;
          self.selectedDialect = selected;
          deps.onReady(self, handshake);
          // One of them may lead to the end of this life, and the others then wait for the next.
          while (state.isReady && waiting.length > 0) (waiting.shift() as Waiting).onReady();
          if (waiting.length === 0) waitingBytes = 0;
        },
        frame: (frame) => deps.onFrame(self, frame),
        answer: answered,
        refused(refused) {
          deps.onRefused(self, refused);
          settleRefused(
            refused,
            (call) => failure('ANSWER_REFUSED', [who, call.method, refused.reason], { agent: spec.name }),
            failure('AMBIGUOUS', [refused.reason]),
          );
        },
        oversized(refused) {
          deps.onRefused(self, refused);
          const { maxFrameBytes } = limits;
          settleRefused(
            refused,
            () => failure('ANSWER_TOO_LONG', [who, maxFrameBytes], { agent: spec.name }),
            failure('FRAME_TOO_LONG', [maxFrameBytes]),
          );
        },
        remark: deps.onRemark,
        over(error, wasReady, leaving) {
          isOver = true;
          if (current) leave(current, leaving);
          if (current !== undefined && current !== state.connection) return; // it was retired, and nobody waits for it
          state.connection = undefined;
          gone(error, wasReady);
        },
      },
    );
    if (isOver) return;
    state.connection = current;
    if (isPaused) current.pause();
  }

  function leave(ended: AgentConnection, leaving: Promise<void>): void {
    leavings.set(
      ended,
      leaving.finally(() => leavings.delete(ended)),
    );
  }
  /** The process is over: nobody waits for it any longer. */
  function gone(error: ProxyError, wasReady: boolean): void {
    const nowMs = clock.monotonicMs();
    // A missing command fails at once each time, and costs nothing to try.
    if (error.key !== 'AGENT_MISSING' && !stopping) {
      if (wasReady) restart.crashed(nowMs);
      else restart.failedToStart(nowMs);
    }
    lastError = error;
    self.earlierReads.clear();
    deps.onDown(self, error, restart.refusal(nowMs)?.kind === 'crash-loop' ? refusal() : undefined);
    // Thousands may wait, and what its last frames were is long: the first of them are told.
    const brief = withoutFrames(error);
    let told = 0;
    const next = () => (told++ < TOLD_IN_FULL ? error : brief);
    // Taken first: what waited behind one of the calls goes on when that fails, and is for the next life.
    const left = takeWaiting();
    for (const call of calls.drain()) call.onFail(next());
    for (const { onFail } of left) onFail(next());
  }
  /** Why it cannot be started now; undefined when it can. */
  function refusal(): ProxyError | undefined {
    if (service.isStopped) return failure('AGENT_STOPPED', [spec.name], { agent: spec.name, reason: 'stopped' });
    const refused = restart.refusal(clock.monotonicMs());
    if (!refused) return undefined;
    const seconds = Math.ceil(refused.waitMs / 1000);
    const data = { agent: spec.name, reason: refused.kind, retryInMs: Math.ceil(refused.waitMs) };
    if (refused.kind === 'crash-loop')
      return failure('AGENT_CRASH_LOOP', [spec.name, spec.restart.max, spec.restart.windowS, seconds], data);
    const cause = lastError && { cause: { reason: lastError.data?.reason, message: lastError.message } };
    return failure('AGENT_UNAVAILABLE', [spec.name, seconds, lastError?.message ?? ''], { ...lastError?.data, ...data, ...cause });
  }
  function takeWaiting(): readonly Waiting[] {
    const taken = waiting;
    waiting = [];
    waitingBytes = 0;
    return taken;
  }

  function answered(idText: string, frame: Frame): void {
    const call = calls.settle(idText);
    if (!call) return deps.onStray(self);
    call.onActivity?.();
    if (frame.outcome === 'unclear') call.onFail(failure('ANSWER_UNCLEAR', [who, call.method], { agent: spec.name }));
    else deps.onAnswer(self, call, frame);
  }
  /** A line that cannot be passed on. If it was an answer, whoever waits for it hears so; if a request, the agent does. */
  function settleRefused({ kind, idText, why }: Refusal, toWaiting: (call: Call) => ProxyError, toAgent: ProxyError): void {
    if (idText === undefined) return;
    const call = kind === 'response' ? calls.settle(idText) : undefined;
    call?.onFail(toWaiting(call));
    if (kind === 'request' && why !== 'broken') self.fail(idText, toAgent);
  }
  function wait(one: Waiting, bytes: number): void {
    if (stopping) return one.onFail(failure('SHUTTING_DOWN', []));
    // What runs when it is stopped by hand may still be told of, and that is by notifications.
    const isRefused = state.connection === undefined || (service.isStopped && !one.isNotification);
    if (state.isReady && !isRefused) return one.onReady();
    const refused = isRefused ? refusal() : undefined;
    if (refused) return one.onFail(refused);
    if (waitingBytes + bytes > limits.maxQueueBytes)
      return one.onFail(failure('AGENT_BACKLOG', [spec.name, limits.maxQueueBytes], { agent: spec.name }));
    waitingBytes += bytes;
    waiting.push(one);
    start();
  }
  /** A request need not wait: not for a start, nor to hear that there will be none. */
  function isOpen(): boolean {
    return state.isReady && stopping === undefined && !service.isStopped;
  }
  function sendRequest(frame: Frame, call: ForwardedCall): void {
    if (call.request?.isAnswered) return call.onFail(failure('CANCELLED', [call.method])); // taken back while it waited
    const own = { span: frame.id as { start: number; end: number }, text: place(call) };
    state.connection?.sendFrame(frame, inOrder([own, ...call.patches(frame)]));
  }
  function place(call: Call): string {
    const id = calls.open(call);
    if (call.request) call.request.at = { agent: self, id };
    return id;
  }
  function stateOf(): AgentHealth['state'] {
    if (service.isStopped) return state.connection ? 'draining' : 'stopped';
    if (!state.connection) return refusal() ? 'unavailable' : 'idle';
    return state.connection.isHealthy() ? (state.isReady ? 'ready' : 'starting') : 'unhealthy';
  }
  /** A frame that has to wait must own its bytes, and its patches are for where they then lie. */
  const kept = (frame: Frame): Frame => (state.isReady ? frame : detach(frame));

  const self: Agent = Object.assign(state, {
    health: () => ({
      state: stateOf(),
      pid: state.connection?.pid(),
      uptimeMs: state.connection && clock.monotonicMs() - state.connection.sinceMs,
      restarts: restart.restarts,
      sessions: self.sessions.size,
      inFlight: calls.size(),
      lastError,
      unavailable: state.connection ? undefined : refusal(),
      stderrTail: state.connection?.stderrTail() ?? (lastError?.data?.stderr as readonly string[] | undefined) ?? [],
    }),
    start,
    whenReady: (onReady, onFail, bytes = 0) => wait({ onReady, onFail, isNotification: false }, bytes),
    forward(frame, call) {
      if (isOpen()) return sendRequest(frame, call);
      const mine = kept(frame);
      self.whenReady(
        () => sendRequest(mine, call),
        (error) => call.onFail(error),
        mine.end - mine.start,
      );
    },
    request(method, paramsText, call) {
      const { onFail } = call;
      self.whenReady(() => {
        const id = place({ ...call, method, request: undefined });
        state.connection?.sendLine(requestLine(id, method, paramsText));
      }, onFail);
    },
    notify(frame, patches) {
      const mine = kept(frame);
      const ready = () => state.connection?.sendFrame(mine, inOrder(patches(mine)));
      wait({ onReady: ready, onFail: deps.onUnsaid, isNotification: true }, mine.end - mine.start);
    },
    notifyLine(method, paramsText) {
      if (state.isReady) state.connection?.sendLine(notificationLine(method, paramsText));
    },
    answer(frame, idText) {
      const patches: Patch[] = [{ span: frame.id as { start: number; end: number }, text: idText }];
      if (self.earlierReads.size > 0) patches.push(...earlierAnswer(self, idText, frame));
      state.connection?.sendFrame(frame, inOrder(patches));
    },
    succeed(idText, resultText) {
      const text = self.earlierReads.delete(idText) ? earlierResult(resultText) : resultText;
      state.connection?.sendLine(resultLine(idText, text));
    },
    fail(idText, error) {
      self.earlierReads.delete(idText);
      state.connection?.sendLine(errorLine(idText, error));
    },
    findCall: calls.find,
    pause() {
      isPaused = true;
      state.connection?.pause();
    },
    resume() {
      isPaused = false;
      state.connection?.resume();
    },
    retire() {
      if (!state.connection) return;
      leave(state.connection, state.connection.retire());
      state.connection = undefined;
      for (const call of calls.drain()) call.onFail(failure('CANCELLED', [call.method]));
      for (const { isNotification, onFail } of waiting) if (isNotification) onFail(failure('CANCELLED', ['a notification']));
      waiting = waiting.filter(({ isNotification }) => !isNotification);
      if (waiting.length === 0) return;
      const refused = refusal();
      if (refused) for (const { onFail } of takeWaiting()) onFail(refused);
      else start();
    },
    async left() {
      await Promise.all(leavings.values());
    },
    stop() {
      stopping ??= (async () => {
        await Promise.all([state.connection?.stop(), ...leavings.values()]);
      })();
      return stopping;
    },
    kill() {
      state.connection?.kill();
      for (const ended of leavings.keys()) ended.kill();
    },
  } satisfies Omit<Agent, keyof AgentState>);
  return self;
}

function withoutFrames(error: ProxyError): ProxyError {
  const { lastFrames: _, ...data } = error.data ?? {};
  return new ProxyError(error.key, error.message, data);
}
