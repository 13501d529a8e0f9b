// A simulated process, or the connection to a remote one: its streams, its ways to end, and the time they take.
import type { AgentSpec } from '../../src/agents/defaults.ts';
import type { Exit, Transport } from '../../src/transports/transport.ts';
import { SimSink, SimSource } from './pipe.ts';
import type { Sim } from './sim.ts';

export type SimProcess = {
  readonly process: Transport;
  readonly source: SimSource;
  readonly sink: SimSink;
  /** The agent itself is running. */
  readonly isAlive: boolean;
  /** The proxy knows of its end, or has ended it: nobody may be left waiting for it. */
  readonly isOver: boolean;
  /** Its output is no longer read. */
  readonly isMuted: boolean;
  /** The proxy does not read it now. */
  readonly isPaused: boolean;
  /** It was told to stop. */
  readonly wasStopped: boolean;
  /** Dies; `holdsStdout`: a child keeps the pipe open. */
  die(how: { readonly code: number | null; readonly signal: string | null; readonly holdsStdout?: boolean }): void;
  neverBegin(why: string): void;
  /** Called after each delivery: a process whose output is drained has nothing left to wait for. */
  afterDelivery(): void;
};

/** As in `transports/child-process.ts`. */
const DRAIN_MS = 250;
/** As the pings of `transports/websocket.ts`. */
export const SILENT_MS = 30_000;
const WATER_MARK_BYTES = 2048;

export function createSimProcess(sim: Sim, spec: AgentSpec, pid: number, onWrite: (bytes: Buffer) => void, onEnd: () => void): SimProcess {
  const timers = sim.clock.for('processes');
  const source = new SimSource();
  const sink = new SimSink(WATER_MARK_BYTES, onWrite);
  const listeners: ((exit: Exit) => void)[] = [];
  const leavers: (() => void)[] = [];
  let isAlive = true;
  let isOver = false;
  let isMuted = false;
  let wasStopped = false;
  let exit: Exit | undefined;
  let dying: Exit | undefined;

  function happened(how: Exit): void {
    if (exit) return;
    exit = how;
    isOver = true;
    isMuted = true;
    for (const leave of leavers.splice(0)) leave();
    for (const listener of listeners) listener(how);
    onEnd();
  }
  function die({ code, signal, holdsStdout = false }: Parameters<SimProcess['die']>[0]): void {
    if (!isAlive) return;
    isAlive = false;
    if (spec.remote) return drop();
    dying = { kind: 'exited', code, signal };
    if (!holdsStdout) source.finish();
    if (sim.random.chance(0.5)) sink.break();
    timers.after(DRAIN_MS, () => happened(dying as Exit));
  }
  /** The connection breaks: what was on its way is lost, and the proxy may notice it only when a ping gets no answer. */
  function drop(): void {
    source.cut(sim.random.int(0, source.queuedBytes));
    const isHalfOpen = !wasStopped && sim.random.chance(0.3);
    if (!isHalfOpen) source.finish();
    timers.after(isHalfOpen ? SILENT_MS : sim.random.pick([1, 50]), () => {
      source.end();
      happened({ kind: 'disconnected', why: 'the connection broke' });
      if (sim.random.chance(0.3)) source.emit('close'); // as sockets do after an error
      if (sim.random.chance(0.3)) sink.break();
    });
  }
  const self: SimProcess = {
    source,
    sink,
    get isAlive() {
      return isAlive;
    },
    get isOver() {
      return isOver;
    },
    get isMuted() {
      return isMuted;
    },
    get wasStopped() {
      return wasStopped;
    },
    get isPaused() {
      return source.isPaused;
    },
    die,
    neverBegin(why) {
      isAlive = false;
      timers.after(0, () => happened({ kind: spec.remote ? 'unreachable' : 'unstartable', why }));
    },
    afterDelivery() {
      if (dying && source.isOver) happened(dying);
    },
    process: {
      fromAgent: source.readable,
      toAgent: sink.writable,
      pid: spec.remote ? undefined : pid,
      stderrTail: () => ['a last word'],
      onExit: (listener) => void (exit ? listener(exit) : listeners.push(listener)),
      stop() {
        wasStopped = true;
        isOver = true;
        sink.end();
        if (exit) return Promise.resolve();
        // Some exit at the end of their input, some on SIGTERM, some must be killed.
        if (isAlive)
          timers.after(sim.random.pick([0, 50, spec.timeouts.stopGraceMs, 2 * spec.timeouts.stopGraceMs]), () =>
            die({ code: 0, signal: null, holdsStdout: sim.random.chance(0.2) }),
          );
        return new Promise((resolve) => leavers.push(resolve));
      },
      // A proxy that no longer listens stops it as well; otherwise it is over when its end is reported.
      kill() {
        wasStopped = true;
        timers.after(1, () => die({ code: null, signal: 'SIGKILL' }));
      },
    },
  };
  return self;
}
