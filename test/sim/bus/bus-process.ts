// A simulated agent on a host: what the proxy writes and reads passes a link. The oracle sees what it writes when the proxy writes it, and
// what the agent sends when it has come out of the link.
import type { AgentSpec } from '../../../src/agents/defaults.ts';
import type { Exit, Transport } from '../../../src/transports/transport.ts';
import type { Sink, Source } from '../../../src/wire/byte-stream.ts';
import { SimSink, SimSource } from '../pipe.ts';
import type { Sim } from '../sim.ts';
import type { SimProcess } from '../sim-process.ts';
import type { BusNode } from './sim-bus.ts';

/** The host's end of a connection. */
export type Served = { readonly host: BusNode; readonly input: Source; readonly output: Sink };

export type BusProcess = SimProcess & {
  /** A host has opened the connection. If its answer is lost, another host opens it too; the first that is used counts. */
  serve(served: Served): { close(): Promise<void> };
};

export type Arrival = (happen: () => void) => void;

const DRAIN_MS = 250;
const WATER_MARK_BYTES = 2048;

/** The agent's output on its way to the host, with marks that count at the other end of the link. */
class BusSource extends SimSource {
  isServed = false;
  isHostFrozen = () => false;
  #sent = 0;
  #arrived = 0;
  #isFinished = false;
  #marks: { readonly at: number; readonly reached: () => void }[] = [];

  override get isDeliverable(): boolean {
    return this.isServed && !this.isHostFrozen() && super.isDeliverable;
  }
  override send(bytes: Buffer, reached: () => void = () => {}): void {
    if (this.isOver || this.#isFinished) return;
    super.send(bytes);
    this.#sent += bytes.length;
    this.#marks.push({ at: this.#sent, reached });
  }
  override finish(): void {
    this.#isFinished = true;
    super.finish();
  }
  override cut(lostBytes: number): void {
    const lost = Math.min(lostBytes, this.queuedBytes);
    super.cut(lost);
    this.#sent -= lost;
    const last = this.#marks.find(({ at }) => at === this.#sent + 1);
    this.#marks = this.#marks.filter((mark) => mark.at <= this.#sent || mark === last);
  }
  /** Bytes have come out of the link. */
  arrived(count: number): void {
    this.#arrived += count;
    while (this.#marks[0] !== undefined && this.#marks[0].at <= this.#arrived) this.#marks.shift()?.reached();
  }
  /** The proxy accepts a last line that lacks only its line feed. */
  arrivedEnd(): void {
    this.#marks.find(({ at }) => at === this.#arrived + 1)?.reached();
  }
}

export function createBusProcess(
  sim: Sim,
  spec: AgentSpec,
  connect: () => Transport,
  hooks: { readonly onWrite: (bytes: Buffer) => void; readonly onEnd: () => void; readonly arrival: Arrival },
): BusProcess {
  const timers = sim.clock.for('processes');
  const source = new BusSource();
  const sink = new SimSink(WATER_MARK_BYTES, () => {});
  sink.on('error', () => {}); // a host notices that its agent is gone by its exit
  const listeners: ((exit: Exit) => void)[] = [];
  let isPaused = false;
  let isAlive = true;
  let isOver = false;
  let isMuted = false;
  let wasStopped = false;
  let exit: Exit | undefined;
  let endOutput = () => {};
  let isDying = false;
  let served: Served | undefined;

  function die({ holdsStdout = false }: { readonly holdsStdout?: boolean }): void {
    if (!isAlive) return;
    isAlive = false;
    isDying = true;
    if (!holdsStdout) source.finish();
    if (sim.random.chance(0.5)) sink.break();
    timers.after(DRAIN_MS, () => endOutput());
  }
  function happened(how: Exit): void {
    if (exit) return;
    exit = how;
    isOver = true;
    isMuted = true;
    if (!served) isAlive = false; // no host has it, or none that was ever heard
    for (const listener of listeners) listener(how);
    hooks.onEnd();
  }
  const inner = connect();
  inner.onExit(happened);

  const fromAgent: Source = {
    on(event: 'data' | 'end' | 'close' | 'error', listener: (...args: never[]) => void) {
      const heard = listener as (value?: unknown) => void;
      if (event === 'data')
        return inner.fromAgent.on('data', (chunk) =>
          hooks.arrival(() => {
            source.arrived(chunk.length);
            heard(chunk);
          }),
        );
      if (event === 'end')
        return inner.fromAgent.on('end', () =>
          hooks.arrival(() => {
            source.arrivedEnd();
            heard();
          }),
        );
      return inner.fromAgent.on(event as 'close', heard);
    },
    pause() {
      isPaused = true;
      inner.fromAgent.pause();
    },
    resume() {
      isPaused = false;
      inner.fromAgent.resume();
    },
  };
  const toAgent: Sink = {
    write(chunk) {
      hooks.onWrite(Buffer.from(chunk)); // a copy: the writer may reuse its own
      return inner.toAgent.write(chunk);
    },
    cork: () => inner.toAgent.cork(),
    uncork: () => inner.toAgent.uncork(),
    end: () => inner.toAgent.end(),
    get writableLength() {
      return inner.toAgent.writableLength;
    },
    on: (event: 'drain' | 'error', listener: (error: Error) => void) => inner.toAgent.on(event as 'drain', listener as () => void),
  };
  function begin(here: Served): void {
    served = here;
    source.isServed = true;
    source.isHostFrozen = () => here.host.isFrozen;
    const { input, output } = here;
    let isEnded = false;
    endOutput = () => {
      if (!isEnded) output.end();
      isEnded = true;
    };
    source.on('data', (chunk: Buffer) => output.write(chunk) || source.pause());
    source.on('end', () => endOutput());
    output.on('drain', () => source.resume());
    sink.on('drain', () => input.resume());
    if (!isAlive) endOutput();
  }
  return {
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
      return isPaused;
    },
    die,
    neverBegin() {
      isAlive = false;
      endOutput();
    },
    afterDelivery() {
      if (isDying && source.isOver) endOutput();
    },
    serve(here) {
      const { input } = here;
      const isMine = () => served === here;
      input.on('data', (chunk) => {
        if (!served) begin(here);
        if (isMine() && isAlive && !sink.isEnded && !sink.isBroken && !sink.write(Buffer.from(chunk))) input.pause();
      });
      input.on('end', () => {
        if (!isMine()) return here.output.end();
        sink.end();
        // Some exit at the end of their input, some must be killed.
        timers.after(sim.random.pick([0, 50, spec.timeouts.stopGraceMs]), () => die({ holdsStdout: sim.random.chance(0.2) }));
      });
      return {
        async close() {
          if (isMine()) timers.after(1, () => die({}));
        },
      };
    },
    process: {
      ...inner,
      fromAgent,
      toAgent,
      pid: undefined,
      stderrTail: () => ['a last word'],
      onExit: (listener) => void (exit ? listener(exit) : listeners.push(listener)),
      stop() {
        wasStopped = true;
        isOver = true;
        return inner.stop();
      },
      kill() {
        wasStopped = true;
        inner.kill();
      },
    },
  };
}
