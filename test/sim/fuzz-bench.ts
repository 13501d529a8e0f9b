// A client and agents that answer everything, around a proxy that is fed arbitrary bytes.
import { agentSpec } from '../../src/agents/defaults.ts';
import type { RunningProxy } from '../../src/proxy/api.ts';
import { startProxy } from '../../src/proxy/proxy.ts';
import type { Transport } from '../../src/transports/transport.ts';
import { Scanner } from '../../src/wire/scanner/scanner.ts';
import { createVirtualClock, type VirtualClock } from './clock.ts';
import { createLineReader, idTextIn } from './frame-text.ts';
import { SimSink, SimSource } from './pipe.ts';
import type { Message } from './sim.ts';
import { createMemoryCache, createMemoryLog } from './stores.ts';

export type FuzzBench = {
  readonly clock: VirtualClock;
  readonly connection: RunningProxy;
  readonly client: SimSource;
  /** The running process of an agent; undefined while there is none. */
  source(agent: string): SimSource | undefined;
  /** Received responses, by id as written, in order of arrival. */
  readonly answers: Map<string, Message[]>;
  readonly problems: string[];
  /** Lets everybody read and answer until nothing moves any more. */
  settle(): Promise<void>;
};

type Peer = { readonly source: SimSource; readonly sink: SimSink; isAlive: boolean };

const WATER_MARK_BYTES = 1 << 20;
const LIMITS = { maxFrameBytes: 1 << 20, maxQueueBytes: 1 << 24 };

export function createFuzzBench(names: readonly string[]): FuzzBench {
  const clock = createVirtualClock();
  const problems: string[] = [];
  const answers = new Map<string, Message[]>();
  const running = new Map<string, Peer>();
  /** Which agent owns each session. */
  const owners = new Map<string, string>();

  const answered = (idText: string, message: Message) => void answers.set(idText, [...(answers.get(idText) ?? []), message]);
  const isAnothers = (sessionId: unknown, agent: string) => typeof sessionId === 'string' && (owners.get(sessionId) ?? agent) !== agent;
  const read = (line: string, who: string): Message | undefined => {
    try {
      return JSON.parse(line) as Message;
    } catch {
      problems.push(`${who} is sent what is no JSON: ${line.slice(0, 300)}`);
      return undefined;
    }
  };

  const client = new SimSource();
  const toClient = new SimSink(
    WATER_MARK_BYTES,
    createLineReader((line) => readClient(line)),
  );
  function readClient(line: string): void {
    const message = read(line, 'the client');
    const idText = message && idTextIn(line);
    if (!message) return;
    if (message.method === undefined) return answered(String(idText), message);
    for (const name of names)
      if (line.includes(`@${name}`) && isAnothers(message.params?.sessionId, name))
        problems.push(`${name} speaks in a session of another: ${line.slice(0, 300)}`);
    if (idText !== undefined) client.send(Buffer.from(`{"jsonrpc":"2.0","id":${idText},"result":{}}\n`));
  }

  function launch(name: string): Transport {
    const exits: ((exit: { kind: 'exited'; code: null; signal: string }) => void)[] = [];
    const source = new SimSource();
    const sink = new SimSink(
      WATER_MARK_BYTES,
      createLineReader((line) => checkAgent(line)),
    );
    const peer: Peer = { source, sink, isAlive: true };
    running.set(name, peer);
    function checkAgent(line: string): void {
      const message = read(line, name);
      const idText = message && idTextIn(line);
      if (isAnothers(message?.params?.sessionId, name)) problems.push(`${name} hears of a session of another: ${line.slice(0, 300)}`);
      if (!message || idText === undefined) return;
      if (message.method === undefined) return answered(idText, message);
      source.send(Buffer.from(`{"jsonrpc":"2.0","id":${idText},"result":${JSON.stringify(resultOf(message.method))}}\n`));
    }
    function resultOf(method: string): unknown {
      if (method === 'initialize')
        return {
          protocolVersion: 1,
          agentCapabilities: {
            loadSession: true,
            sessionCapabilities: { list: {}, close: {}, resume: {} },
            auth: { logout: {}, status: {} },
          },
          authMethods: [],
        };
      if (method === 'session/new' || method === 'session/fork') {
        const sessionId = `session-of-${name}-${owners.size + 1}`;
        owners.set(sessionId, name);
        return { sessionId };
      }
      if (method === 'session/list') return { sessions: [] };
      return { stopReason: 'end_turn' };
    }
    const over = (): void => {
      if (!peer.isAlive) return;
      peer.isAlive = false;
      source.end();
      if (running.get(name) === peer) running.delete(name);
      for (const exit of exits) exit({ kind: 'exited', code: null, signal: 'SIGKILL' });
    };
    return {
      fromAgent: source.readable,
      toAgent: sink.writable,
      pid: 1,
      stderrTail: () => [],
      onExit: (listener) => void exits.push(listener),
      async stop() {
        sink.end();
        over();
      },
      kill: () => void clock.for('processes').after(1, over),
    };
  }

  const connection = startProxy(client.readable, toClient.writable, {
    agents: names.map((name) => agentSpec(name, { command: name, framing: 'ndjson' })),
    defaultAgent: names[0] as string,
    explicitDefault: true,
    routes: [],
    limits: LIMITS,
    scanner: new Scanner(),
    initializeWaitMs: 5000,
    launch: (spec) => launch(spec.name),
    log: createMemoryLog(),
    cache: createMemoryCache(),
    clock: clock.for('proxy'),
    version: '0.0.0',
    report: () => {},
  });

  return {
    ...{ clock, connection, client, answers, problems },
    source: (agent) => running.get(agent)?.source,
    async settle() {
      for (let isMoving = true; isMoving; ) {
        await new Promise((resolve) => setImmediate(resolve));
        isMoving = false;
        for (const source of [client, ...[...running.values()].map((peer) => peer.source)])
          if (source.isDeliverable && source.queuedBytes > 0) {
            isMoving = true;
            source.deliver(Number.MAX_SAFE_INTEGER);
          }
        for (const sink of [toClient, ...[...running.values()].map((peer) => peer.sink)])
          if (sink.writableLength > 0) {
            isMoving = true;
            sink.take(Number.MAX_SAFE_INTEGER);
          }
      }
    },
  };
}
