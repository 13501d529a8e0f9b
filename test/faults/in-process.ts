// A connection without processes, whose clock stands still until the test advances it: for what depends on time, not on processes.
import { PassThrough } from 'node:stream';
import { type AgentSpec, agentSpec } from '../../src/agents/defaults.ts';
import type { AgentOptions } from '../../src/agents/options.ts';
import type { RunningProxy } from '../../src/proxy/api.ts';
import { type Clock, systemClock } from '../../src/proxy/context.ts';
import type { CreateEnforcement } from '../../src/proxy/enforcement/enforcement.ts';
import { startProxy } from '../../src/proxy/proxy.ts';
import type { HostToolsOptions } from '../../src/proxy/tools/session-tools.ts';
import type { SessionStore } from '../../src/store/sessions/session-store.ts';
import type { Exit, Transport } from '../../src/transports/transport.ts';
import { Scanner } from '../../src/wire/scanner/scanner.ts';
import type { Workspace } from '../../src/workspace/workspace.ts';
import { createPeer, type Peer } from '../e2e/peer.ts';

export type StillClock = Clock & { advance(ms: number): void };

export function createStillClock(): StillClock {
  let nowMs = 0;
  let timers: { readonly at: number; readonly callback: () => void }[] = [];
  return {
    now: () => new Date(nowMs).toISOString(),
    monotonicMs: () => nowMs,
    after(ms, callback) {
      const timer = { at: nowMs + ms, callback };
      timers.push(timer);
      return () => {
        timers = timers.filter((other) => other !== timer);
      };
    },
    advance(ms) {
      const until = nowMs + ms;
      for (;;) {
        const [next] = timers.filter(({ at }) => at <= until).toSorted((a, b) => a.at - b.at);
        if (!next) break;
        nowMs = next.at;
        timers = timers.filter((timer) => timer !== next);
        next.callback();
      }
      nowMs = until;
    },
  };
}

export type InProcess = {
  readonly client: Peer;
  readonly connection: RunningProxy;
  readonly notices: readonly string[];
};

export type Setup = {
  readonly agents: Readonly<Record<string, AgentOptions>>;
  readonly launch: (spec: AgentSpec) => Transport;
  readonly clock?: Clock;
  readonly workspace?: Workspace;
  readonly toolAttachments?: HostToolsOptions;
  readonly enforcement?: CreateEnforcement;
  readonly log?: SessionStore;
  readonly onStateChange?: () => void;
  /** The client's output stream, for a test that ends it. */
  readonly fromClient?: PassThrough;
};

const NO_LOG: SessionStore = {
  ...{ append: () => {}, claim: () => true, isUsed: () => false },
  ...{ records: () => new Map(), isHidden: () => false, wasHiddenLately: () => false },
};

export function connectInProcess({ agents, launch, clock = systemClock, log = NO_LOG, fromClient, ...parts }: Setup): InProcess {
  const [toProxy, fromProxy] = [fromClient ?? new PassThrough(), new PassThrough()];
  const notices: string[] = [];
  const specs = Object.entries(agents).map(([name, options]) => agentSpec(name, options));
  const options = {
    agents: specs,
    defaultAgent: specs[0]?.name ?? '',
    explicitDefault: false,
    routes: [],
    limits: { maxFrameBytes: 1 << 20, maxQueueBytes: 1 << 20 },
    scanner: new Scanner(),
    initializeWaitMs: 10_000,
    launch,
    redactor: () => (text: string) => text,
    ...{ log, clock, ...parts },
    cache: { find: () => undefined, keep: () => {} },
    version: '0.0.0',
    report: (text: string) => void notices.push(text),
  };
  const connection = startProxy(toProxy, fromProxy, options);
  const client = createPeer('the editor');
  client.attach(fromProxy, toProxy);
  return { client, connection, notices };
}

/** An agent that the test plays without a process: a pair of streams. */
export function createActor(name: string): Peer & { readonly launch: () => Transport; exit(exit: Exit): void } {
  const peer = createPeer(name);
  let onExit: (exit: Exit) => void = () => {};
  return Object.assign(peer, {
    exit: (exit: Exit) => onExit(exit),
    launch(): Transport {
      const [toAgent, fromAgent] = [new PassThrough(), new PassThrough()];
      peer.attach(toAgent, fromAgent);
      return {
        ...{ toAgent, fromAgent, pid: undefined, stderrTail: () => [], stop: async () => {} },
        kill: () => onExit({ kind: 'exited', code: null, signal: 'SIGKILL' }),
        onExit(listener) {
          onExit = listener;
        },
      };
    },
  });
}
