// One agent over all its connections: started when first needed. Requests to it get our ids, and callers get an answer even when it cannot start.
import { OPENS_SESSION } from '../../acp/methods.ts';
import type { AgentSpec } from '../../agents/defaults.ts';
import type { Handshake } from '../../agents/handshake.ts';
import type { SelectedDialect } from '../../dialects/select-dialect.ts';
import { failure, ProxyError } from '../../errors.ts';
import { createPendingIds } from '../../router/pending-ids.ts';
import { detach, type Frame } from '../../wire/frame.ts';
import type { FrameBatch } from '../../wire/scanner/frame-batch.ts';
import type { Refusal } from '../../wire/scanner/strict-parse.ts';
import { inOrder, type Patch } from '../../wire/writer.ts';
import type { ContainCommand } from '../../workspace/terminal.ts';
import type { ClientRequest } from '../boundary.ts';
import { errorLine, notificationLine, requestLine, resultLine } from '../json-rpc-lines.ts';
import type { Session } from '../sessions/session.ts';
import { type AgentConnection, type ConnectionDeps, HANDSHAKE_ID } from './agent-connection.ts';
import { AgentState } from './agent-state.ts';
import { earlierAnswer, earlierResult } from './legacy-frames.ts';
import { type LaunchDeps, type ProcessContext, reachAll } from './process-context.ts';
import { startAgent } from './start-in-dialect.ts';
import { modeInBoth, modeTextInBoth, openedFrame, SET_MODE } from './unmarked-webapp.ts';
import { type Caller, WaitingCallers } from './waiting-callers.ts';

/** A request at an agent. Exactly one of `onAnswer` and `onFail` is called, in the order in which the agent's frames arrive. */
export type Call = {
  readonly method: string;
  /** The client's request behind it; undefined for our own. */
  readonly request: ClientRequest | undefined;
  /** The session of the request, where the answer does not name it. */
  readonly session?: Session | undefined;
  /** The answer has arrived; a policy may have to act before `onAnswer` is called. */
  readonly onActivity?: (() => void) | undefined;
  readonly onAnswer: (frame: Frame) => void;
  readonly onFail: (error: ProxyError) => void;
};

/** A request from the client, with its changes for the agent. */
export type ForwardedCall = Call & { patches(frame: Frame): readonly Patch[] };

/** The health of an agent, for people. */
export type AgentHealth = {
  /** `draining`: the user stopped it, and it still runs. */
  readonly state: 'idle' | 'starting' | 'ready' | 'unhealthy' | 'unavailable' | 'draining' | 'stopped';
  readonly pid: number | undefined;
  readonly uptimeMs: number | undefined;
  readonly restarts: number;
  readonly sessions: number;
  readonly inFlight: number;
  readonly lastError: ProxyError | undefined;
  /** Why it cannot be used now. */
  readonly unavailable: ProxyError | undefined;
  /** Of the current connection, else of the last one that failed. */
  readonly stderrTail: readonly string[];
};

export type AgentEvents = {
  readonly onFrame: (agent: Agent, frame: Frame) => void;
  /** Notifications that differ in one text and their session only. False if they are to be reported one by one. */
  readonly onBatch?: (agent: Agent, batch: FrameBatch) => boolean;
  readonly onRefused: (agent: Agent, refusal: Refusal) => void;
  /** Under a policy only: checks the answer to an open call, then passes it to `call.onAnswer`. */
  readonly onAnswer: ((agent: Agent, call: Call, answer: Frame) => void) | undefined;
  readonly onStray: (agent: Agent) => void;
  /** A notification could not be sent to the agent. */
  readonly onUnsent: () => void;
  /** A message for people. */
  readonly onRemark: (text: string, level?: 'debug') => void;
  readonly onReady: (agent: Agent, handshake: Handshake) => void;
  /** The connection has ended; its calls are about to fail with `error`. */
  readonly onDown: (agent: Agent, error: ProxyError, crashLoop: ProxyError | undefined) => void;
};

export type AgentDeps = Omit<ConnectionDeps, 'launch'> & AgentEvents & LaunchDeps<Agent>;

/** The first callers get the whole error, with the agent's last frames; thousands may wait, and that is long. */
const FULL_ERRORS = 16;

/** A class: its fields are read for every frame, and V8 reads an object with its own getters as a dictionary. */
export class Agent extends AgentState {
  readonly #deps: AgentDeps;
  readonly #calls = createPendingIds<Call>(HANDSHAKE_ID + 1);
  readonly #waiting = new WaitingCallers();
  /** Connections whose processes are still ending. */
  readonly #ending = new Map<AgentConnection, Promise<void>>();
  #stopping: Promise<void> | undefined;
  #isPaused = false;
  #lastError: ProxyError | undefined;

  /** `sibling` is the agent whose further process this is: they fail and recover together. */
  constructor(spec: AgentSpec, deps: AgentDeps, id: string = spec.name, sibling?: Agent) {
    super(spec, id, sibling);
    this.#deps = deps;
  }

  health(): AgentHealth {
    const { connection } = this;
    return {
      state: this.#healthState(),
      pid: connection?.pid(),
      uptimeMs: connection && this.#deps.clock.monotonicMs() - connection.sinceMs,
      restarts: this.restart.restarts,
      sessions: this.sessions.size,
      inFlight: this.#calls.size(),
      lastError: this.#lastError,
      unavailable: connection ? undefined : this.#refusal(),
      stderrTail: connection?.stderrTail() ?? (this.#lastError?.data?.stderr as readonly string[] | undefined) ?? [],
    };
  }

  start(): void {
    if (this.connection || this.#stopping || this.#refusal()) return;
    this.generation++;
    let hasEnded = false;
    let current: AgentConnection | undefined;
    current = startAgent(
      this.spec,
      {
        ...this.#deps,
        launch: (spec) => this.#deps.launch(spec, this.#context),
        found: () => this.selectedDialect,
        isBusy: () => this.#calls.size() > 0,
      },
      {
        ready: (handshake, selected) => this.#ready(handshake, selected),
        frame: (frame) => this.#deps.onFrame(this, frame),
        batch: (batch) => this.#deps.onBatch?.(this, batch) === true,
        answer: (idText, frame) => this.#answered(idText, frame),
        refused: (refusal) => this.#refused(refusal),
        oversized: (refusal) => this.#oversized(refusal),
        remark: this.#deps.onRemark,
        ended: (error, wasReady, processEnd) => {
          hasEnded = true;
          if (current) this.#noteEnding(current, processEnd);
          if (current !== undefined && current !== this.connection) return; // retired before: nobody waits for it
          this.connection = undefined;
          this.#ended(error, wasReady);
        },
      },
    );
    if (hasEnded) return;
    this.connection = current;
    if (this.#isPaused) current.pause();
  }

  /** The session's directories, before its process starts. A process that was made for others is replaced. */
  confineTo(directories: readonly string[]): void {
    if (!this.isContained || JSON.stringify(directories) === JSON.stringify(this.directories)) return;
    this.directories = directories;
    this.retire();
  }

  /** Makes loopback ports reachable for an agent with a network of its own, then calls back. */
  reach(ports: readonly number[], then: () => void): void {
    reachAll(this.connection?.reach, ports, then);
  }

  /** Puts a command that is started for this agent into its sandbox; undefined if it has none. */
  get containCommand(): ContainCommand | undefined {
    return this.isContained ? this.#deps.containCommand?.(this.spec, this.#context) : undefined;
  }

  /** Calls back when the agent is ready, or with the reason why it cannot be; starts it if necessary. */
  whenReady(onReady: () => void, onFail: (error: ProxyError) => void, bytes = 0): void {
    this.#wait({ onReady, onFail, isNotification: false }, bytes);
  }

  /** Sends a request with our id in place of its own. */
  forward(frame: Frame, call: ForwardedCall): void {
    if (this.connection?.isReady() && this.#stopping === undefined && !this.service.isStopped) return this.#sendRequest(frame, call);
    const kept = this.#kept(frame);
    this.whenReady(
      () => this.#sendRequest(kept, call),
      (error) => call.onFail(error),
      kept.end - kept.start,
    );
  }

  /** Sends our own request. */
  request(method: string, paramsText: string, call: Omit<Call, 'method' | 'request'>): void {
    this.whenReady(() => {
      const id = this.#open({ ...call, method, request: undefined });
      const isBoth = this.hasSnakeModes && method === SET_MODE;
      this.connection?.sendLine(requestLine(id, method, isBoth ? modeTextInBoth(paramsText) : paramsText));
    }, call.onFail);
  }

  notify(frame: Frame, patches: (frame: Frame) => readonly Patch[]): void {
    const kept = this.#kept(frame);
    const onReady = () => this.connection?.sendFrame(kept, inOrder(patches(kept)));
    this.#wait({ onReady, onFail: this.#deps.onUnsent, isNotification: true }, kept.end - kept.start);
  }

  notifyLine(method: string, paramsText: string): void {
    if (this.isReady) this.connection?.sendLine(notificationLine(method, paramsText));
  }

  /** Answers a request from the agent. */
  answer(frame: Frame, idText: string): void {
    const patches: Patch[] = [{ span: frame.id as { start: number; end: number }, text: idText }];
    if (this.earlierReads.size > 0) patches.push(...earlierAnswer(this, idText, frame));
    this.connection?.sendFrame(frame, inOrder(patches));
  }

  succeed(idText: string, resultText: string): void {
    const text = this.earlierReads.delete(idText) ? earlierResult(resultText) : resultText;
    this.connection?.sendLine(resultLine(idText, text));
  }

  fail(idText: string, error: ProxyError): void {
    this.earlierReads.delete(idText);
    this.connection?.sendLine(errorLine(idText, error));
  }

  /** The call behind an id that the agent has seen. */
  findCall(idText: string): Call | undefined {
    return this.#calls.find(idText);
  }

  pause(): void {
    this.#isPaused = true;
    this.connection?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.connection?.resume();
  }

  /** Closes the connection cleanly, as if it had never been opened; the next request opens another. */
  retire(): void {
    const { connection } = this;
    if (!connection) return;
    this.#noteEnding(connection, connection.retire());
    this.connection = undefined;
    for (const call of this.#calls.drain()) call.onFail(failure('CANCELLED', [call.method]));
    for (const { onFail } of this.#waiting.takeNotifications()) onFail(failure('CANCELLED', ['a notification']));
    if (this.#waiting.size === 0) return;
    const refused = this.#refusal();
    if (refused) for (const { onFail } of this.#waiting.take()) onFail(refused);
    else this.start();
  }

  /** Resolves when nothing is left of the connections that have ended. */
  async processesEnded(): Promise<void> {
    await Promise.all(this.#ending.values());
  }

  stop(): Promise<void> {
    this.#stopping ??= Promise.all([this.connection?.stop(), ...this.#ending.values()]).then(() => {});
    return this.#stopping;
  }

  /** Ends all its processes at once. */
  kill(): void {
    this.connection?.kill();
    for (const ending of this.#ending.keys()) ending.kill();
  }

  #healthState(): AgentHealth['state'] {
    const { connection, service } = this;
    if (service.isStopped) return connection ? 'draining' : 'stopped';
    if (!connection) return this.#refusal() ? 'unavailable' : 'idle';
    if (!connection.isHealthy()) return 'unhealthy';
    return connection.isReady() ? 'ready' : 'starting';
  }

  #ready(handshake: Handshake, selected: SelectedDialect): void {
    this.restart.started();
    this.noteHandshake(handshake, selected);
    this.#deps.onReady(this, handshake);
    this.#waiting.runWhile(() => this.isReady);
  }

  #noteEnding(connection: AgentConnection, processEnd: Promise<void>): void {
    this.#ending.set(
      connection,
      processEnd.finally(() => this.#ending.delete(connection)),
    );
  }

  /** The connection ended by itself: everything that waits for it fails. */
  #ended(error: ProxyError, wasReady: boolean): void {
    const nowMs = this.#deps.clock.monotonicMs();
    // A missing command fails at once each time, and costs nothing to try.
    if (error.key !== 'AGENT_MISSING' && !this.#stopping) {
      if (wasReady) this.restart.crashed(nowMs);
      else this.restart.failedToStart(nowMs);
    }
    this.#lastError = error;
    this.service.lastError = error;
    this.earlierReads.clear();
    this.#deps.onDown(this, error, this.restart.refusal(nowMs)?.kind === 'crash-loop' ? this.#refusal() : undefined);
    const brief = withoutFrames(error);
    let count = 0;
    const next = () => (count++ < FULL_ERRORS ? error : brief);
    // Taken first: a call that fails may let another caller wait, and that one waits for the next connection.
    const callers = this.#waiting.take();
    for (const call of this.#calls.drain()) call.onFail(next());
    for (const { onFail } of callers) onFail(next());
  }

  /** Why it cannot be started now; undefined when it can. */
  #refusal(): ProxyError | undefined {
    const { spec } = this;
    const { lastError } = this.service;
    if (this.service.isStopped) return failure('AGENT_STOPPED', [spec.name], { agent: spec.name, reason: 'stopped' });
    const refused = this.restart.refusal(this.#deps.clock.monotonicMs());
    if (!refused) return undefined;
    const seconds = Math.ceil(refused.waitMs / 1000);
    const data = { agent: spec.name, reason: refused.kind, retryInMs: Math.ceil(refused.waitMs) };
    if (refused.kind === 'crash-loop')
      return failure('AGENT_CRASH_LOOP', [spec.name, spec.restart.max, spec.restart.windowS, seconds], data);
    const cause = lastError && { cause: { reason: lastError.data?.reason, message: lastError.message } };
    return failure('AGENT_UNAVAILABLE', [spec.name, seconds, lastError?.message ?? ''], { ...lastError?.data, ...data, ...cause });
  }

  #answered(idText: string, received: Frame): void {
    const call = this.#calls.settle(idText);
    if (!call) return this.#deps.onStray(this);
    const frame = OPENS_SESSION.has(call.method) ? openedFrame(this, received) : received;
    call.onActivity?.();
    if (frame.outcome === 'unclear') call.onFail(failure('ANSWER_UNCLEAR', [this.#label, call.method], { agent: this.name }));
    else if (this.#deps.onAnswer) this.#deps.onAnswer(this, call, frame);
    else call.onAnswer(frame);
  }

  #refused(refusal: Refusal): void {
    const { reason } = refusal;
    this.#deps.onRefused(this, refusal);
    const toCaller = ({ method }: Call) => failure('ANSWER_REFUSED', [this.#label, method, reason], { agent: this.name });
    this.#settleRefused(refusal, toCaller, failure('AMBIGUOUS', [reason]));
  }

  #oversized(refusal: Refusal): void {
    const { maxFrameBytes } = this.#deps.limits;
    this.#deps.onRefused(this, refusal);
    const toCaller = () => failure('ANSWER_TOO_LONG', [this.#label, maxFrameBytes], { agent: this.name });
    this.#settleRefused(refusal, toCaller, failure('FRAME_TOO_LONG', [maxFrameBytes]));
  }

  /** A line that is not passed on still settles its call, if it was an answer, and is answered, if it was a request. */
  #settleRefused({ kind, idText, why }: Refusal, toCaller: (call: Call) => ProxyError, toAgent: ProxyError): void {
    if (idText === undefined) return;
    const call = kind === 'response' ? this.#calls.settle(idText) : undefined;
    call?.onFail(toCaller(call));
    if (kind === 'request' && why !== 'broken') this.fail(idText, toAgent);
  }

  #wait(caller: Caller, bytes: number): void {
    if (this.#stopping) return caller.onFail(failure('SHUTTING_DOWN', []));
    // An agent that the user stopped still gets notifications while it runs.
    const isRefused = this.connection === undefined || (this.service.isStopped && !caller.isNotification);
    if (this.isReady && !isRefused) return caller.onReady();
    const refused = isRefused ? this.#refusal() : undefined;
    if (refused) return caller.onFail(refused);
    const { maxQueueBytes } = this.#deps.limits;
    if (this.#waiting.bytes + bytes > maxQueueBytes)
      return caller.onFail(failure('AGENT_BACKLOG', [this.name, maxQueueBytes], { agent: this.name }));
    this.#waiting.add(caller, bytes);
    this.start();
  }

  #sendRequest(frame: Frame, call: ForwardedCall): void {
    if (call.request?.isAnswered) return call.onFail(failure('CANCELLED', [call.method])); // withdrawn while it waited
    const own = { span: frame.id as { start: number; end: number }, text: this.#open(call) };
    const both = this.hasSnakeModes && call.method === SET_MODE ? modeInBoth(frame) : [];
    this.connection?.sendFrame(frame, inOrder([own, ...both, ...call.patches(frame)]));
  }

  #open(call: Call): string {
    const id = this.#calls.open(call);
    if (call.request) call.request.forwardedTo = { agent: this, id };
    return id;
  }

  /** A frame that has to wait owns its bytes, and its patches refer to those. */
  #kept(frame: Frame): Frame {
    return this.isReady ? frame : detach(frame);
  }

  get #context(): ProcessContext {
    return {
      process: this.id,
      sessionId: this.isIsolated ? this.sessions.keys().next().value : undefined,
      directories: this.directories,
      layer: this.layer,
      decideHost: async (host, port, isListed, signal) =>
        this.#deps.decideHost?.(this, host, port, isListed, signal) ?? 'no host is allowed',
    };
  }

  get #label(): string {
    return `agent "${this.name}"`;
  }
}

function withoutFrames(error: ProxyError): ProxyError {
  const { lastFrames: _, ...data } = error.data ?? {};
  return new ProxyError(error.key, error.message, data);
}
