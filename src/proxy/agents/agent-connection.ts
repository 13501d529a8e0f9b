// One connection to an agent: its start, its answer to initialize, and its end. A restart makes another one; an ended one drops what is sent to it.
import { randomUUID } from 'node:crypto';
import type { AgentSpec } from '../../agents/defaults.ts';
import { type Handshake, readHandshake } from '../../agents/handshake.ts';
import { runnerOf } from '../../agents/package-runner.ts';
import { type FirstOutput, PLAIN, type SelectedDialect, translate } from '../../dialects/select-dialect.ts';
import { failure, type ProxyError } from '../../errors.ts';
import { summaryLine } from '../../transports/stderr-tail.ts';
import type { Exit, Transport } from '../../transports/transport.ts';
import { createConnection } from '../../wire/connection.ts';
import type { Frame, Limits } from '../../wire/frame.ts';
import type { ConnectionRecords } from '../../wire/observer.ts';
import { endOf, type FrameBatch } from '../../wire/scanner/frame-batch.ts';
import { idTextOf } from '../../wire/scanner/large-frame.ts';
import type { Scanner } from '../../wire/scanner/scanner.ts';
import { type Refusal, readBody } from '../../wire/scanner/strict-parse.ts';
import type { Patch } from '../../wire/writer.ts';
import type { Clock } from '../context.ts';
import { requestLine } from '../json-rpc-lines.ts';
import { createTrafficWarnings } from '../traffic-warnings.ts';
import { coalescePlans } from './coalesce-plans.ts';
import { limitStart } from './limit-start.ts';
import { mapPaths } from './map-paths.ts';

/** `ending`: we have closed its input. `ended`: nothing comes from it and nothing goes to it any more. */
export type ConnectionState = 'starting' | 'ready' | 'ending' | 'ended';

export type AgentConnection = {
  state(): ConnectionState;
  /** The agent has answered initialize. */
  isReady(): boolean;
  /** False after many lines in a row that cannot be passed on. */
  isHealthy(): boolean;
  pid(): number | undefined;
  readonly sinceMs: number;
  stderrTail(withinMs?: number): readonly string[];
  sendFrame(frame: Frame, patches: readonly Patch[]): void;
  sendLine(line: string): void;
  pause(): void;
  resume(): void;
  /** Stops it cleanly; `over` reports the end. */
  stop(): Promise<void>;
  /** Stops it cleanly, and reports nothing any more. */
  retire(): Promise<void>;
  kill(): void;
  readonly reach: Transport['reach'];
  readonly uncovered: Transport['uncovered'];
  readonly refusal: Transport['refusal'];
};

export type ConnectionDeps = {
  readonly launch: (spec: AgentSpec) => Transport;
  readonly limits: Limits;
  readonly scanner: Scanner;
  readonly clock: Clock;
  /** The params of initialize. */
  readonly initializeParams: () => string;
  /** Records the frames of this agent. */
  readonly records?: ConnectionRecords | undefined;
  /** It has an open request. */
  readonly isBusy?: () => boolean;
  /** The policy has evaluated enough for now: others wait. */
  readonly mustYield?: (() => boolean) | undefined;
  /** It is started for a test only. */
  readonly isTrial?: boolean;
};

export type ConnectionEvents = {
  ready(handshake: Handshake): void;
  /** Its first output is not ACP. True when another dialect is tried instead, and this connection is useless. */
  suspect?(output: FirstOutput): boolean;
  /** A request or a notification. */
  frame(frame: Frame): void;
  /** Notifications that differ in one text and their session only. False if they are to be reported one by one. */
  batch?(batch: FrameBatch): boolean;
  answer(idText: string, frame: Frame): void;
  /** A line that was not passed on. */
  refused(refusal: Refusal): void;
  oversized(refusal: Refusal): void;
  /** A message for people. */
  remark?(text: string, level?: 'debug'): void;
  /** Nothing will come from it any more. `processEnd` resolves when nothing of the process is left. */
  ended(error: ProxyError, wasReady: boolean, processEnd: Promise<void>): void;
};

export const HANDSHAKE_ID = 0;
/** How long before its exit a working agent may have written the lines that explain it. */
const LAST_OUTPUT_MS = 1000;
/** Signals that a process raises by its own fault. */
const CRASH_SIGNALS: ReadonlySet<string> = new Set(['SIGABRT', 'SIGSEGV', 'SIGBUS', 'SIGILL', 'SIGFPE', 'SIGTRAP']);
/** The lines of stderr that go with an error. */
export const STDERR_LINES = 20;
const HANG_UP_MS = 1000;
const STUCK_MS = 60_000;
const UNHEALTHY_BAD_LINES = 100;

export function openConnection(
  spec: AgentSpec,
  deps: ConnectionDeps,
  events: ConnectionEvents,
  selected: SelectedDialect = PLAIN,
): AgentConnection {
  const { limits, scanner, clock } = deps;
  const plans = spec.coalescePlansMs > 0 ? coalescePlans(events, afterSafely, spec.coalescePlansMs) : undefined;
  const on = plans?.events ?? events;
  const process = deps.launch(spec);
  let state: ConnectionState = 'starting';
  /** Also while it is ending: the agent may answer initialize until its process has gone. */
  let isReady = false;
  let badLines = 0;
  const watch = createTrafficWarnings(clock, `agent "${spec.name}"`, (text) => on.remark?.(text));
  let cancelHangUp: (() => void) | undefined;
  let cancelReading: (() => void) | undefined;
  const abandon = limitStart(
    { clock, limitMs: spec.timeouts.initializeMs, runner: runnerOf(spec), pid: process.pid },
    (runner) => {
      const progress = summaryLine(process.stderrTail());
      const shown = progress === undefined ? '' : ` (${progress})`;
      on.remark?.(`agent "${spec.name}" has not started yet: ${runner} is still downloading its package${shown}`);
    },
    (ms) => end(failure('AGENT_SILENT', [spec.name, ms, summaryLine(process.stderrTail())], details('no_initialize'))),
  );
  const { files } = spec.remote ?? {};
  const streams = translate(
    process,
    selected,
    {
      ...{ agent: spec.name, isNamed: spec.dialect === selected.dialect, timeouts: spec.timeouts },
      ...{ maxLineBytes: spec.maxLineBytes, mint: randomUUID },
    },
    {
      scanner,
      maxFrameBytes: limits.maxFrameBytes,
      after: clock.after,
      remark: (text, level) => on.remark?.(text, level),
      kill: () => end(failure('AGENT_UNSTOPPABLE', [spec.name], details('cancel_ignored'))),
    },
  );
  const { fromAgent, toAgent } = typeof files === 'object' ? mapPaths(streams, files.map, spec.name) : streams;
  const agent = createConnection(
    fromAgent,
    toAgent,
    { scanner, maxFrameBytes: limits.maxFrameBytes, observer: deps.records?.observer },
    {
      frame(frame) {
        try {
          received(frame);
        } catch (error) {
          unreadable(error);
        }
      },
      batch(batch) {
        try {
          return receivedBatch(batch);
        } catch (error) {
          unreadable(error);
          return true;
        }
      },
      refused(refusal, line) {
        if (state === 'ended') return;
        if (!isReady && on.suspect?.({ kind: 'noise', line: line.toString('latin1') })) return;
        badLines++;
        on.refused(refusal);
      },
      oversized({ kind, idText, method }) {
        if (state !== 'ended') on.oversized({ why: 'foreign', reason: 'longer than limits.max_frame_bytes', kind, idText, method });
      },
      full: watchReading,
      ...(deps.mustYield && { mustYield: deps.mustYield }),
      end: () => hungUp('stdout'),
      error: () => hungUp('stdin or stdout'),
    },
  );
  process.onExit((exit) => {
    streams.exited(exit.kind === 'exited' ? exit.code : null);
    end(whyGone(exit));
  });
  // A dialect may answer in place of its agent, but not for one that has not started.
  const isStarted = process.pid !== undefined || selected.dialect === 'acp';
  if (isStarted) agent.writer.line(requestLine(String(HANDSHAKE_ID), 'initialize', deps.initializeParams()));

  function received(frame: Frame): void {
    if (state === 'ended') return;
    if (badLines > 0) badLines = 0;
    watch(frame.end - frame.start);
    if (frame.kind !== 'response') {
      if (!isReady && on.suspect?.({ kind: 'method', method: frame.method as string })) return;
      return on.frame(frame);
    }
    const idText = idTextOf(frame);
    if (isReady || idText !== String(HANDSHAKE_ID)) return on.answer(idText, frame);
    const handshake = readHandshake(spec.name, frame);
    if (handshake instanceof Error) {
      const body = readBody(frame);
      if (body.ok && on.suspect?.({ kind: 'answer', [frame.outcome === 'error' ? 'error' : 'result']: body.value })) return;
      return end(handshake);
    }
    abandon();
    isReady = true;
    if (state === 'starting') state = 'ready';
    on.ready(handshake);
  }
  function receivedBatch(batch: FrameBatch): boolean {
    if (state === 'ended') return true;
    if (!isReady || !on.batch?.(batch)) return false;
    badLines = 0;
    watch(endOf(batch) - batch.first.start, batch.ends.length);
    return true;
  }
  function afterSafely(ms: number, act: () => void): () => void {
    return clock.after(ms, () => {
      try {
        act();
      } catch (error) {
        unreadable(error);
      }
    });
  }
  /** A bug in the proxy: it must not end the sessions of other agents. */
  function unreadable(error: unknown): void {
    end(failure('AGENT_UNREADABLE', [spec.name, String((error as Error).message)], details('unreadable')));
  }
  function end(error: ProxyError): void {
    if (state === 'ended') return;
    const wasStopped = state === 'ending';
    plans?.flush();
    release();
    // Processes that an agent leaves behind get time to end by themselves; an agent that hangs does not.
    if (error.key !== 'AGENT_GONE' && error.key !== 'AGENT_DISCONNECTED') process.kill();
    deps.records?.down(wasStopped ? 'stopped' : String(error.data?.reason ?? error.key));
    on.ended(error, isReady, process.stop());
  }
  function release(): void {
    state = 'ended';
    abandon();
    cancelHangUp?.();
    cancelReading?.();
    plans?.stop();
    streams.stop();
  }
  /** An agent that stops reading fails when its queue is full; pausing the client instead would stall every agent. */
  function endIfUnresponsive(): void {
    if (agent.writer.queuedBytes() > limits.maxQueueBytes)
      end(failure('AGENT_DEAF', [spec.name, limits.maxQueueBytes], details('queue_full')));
  }
  /** The exit usually follows and says more; a process without one of its streams is useless. */
  function hungUp(stream: string): void {
    if (state === 'ended') return;
    cancelHangUp ??= clock.after(HANG_UP_MS, () => end(failure('AGENT_HUNG_UP', [spec.name, stream], details('hung_up'))));
  }
  /** An agent that reads nothing at all is stuck, not slow, however little is queued. */
  function watchReading(): void {
    if (cancelReading) return;
    const takenBytes = agent.writer.takenBytes();
    cancelReading = clock.after(STUCK_MS, () => {
      cancelReading = undefined;
      if (state === 'ended' || agent.writer.queuedBytes() === 0) return;
      if (agent.writer.takenBytes() > takenBytes) return watchReading();
      end(failure('AGENT_STUCK', [spec.name, STUCK_MS / 1000], details('not_reading')));
    });
  }
  function details(reason: string): Record<string, unknown> {
    const lastFrames = deps.records?.lastFrames() ?? [];
    return { agent: spec.name, reason, stderr: process.stderrTail().slice(-STDERR_LINES), ...(lastFrames.length > 0 && { lastFrames }) };
  }
  function whyGone(exit: Exit): ProxyError {
    if (exit.kind === 'unstartable')
      return failure('AGENT_MISSING', [spec.name, spec.command, exit.why, exit.next], {
        agent: spec.name,
        reason: 'not_startable',
        command: spec.command,
      });
    if (exit.kind === 'unreachable')
      return failure('AGENT_UNREACHABLE', [spec.name, spec.remote?.address ?? spec.command, exit.why, exit.next], {
        agent: spec.name,
        reason: 'not_reachable',
      });
    const hadOpenRequest = !isReady || deps.isBusy?.() === true;
    if (exit.kind === 'disconnected') {
      const { why } = exit;
      return failure('AGENT_DISCONNECTED', [spec.name, why, hadOpenRequest], { ...details('disconnected'), why });
    }
    const { code, signal } = exit;
    const how = signal === null ? `code ${code}` : `signal ${signal}`;
    // An agent that was killed during work is probably not at fault.
    const isWorthTest = !deps.isTrial && hadOpenRequest && !(isReady && signal !== null);
    // What an agent logged before it was killed does not tell why.
    const isKilled = signal !== null && !CRASH_SIGNALS.has(signal);
    const lastLines = isKilled ? [] : process.stderrTail(isReady ? LAST_OUTPUT_MS : undefined);
    const about = { hadOpenRequest, isWorthTest, lastOutput: summaryLine(lastLines) };
    const atStart = isReady ? undefined : { atStart: true };
    return failure('AGENT_GONE', [spec.name, how, about], { ...details('agent_exited'), code, signal, ...atStart });
  }

  return {
    state: () => state,
    isReady: () => isReady,
    isHealthy: () => badLines < UNHEALTHY_BAD_LINES,
    pid: () => process.pid,
    sinceMs: clock.monotonicMs(),
    stderrTail: process.stderrTail,
    sendFrame(frame, patches) {
      if (state === 'ended') return;
      agent.writer.frame(frame, patches);
      endIfUnresponsive();
    },
    sendLine(line) {
      if (state === 'ended') return;
      agent.writer.line(line);
      endIfUnresponsive();
    },
    pause: agent.pause,
    resume: agent.resume,
    stop() {
      if (state !== 'ended') state = 'ending';
      abandon();
      cancelReading?.();
      streams.stop();
      agent.writer.end(); // the queue is written before the end of input
      return process.stop();
    },
    retire() {
      release();
      agent.writer.end();
      return process.stop();
    },
    kill: process.kill,
    reach: process.reach,
    uncovered: process.uncovered,
    refusal: process.refusal,
  };
}
