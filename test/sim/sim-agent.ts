// One process of a simulated agent: it reads what the proxy writes to it, works on several things at once, and dies when its fault says so.
import type { AgentSpec } from '../../src/agents/defaults.ts';
import type { Transport } from '../../src/transports/transport.ts';
import type { AgentModel } from './agent-model.ts';
import type { SimCluster } from './bus/cluster.ts';
import { createLineReader } from './frame-text.ts';
import type { ProcessTools } from './host-tools.ts';
import type { AgentFrame, AgentSession } from './ledger.ts';
import { letGo } from './observations.ts';
import { createReplies } from './replies.ts';
import { createSender, type Sender } from './send.ts';
import type { Message, Sim } from './sim.ts';
import { createSimProcess, type SimProcess } from './sim-process.ts';

/** Something the agent works on, one step at a time. */
export type Job = {
  readonly session: AgentSession | undefined;
  dueMs: number;
  /** It waits for the client's answer to this. */
  waitsFor: AgentFrame | undefined;
  /** It does not continue by itself. */
  isMute: boolean;
  isCancelled: boolean;
  isTurn: boolean;
  /** Returns whether it is done. */
  step(): boolean;
};

/** A request as the agent has it. */
export type AgentInput = {
  readonly message: Message;
  readonly idText: string | undefined;
  /** The client's frame behind it; undefined for a request of the proxy. */
  readonly client: number | undefined;
  /** The change of agent it is for. */
  readonly change?: number | undefined;
  /** When the proxy wrote it. */
  readonly writtenIn: number;
};

export type Run = {
  readonly agent: string;
  readonly number: number;
  readonly model: AgentModel;
  readonly sim: SimProcess;
  readonly sender: Sender;
  readonly jobs: Job[];
  /** Sessions that are open in this process. */
  readonly open: Set<AgentSession>;
  /** The servers that the proxy opened its sessions with. */
  readonly hostTools: ProcessTools;
  /** Its own requests that have no answer yet. */
  readonly requests: Set<AgentFrame>;
  isReading: boolean;
  isReady: boolean;
  nextRequest: number;
  readonly process: Transport;
  readonly hasInput: boolean;
  canStep(): boolean;
  step(): void;
  read(maxBytes: number): void;
  /** The bytes that it has sent arrive at the proxy. */
  deliver(maxBytes: number): void;
};

export function startSimAgent(sim: Sim, model: AgentModel, spec: AgentSpec, cluster?: SimCluster): Run {
  const { random, faults, clock, oracle } = sim;
  const number = ++model.runs;
  const inbox: { readonly endsAt: number; readonly received: AgentInput }[] = [];
  let bytesParsed = 0;
  let bytesRead = 0;
  let isChatty = false;
  let arriving: AgentFrame[] = [];

  const readLine = createLineReader((line) => {
    bytesParsed += Buffer.byteLength(line) + 1;
    sim.trace(`${model.name}#${number} is sent ${line.slice(0, 300)}`);
    inbox.push({ endsAt: bytesParsed, received: oracle.agentReceived(self, line) });
  });
  const onEnd = () => oracle.agentGone(self);
  const simProcess = cluster
    ? cluster.process(spec, { onWrite: readLine, onEnd, arrival })
    : createSimProcess(sim, spec, 1000 + number, readLine, onEnd);
  const sender = createSender(sim, { agent: model.name, run: number }, simProcess.source, (frame) => {
    if (simProcess.isMuted) return;
    arriving.push(frame);
    oracle.agentSent(frame);
    // Last output of a process that was told to stop: it may arrive.
    if (simProcess.isOver) letGo(frame);
  });
  const self: Run = {
    agent: model.name,
    number,
    model,
    sim: simProcess,
    process: simProcess.process,
    sender,
    jobs: [],
    open: new Set(),
    hostTools: { bySession: new Map(), before: new Map(), all: new Set(), delegated: new Set() },
    requests: new Set(),
    isReading: true,
    isReady: false,
    nextRequest: 0,
    get hasInput() {
      return simProcess.isAlive && self.isReading && simProcess.sink.writableLength > 0;
    },
    canStep: () => simProcess.isAlive && (isChatty || self.jobs.some(isRunnable)),
    step() {
      if (dies()) return;
      if (isChatty && random.chance(0.5)) {
        isChatty = false;
        return replies.chat();
      }
      if (faults.happens('broken line')) sender.noise();
      const runnable = self.jobs.filter(isRunnable);
      if (runnable.length === 0) return;
      const job = random.pick(runnable);
      if (job.step()) self.jobs.splice(self.jobs.indexOf(job), 1);
    },
    read(maxBytes) {
      bytesRead += simProcess.sink.take(maxBytes).length;
      if (self.isReady && faults.happens('stops reading')) self.isReading = false;
      while (inbox[0] !== undefined && inbox[0].endsAt <= bytesRead) {
        const { received } = inbox.shift() as (typeof inbox)[number];
        if (simProcess.isAlive) replies.receive(received);
      }
    },
    deliver(maxBytes) {
      if (cluster) simProcess.source.deliver(maxBytes);
      else arrival(() => simProcess.source.deliver(maxBytes));
      simProcess.afterDelivery();
    },
  };
  const replies = createReplies(sim, self);

  /** Bytes reach the proxy. */
  function arrival(happen: () => void): void {
    const before = arriving; // the end of a link may come with its last bytes
    const frames: AgentFrame[] = [];
    arriving = frames;
    happen();
    // The proxy has ended it on one of these frames: what it did with the others does not matter.
    if (simProcess.isOver) for (const frame of frames) letGo(frame);
    arriving = before;
  }
  const isRunnable = (job: Job): boolean =>
    !job.isMute && job.dueMs <= clock.nowMs && (job.waitsFor === undefined || !self.requests.has(job.waitsFor));

  function dies(): boolean {
    const { source } = simProcess;
    const code = random.pick([0, 1, 139]);
    if (faults.happens('crash')) simProcess.die({ code, signal: null });
    else if (faults.happens('crash in mid-line')) {
      source.cut(random.int(1, 200));
      simProcess.die({ code: null, signal: 'SIGSEGV' });
    } else if (faults.happens('exit with stdout held open')) simProcess.die({ code, signal: null, holdsStdout: true });
    else if (faults.happens('hangs up')) source.finish();
    else return false;
    sim.trace(`${model.name}#${number} ${simProcess.isAlive ? 'hangs up' : 'dies'}`);
    return true;
  }

  sim.trace(`${model.name}#${number} is started`);
  if (faults.happens('unstartable')) simProcess.neverBegin('the command was not found');
  else if (faults.happens('exit before initialize'))
    clock.for('processes').after(random.int(0, 500), () => simProcess.die({ code: 1, signal: null }));
  else if (faults.happens('speaks first')) isChatty = true;
  return self;
}
