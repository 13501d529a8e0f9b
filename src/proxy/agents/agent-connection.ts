// One life of an agent: from its start over its answer to initialize to its end, whichever way that comes.
import { randomUUID } from 'node:crypto';
import type { AgentSpec } from '../../agents/defaults.ts';
import { type Handshake, readHandshake } from '../../agents/handshake.ts';
import { type FirstOutput, PLAIN, type SelectedDialect, translate } from '../../dialects/select-dialect.ts';
import { failure, type ProxyError } from '../../errors.ts';
import { summaryLine } from '../../transports/stderr-tail.ts';
import type { Exit, Transport } from '../../transports/transport.ts';
import { createConnection } from '../../wire/connection.ts';
import type { Frame, Limits } from '../../wire/frame.ts';
import type { Watcher } from '../../wire/observer.ts';
import { idTextOf } from '../../wire/scanner/large-frame.ts';
import type { Scanner } from '../../wire/scanner/scanner.ts';
import { type Refusal, readBody } from '../../wire/scanner/strict-parse.ts';
import type { Patch } from '../../wire/writer.ts';
import type { Clock } from '../context.ts';
import { requestLine } from '../messages.ts';
import { createTrafficWatch } from '../traffic-watch.ts';

export type AgentConnection = {
  isReady(): boolean;
  /** It sends lines one after the other that cannot be passed on. */
  isHealthy(): boolean;
  pid(): number | undefined;
  readonly sinceMs: number;
  stderrTail(): readonly string[];
  sendFrame(frame: Frame, patches: readonly Patch[]): void;
  sendLine(line: string): void;
  pause(): void;
  resume(): void;
  /** Ends it in good order; `over` is told as of any other end. */
  stop(): Promise<void>;
  /** Likewise, but nobody hears of it any more. */
  retire(): Promise<void>;
  kill(): void;
};

export type ConnectionDeps = {
  readonly launch: (spec: AgentSpec) => Transport;
  readonly limits: Limits;
  readonly scanner: Scanner;
  readonly clock: Clock;
  /** The params of initialize, as the editor sent them. */
  readonly initializeParams: () => string;
  /** Whoever keeps records of this agent. */
  readonly watcher?: Watcher | undefined;
  /** Somebody waits for an answer of its. */
  readonly isBusy?: () => boolean;
  /** It is started only to see how it does. */
  readonly isTrial?: boolean;
};

export type ConnectionEvents = {
  ready(handshake: Handshake): void;
  /** It has not said what an agent says to initialize; true when somebody knows better what to make of it, and this life is of no use. */
  suspect?(words: FirstOutput): boolean;
  /** A request or a notification. */
  frame(frame: Frame): void;
  answer(idText: string, frame: Frame): void;
  /** A line that was not passed on; `reason` in our words. */
  refused(refusal: Refusal): void;
  oversized(refusal: Refusal): void;
  /** Something that people may want to know. */
  remark?(text: string): void;
  /** Nothing will come from it any more. `leaving` is done when nothing of it is left. */
  over(error: ProxyError, wasReady: boolean, leaving: Promise<void>): void;
};

export const HANDSHAKE_ID = 0;
/** Of its last ones, as many go with an error. */
export const STDERR_LINES = 20;
const HANG_UP_MS = 1000;
const STUCK_MS = 60_000;
const UNHEALTHY_BAD_LINES = 100;

export function openConnection(
  spec: AgentSpec,
  deps: ConnectionDeps,
  on: ConnectionEvents,
  selected: SelectedDialect = PLAIN,
): AgentConnection {
  const { limits, scanner, clock } = deps;
  const process = deps.launch(spec);
  let isReady = false;
  let isOver = false;
  let isStopped = false;
  let badLines = 0;
  const watch = createTrafficWatch(clock, `agent "${spec.name}"`, (text) => on.remark?.(text));
  let callOffHangUp: (() => void) | undefined;
  let callOffReading: (() => void) | undefined;
  const abandon = clock.after(spec.timeouts.initializeMs, () =>
    end(failure('AGENT_SILENT', [spec.name, spec.timeouts.initializeMs, summaryLine(process.stderrTail())], details('no_initialize'))),
  );
  const streams = translate(
    process,
    selected,
    { agent: spec.name, isNamed: spec.dialect === selected.dialect, timeouts: spec.timeouts, mint: randomUUID },
    {
      scanner,
      maxFrameBytes: limits.maxFrameBytes,
      after: clock.after,
      remark: (text) => on.remark?.(text),
      kill: () => end(failure('AGENT_UNSTOPPABLE', [spec.name], details('cancel_ignored'))),
    },
  );
  const agent = createConnection(
    streams.fromAgent,
    streams.toAgent,
    { scanner, maxFrameBytes: limits.maxFrameBytes, observer: deps.watcher?.observer },
    {
      frame(frame) {
        try {
          received(frame);
        } catch (error) {
          // A bug of ours that this agent has found: it must not cost the others their sessions.
          end(failure('AGENT_UNREADABLE', [spec.name, String((error as Error).message)], details('unreadable')));
        }
      },
      refused(refusal, line) {
        if (isOver) return;
        if (!isReady && on.suspect?.({ kind: 'noise', line: line.toString('latin1') })) return;
        badLines++;
        on.refused(refusal);
      },
      oversized({ kind, idText, method }) {
        if (!isOver) on.oversized({ why: 'foreign', reason: 'longer than limits.max_frame_bytes', kind, idText, method });
      },
      full: watchReading,
      end: () => hungUp('stdout'),
      error: () => hungUp('stdin or stdout'),
    },
  );
  process.onExit((exit) => {
    streams.exited(exit.kind === 'exited' ? exit.code : null);
    end(whyGone(exit));
  });
  // A dialect may answer in its agent's place, and must not for one that has not started.
  const isStarted = process.pid !== undefined || selected.dialect === 'acp';
  if (isStarted) agent.writer.line(requestLine(String(HANDSHAKE_ID), 'initialize', deps.initializeParams()));

  function received(frame: Frame): void {
    if (isOver) return;
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
    on.ready(handshake);
  }
  function end(error: ProxyError): void {
    if (isOver) return;
    isOver = true;
    abandon();
    callOffHangUp?.();
    callOffReading?.();
    streams.stop();
    // What an agent leaves behind gets the time to end by itself; an agent that hangs does not.
    if (error.key !== 'AGENT_GONE') process.kill();
    deps.watcher?.down(isStopped ? 'stopped' : String(error.data?.reason ?? error.key));
    on.over(error, isReady, process.stop());
  }
  /** An agent that stops reading gets a capped queue and then fails alone; pausing the editor instead would stall everyone. */
  function endIfUnresponsive(): void {
    if (agent.writer.queuedBytes() > limits.maxQueueBytes)
      end(failure('AGENT_DEAF', [spec.name, limits.maxQueueBytes], details('queue_full')));
  }
  /** The exit says more, and usually follows; a process that goes on without one of its streams is of no use. */
  function hungUp(stream: string): void {
    if (isOver) return;
    callOffHangUp ??= clock.after(HANG_UP_MS, () => end(failure('AGENT_HUNG_UP', [spec.name, stream], details('hung_up'))));
  }
  /** An agent that takes nothing at all is not slow but stuck, however little waits for it. */
  function watchReading(): void {
    if (callOffReading) return;
    const takenBytes = agent.writer.takenBytes();
    callOffReading = clock.after(STUCK_MS, () => {
      callOffReading = undefined;
      if (isOver || agent.writer.queuedBytes() === 0) return;
      if (agent.writer.takenBytes() > takenBytes) return watchReading();
      end(failure('AGENT_STUCK', [spec.name, STUCK_MS / 1000], details('not_reading')));
    });
  }
  function details(reason: string): Record<string, unknown> {
    const lastFrames = deps.watcher?.lastFrames() ?? [];
    return { agent: spec.name, reason, stderr: process.stderrTail().slice(-STDERR_LINES), ...(lastFrames.length > 0 && { lastFrames }) };
  }
  function whyGone(exit: Exit): ProxyError {
    if (exit.kind === 'unstartable')
      return failure('AGENT_MISSING', [spec.name, spec.command, exit.why, exit.next], {
        agent: spec.name,
        reason: 'not_startable',
        command: spec.command,
      });
    const { code, signal } = exit;
    const how = signal === null ? `code ${code}` : `signal ${signal}`;
    const hadOpenRequest = !isReady || deps.isBusy?.() === true;
    // One that was killed at work has most likely nothing wrong with it.
    const isWorthTest = !deps.isTrial && hadOpenRequest && !(isReady && signal !== null);
    const about = { hadOpenRequest, isWorthTest, lastOutput: summaryLine(process.stderrTail()) };
    const atStart = isReady ? undefined : { atStart: true };
    return failure('AGENT_GONE', [spec.name, how, about], { ...details('agent_exited'), code, signal, ...atStart });
  }

  return {
    isReady: () => isReady,
    isHealthy: () => badLines < UNHEALTHY_BAD_LINES,
    pid: () => process.pid,
    sinceMs: clock.monotonicMs(),
    stderrTail: process.stderrTail,
    sendFrame(frame, patches) {
      if (isOver) return;
      agent.writer.frame(frame, patches);
      endIfUnresponsive();
    },
    sendLine(line) {
      if (isOver) return;
      agent.writer.line(line);
      endIfUnresponsive();
    },
    pause: agent.pause,
    resume: agent.resume,
    stop() {
      isStopped = true;
      abandon();
      callOffReading?.();
      streams.stop();
      agent.writer.end(); // what is still queued goes before the end of its input
      return process.stop();
    },
    retire() {
      isOver = true;
      abandon();
      callOffHangUp?.();
      callOffReading?.();
      streams.stop();
      agent.writer.end();
      return process.stop();
    },
    kill: process.kill,
  };
}
