// A bus without a network: messages wait until the simulator delivers them, and may be lost, repeated or overtaken. The broker restarts, and
// hosts freeze or are cut off. Directories keep their entries, as those of JetStream do.
import { type Bus, BusFailure, type Change, type Directory, type Entry } from '../../../src/bus/bus.ts';
import type { BusClock } from '../../../src/bus/clock.ts';
import type { VirtualClock } from '../clock.ts';
import type { Random } from '../random.ts';

export type BusFaults = { readonly loses: number; readonly repeats: number; readonly overtakes: number };

export type BusNode = {
  readonly name: string;
  readonly bus: Bus;
  /** Stands still while the node is frozen. */
  readonly clock: BusClock;
  readonly isFrozen: boolean;
  freeze(): void;
  thaw(): void;
  /** Nothing passes to or from it. */
  isCut: boolean;
};

export type SimBus = {
  node(name: string): BusNode;
  readonly hasMessages: boolean;
  /** Delivers one message. */
  step(): void;
  /** Everything that is on its way is lost, and nobody is connected until it is back. */
  stop(): void;
  restart(): void;
  readonly isRunning: boolean;
};

type Message = { readonly to: Node; readonly isReliable: boolean; readonly arrive: () => void };
type Node = {
  readonly name: string;
  isFrozen: boolean;
  isCut: boolean;
  /** Timers that came due while it was frozen. */
  readonly due: (() => void)[];
  readonly listening: Set<{ readonly pattern: string; readonly listener: (bytes: Buffer, subject: string) => void }>;
  readonly answering: Set<{ readonly pattern: string; readonly handler: (bytes: Buffer, subject: string) => Promise<Buffer> }>;
  readonly onConnection: Set<(isConnected: boolean) => void>;
};
type Stored = {
  readonly ttlMs: number;
  readonly entries: Map<string, Entry & { readonly expiresAt: number }>;
  readonly watchers: Set<(change: Change) => void>;
};

const WRITE_MS = 2000;

export function createSimBus(random: Random, virtual: VirtualClock, faults: BusFaults, count: (what: string) => void): SimBus {
  const nodes = new Set<Node>();
  const directories = new Map<string, Stored>();
  let messages: Message[] = [];
  let isRunning = true;
  let revision = 0;
  const isReachable = (node: Node) => isRunning && !node.isCut;

  function post(from: Node, message: Message): void {
    if (!isReachable(from) || !isReachable(message.to)) return;
    if (!message.isReliable && random.chance(faults.loses)) return count('bus: message lost');
    messages.push(message);
    if (message.isReliable || !random.chance(faults.repeats)) return;
    count('bus: message repeated');
    messages.push(message);
  }
  const deliverable = () => messages.filter(({ to }) => !to.isFrozen);

  function createNode(name: string): BusNode {
    const node: Node = {
      name,
      isFrozen: false,
      isCut: false,
      due: [],
      listening: new Set(),
      answering: new Set(),
      onConnection: new Set(),
    };
    nodes.add(node);
    const timers = virtual.for('bus');
    const clock: BusClock = {
      monotonicMs: timers.monotonicMs,
      after(ms, callback) {
        let isOver = false;
        const once = () => {
          if (!isOver) callback();
          isOver = true;
        };
        const stop = timers.after(ms, () => (node.isFrozen ? node.due.push(once) : once()));
        return () => {
          isOver = true;
          stop();
        };
      },
    };
    /** What another place answers to this node; an answer that is lost is a timeout. */
    function asked<T>(
      isReliable: boolean,
      timeoutMs: number,
      what: string,
      work: (answer: (value: T) => void, fail: (error: Error) => void) => void,
    ): Promise<T> {
      return new Promise((resolve, reject) => {
        const stop = clock.after(timeoutMs, () => reject(new BusFailure('timeout', `${what} did not answer`)));
        const back = (settle: () => void) => post(node, { to: node, isReliable, arrive: settle });
        work(
          (value) =>
            back(() => {
              stop();
              resolve(value);
            }),
          (error) =>
            back(() => {
              stop();
              reject(error);
            }),
        );
      });
    }
    const bus: Bus = {
      shownUrl: 'sim:',
      get isConnected() {
        return isRunning;
      },
      directory: async (title, { ttlMs = Number.POSITIVE_INFINITY } = {}) => {
        const stored = directories.get(title) ?? { ttlMs, entries: new Map(), watchers: new Set() };
        directories.set(title, stored);
        return directoryOf(stored);
      },
      stream: () => Promise.reject(new Error('the simulated bus has no streams')),
      send(subject, bytes) {
        for (const to of nodes)
          for (const { pattern, listener } of to.listening)
            if (isMatch(pattern, subject)) post(node, { to, isReliable: false, arrive: () => listener(bytes, subject) });
      },
      listen: (pattern, listener) => added(node.listening, { pattern, listener }),
      ask(subject, bytes, timeoutMs) {
        if (!isRunning) return Promise.reject(new BusFailure('disconnected', 'the bus is away'));
        const found = [...nodes].flatMap((to) =>
          [...to.answering].filter(({ pattern }) => isMatch(pattern, subject)).map(({ handler }) => ({ to, handler })),
        )[0];
        if (!found) return Promise.reject(new BusFailure('nobody', `nobody answers ${subject}`));
        const { to, handler } = found;
        return asked(false, timeoutMs, subject, (answer) =>
          post(node, {
            to,
            isReliable: false,
            arrive: () =>
              void handler(bytes, subject).then(
                (value) => isReachable(to) && answer(value),
                () => {},
              ),
          }),
        );
      },
      answer: (pattern, handler) => added(node.answering, { pattern, handler }),
      onConnection: (listener) => added(node.onConnection, listener),
      flush: async () => {},
      close: async () => {},
    };

    function directoryOf(stored: Stored): Directory {
      const { entries, watchers, ttlMs } = stored;
      const find = (key: string): Entry | undefined => {
        const entry = entries.get(key);
        return entry && entry.expiresAt > virtual.nowMs ? entry : undefined;
      };
      /** The operation happens when the request arrives at the broker, and its answer may be lost. */
      const at = <T>(operation: () => T): Promise<T> => {
        if (isBeginning) return Promise.resolve(operation());
        return asked(false, WRITE_MS, 'the directory', (answer) => {
          if (isReachable(node) && !random.chance(faults.loses)) answer(operation());
        });
      };
      function changed(change: Change): void {
        for (const watcher of watchers) watcher(change);
      }
      function write(key: string, value: Buffer): number {
        revision += 1;
        entries.set(key, { key, value, revision, expiresAt: virtual.nowMs + ttlMs });
        changed({ key, value, revision });
        return revision;
      }
      return {
        get: (key) => at(() => find(key)),
        create: (key, value) => at(() => (find(key) ? undefined : write(key, value))),
        update: (key, value, expected) => at(() => (find(key)?.revision === expected ? write(key, value) : undefined)),
        remove: (key, expected) =>
          at(() => {
            if (find(key)?.revision !== expected) return false;
            entries.delete(key);
            revision += 1;
            changed({ key, value: undefined, revision });
            return true;
          }),
        async watch(listener) {
          for (const key of entries.keys()) {
            const entry = find(key);
            if (entry) listener(entry);
          }
          return added(watchers, (change) => messages.push({ to: node, isReliable: true, arrive: () => listener(change) }));
        },
      };
    }
    return {
      name,
      bus,
      clock,
      get isFrozen() {
        return node.isFrozen;
      },
      freeze() {
        node.isFrozen = true;
      },
      thaw() {
        node.isFrozen = false;
        for (const callback of node.due.splice(0)) callback();
      },
      get isCut() {
        return node.isCut;
      },
      set isCut(isCut) {
        node.isCut = isCut;
      },
    };
  }
  /** Until the first message, directories answer at once: everybody takes their places. */
  let isBeginning = true;
  const connection = (isConnected: boolean) => {
    for (const { onConnection } of nodes) for (const listener of onConnection) listener(isConnected);
  };
  return {
    node: createNode,
    get hasMessages() {
      isBeginning = false;
      return deliverable().length > 0;
    },
    step() {
      const waiting = deliverable();
      const overtakes = waiting.length > 1 && random.chance(faults.overtakes);
      if (overtakes) count('bus: message overtaken');
      // Only what is not reliable is overtaken: changes of a directory arrive in their order.
      const loose = waiting.filter(({ isReliable }) => !isReliable);
      const next = overtakes && loose.length > 0 ? random.pick(loose) : (waiting[0] as Message);
      messages.splice(messages.indexOf(next), 1);
      next.arrive();
    },
    stop() {
      isRunning = false;
      messages = messages.filter(({ isReliable }) => isReliable);
      connection(false);
    },
    restart() {
      isRunning = true;
      connection(true);
    },
    get isRunning() {
      return isRunning;
    },
  };
}

function added<T>(to: Set<T>, one: T): () => void {
  to.add(one);
  return () => void to.delete(one);
}

function isMatch(pattern: string, subject: string): boolean {
  const [names, of] = [pattern.split('.'), subject.split('.')];
  return names.length === of.length && names.every((name, k) => name === '*' || name === of[k]);
}
