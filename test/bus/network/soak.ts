// The long form of faults.nats.netns.root.test.ts, for `npm run soak -- --bus`: kills, cuts and freezes at random, until the time is over.
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { seeded } from '../../sim/random.ts';
import { startBusNetwork } from './bus-network.ts';
import type { Machine } from './namespaces.ts';
import { createUsers, ranTwice } from './users.ts';

export type SoakOptions = {
  readonly root: string;
  readonly minutes: number;
  readonly seed: number;
  readonly users: number;
  readonly print: (line: string) => void;
};

/** Two kinds of faults: those that links and leases outlast, and those that end a lease. */
const SHORT_MS = { from: 300, to: 8000 };
const LONG_MS = { from: 21_000, to: 35_000 };
const REPORT_EVERY_MS = 10_000;
/** The longest that a request may take beyond its turn: the edge may be frozen while hosts fail. */
const WITHIN_MS = 120_000;
const MAX_GROWTH_MB = 60;

/** The failures that it found. */
export async function soakBus({ root, minutes, seed, users: count, print }: SoakOptions): Promise<readonly string[]> {
  const random = seeded(seed);
  const network = await startBusNetwork({ root, hosts: ['a', 'b'] });
  const faults = new Map<string, number>();
  const failures: string[] = [];
  const busy = new Set<Machine>();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      network.remove(); // namespaces outlive the processes in them
      process.exit(130);
    });
  try {
    await Promise.all(network.hosts.map(network.startHost));
    const edge = network.startEdge();
    const users = createUsers(edge, { cwd: network.dir, withinMs: WITHIN_MS });
    await users.initialize();
    const began = performance.now();
    const isOver = () => performance.now() - began > minutes * 60_000;
    const samples: number[] = [];
    const report = setInterval(() => {
      const rssMb = Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${edge.pid}/status`, 'utf8'))?.[1]) / 1024);
      samples.push(rssMb);
      const kinds = [...faults].map(([kind, times]) => `${kind} ${times}`).join(', ');
      const s = String(Math.round((performance.now() - began) / 1000)).padStart(5);
      print(
        `${s} s  turns ${users.turns}  ended ${users.ended.size}  failed ${users.failed.size}  longest wait ${(users.longestMs / 1000).toFixed(1)} s  edge ${rssMb} MB  problems ${users.problems.length}  ${kinds}`,
      );
    }, REPORT_EVERY_MS);
    const words = () => ({ count: random.int(1, 60), everyMs: random.pick([0, 5, 50, 200]) });
    const work = Array.from({ length: count }, () => users.work(isOver, words));
    await Promise.all([...work, breakThings(isOver), breakThings(isOver)]);
    clearInterval(report);
    const quarter = Math.ceil(samples.length / 4);
    const [early, late] = [median(samples.slice(quarter, 2 * quarter)), median(samples.slice(-quarter))];
    print(`memory of the edge: ${early} MB in the second quarter, ${late} in the last`);
    if (late - early > MAX_GROWTH_MB) failures.push(`the edge grew from ${early} to ${late} MB`);
    const reasons = new Map<string, number>();
    for (const message of users.failed.values()) reasons.set(message, (reasons.get(message) ?? 0) + 1);
    for (const [message, times] of reasons) print(`${String(times).padStart(5)} x ${message}`);
    failures.push(...users.problems, ...ranTwice(users, network.noted('runs')));
    if (users.ended.size === 0) failures.push('no turn ended');
  } finally {
    network.remove();
  }
  return failures;

  async function breakThings(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      await delay(random.int(500, 5000));
      const { servers, hosts, edge } = network;
      const { kind, machine } = random.weighted([
        [2, { kind: 'kill', machine: random.pick(servers) }],
        [2, { kind: 'freeze', machine: random.pick(servers) }],
        [2, { kind: 'cut', machine: random.pick(servers) }],
        [2, { kind: 'kill', machine: random.pick(hosts) }],
        [3, { kind: 'freeze', machine: random.pick(hosts) }],
        [3, { kind: 'cut', machine: random.pick(hosts) }],
        [1, { kind: 'cut', machine: edge }],
        [1, { kind: 'freeze', machine: edge }],
      ] as const);
      if (busy.has(machine)) continue;
      busy.add(machine);
      const isLong = random.chance(0.1);
      const name = `${kind} ${servers.includes(machine) ? 'server' : machine === edge ? 'edge' : 'host'}${isLong ? ' for long' : ''}`;
      faults.set(name, (faults.get(name) ?? 0) + 1);
      await happen(kind, machine, random.int(isLong ? LONG_MS.from : SHORT_MS.from, isLong ? LONG_MS.to : SHORT_MS.to));
      busy.delete(machine);
    }
  }
  async function happen(kind: 'kill' | 'freeze' | 'cut', machine: Machine, ms: number): Promise<void> {
    if (kind === 'cut') machine.cut();
    else machine.signal(kind === 'kill' ? 'SIGKILL' : 'SIGSTOP');
    await delay(ms);
    if (kind === 'cut') return machine.join();
    if (kind === 'freeze') return machine.signal('SIGCONT');
    if (network.servers.includes(machine)) return network.startServer(machine);
    await network.startHost(machine);
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
