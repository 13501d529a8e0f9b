// One seeded history of clients that come, share sessions and go. The same seed makes the same history.
import { EventEmitter } from 'node:events';
import { createHub } from '../../src/attach/hub.ts';
import type { Principal, SharedProxy } from '../../src/attach/state.ts';
import { createConnection } from '../../src/wire/connection.ts';
import { Scanner } from '../../src/wire/scanner/scanner.ts';
import { seeded } from '../sim/random.ts';
import { createModelClient, type ModelClient } from './model-client.ts';
import { createModelProxy, type ModelProxy, type Store } from './model-proxy.ts';

const PRINCIPALS: readonly Principal[] = [
  { name: 'ann', role: 'client' },
  { name: 'ann', role: 'client' },
  { name: 'bob', role: 'client' },
  { name: 'root', role: 'owner' },
  { name: 'tv', role: 'observer' },
];
const STEPS = 120;
const MOST_ROUNDS = 10_000;

export type HistoryReport = {
  readonly seed: number;
  readonly events: number;
  readonly frames: number;
  readonly faults: ReadonlyMap<string, number>;
  readonly problem: string | undefined;
  readonly trace: readonly string[];
};

export function runClientHistory(seed: number): HistoryReport {
  const random = seeded(seed);
  const trace: string[] = [];
  const faults = new Map<string, number>();
  const fault = (kind: string) => faults.set(kind, (faults.get(kind) ?? 0) + 1);
  const store: Store = new Map();
  const proxies = new Set<ModelProxy>();
  const timers = new Set<() => void>();
  const scanner = new Scanner();
  const given = new Map<string, number>();
  let clients: ModelClient[] = [];
  let events = 0;
  let count = 0;
  let problem: string | undefined;
  const fail = (why: string) => {
    problem ??= why;
    trace.push(`PROBLEM: ${why}`);
  };
  const hub = createHub({
    openProxy(principal, shared: () => SharedProxy) {
      const source = Object.assign(new EventEmitter(), { pause() {}, resume() {} });
      const model = createModelProxy(
        proxies.size + 1,
        principal,
        store,
        (chunk) => {
          trace.push(
            ...String(chunk)
              .trimEnd()
              .split('\n')
              .map((line) => `  proxy of ${principal.name} > ${line}`),
          );
          source.emit('data', chunk);
        },
        {
          promptBegan: (id, frame) => hub.promptBegan(shared(), id, frame),
          serves: (sessionId, method) => hub.serves(shared(), sessionId, method),
        },
        fail,
      );
      proxies.add(model);
      createConnection(
        source as never,
        { write: () => true, cork() {}, uncork() {}, end() {}, writableLength: 0, on() {} },
        { scanner, maxFrameBytes: 1 << 20 },
        {
          frame: (frame) => hub.fromProxy(shared(), frame),
          batch: (batch) => hub.batchFromProxy(shared(), batch),
          refused: () => fail('the proxy wrote an invalid line'),
          oversized: () => {},
          end() {},
        },
      );
      return model.port;
    },
    mark: (_, sessionId) => store.get(sessionId)?.items.length,
    history: (_, sessionId, upTo) =>
      store
        .get(sessionId)
        ?.items.slice(0, upTo)
        .map(({ updateText }) => updateText),
    refuses: () => undefined,
    isStored: (sessionId) => store.has(sessionId),
    after(_, act) {
      timers.add(act);
      return () => timers.delete(act);
    },
    graceMs: 1,
    limits: { maxLogBytes: 1 << 20, trimLogBytes: 600, maxObserverBytes: 1 << 20, maxHeldBytes: 1 << 20, maxOpen: 1024 },
    offersAttach: false,
  });
  const world = { hub, store, scanner, fail, trace: (line: string) => void trace.push(line), given };
  const fire = () => {
    const act = random.pick([...timers]);
    timers.delete(act);
    act();
  };
  const settle = (isOver: () => boolean) => {
    for (let round = 0; round < MOST_ROUNDS && problem === undefined && !isOver(); round++) {
      for (const client of clients) client.answerAll();
      let moved = false;
      for (const proxy of proxies) while (problem === undefined && proxy.step(random, true)) moved = true;
      if (!moved) return;
    }
  };

  for (; events < STEPS && problem === undefined; events++) {
    const act = random.weighted([
      [clients.length < 5 ? 2 : 0, 'connect'],
      [12, 'client'],
      [12, 'proxy'],
      [1, 'leave'],
      [timers.size > 0 ? 1 : 0, 'timer'],
    ] as const);
    if (act === 'connect') clients.push(createModelClient(++count, random.pick(PRINCIPALS), world));
    if (act === 'client' && clients.length > 0) random.pick(clients).step(random);
    if (act === 'proxy' && proxies.size > 0) random.pick([...proxies]).step(random, false);
    if (act === 'timer') {
      fault('grace over');
      fire();
    }
    if (act === 'leave' && clients.length > 0) {
      fault('client cut off');
      const client = random.pick(clients);
      client.disconnect();
      clients = clients.filter((one) => one !== client);
    }
  }
  settle(() => false);
  if (problem === undefined) for (const client of clients) client.check();
  for (const client of clients) if (problem === undefined) client.disconnect();
  clients = [];
  while (problem === undefined && timers.size > 0) fire();
  settle(() => false);
  if (problem === undefined && hub.sessions().length > 0) fail(`sessions are left: ${hub.sessions().map(({ id }) => id)}`);
  for (const proxy of proxies) {
    if (problem === undefined && proxy.openQuestions() > 0) fail(`${proxy.openQuestions()} questions are not answered`);
    if (problem === undefined && !proxy.isClosed) fail('a proxy is left');
  }
  return { seed, events, frames: trace.length, faults, problem, trace };
}
