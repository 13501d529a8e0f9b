// A bus of eight machines, each in a network namespace: three NATS servers, hosts and an edge with several users. Servers, hosts and cables
// fail in a fixed order, at times that overlap. `npm run soak -- --bus` does the same at random, for as long as one likes.
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BusNetwork, type Program, startBusNetwork } from './bus-network.ts';
import { createUsers, ranTwice, type Users } from './users.ts';

let network: BusNetwork;
const programs = new Map<string, Program>();

beforeAll(async () => {
  network = await startBusNetwork({ root: path.resolve(import.meta.dirname, '../../..'), hosts: ['a', 'b', 'c'] });
  for (const program of await Promise.all(network.hosts.map(network.startHost))) programs.set(program.machine.name, program);
}, 90_000);
afterAll(() => network?.remove());

test('every request is answered once and in time, and no prompt runs twice, whatever is killed, cut and frozen', async () => {
  const edge = network.startEdge();
  const users = createUsers(edge, { cwd: network.dir, withinMs: 45_000 });
  await users.initialize();
  let isOver = false;
  const working = Array.from({ length: 6 }, (_, n) =>
    users.work(
      () => isOver,
      () => ({ count: 5 + n, everyMs: 40 * (n + 1) }),
    ),
  );
  const ofHost = await sessionsByHost(network, users);
  const [hostA, hostB] = network.hosts.slice(0, 2) as [BusNetwork['edge'], BusNetwork['edge']];
  const frozen = programs.get('b') as Program;

  // Host a dies and host b freezes, both in the middle of turns; b's waits for an answer.
  const ofA = endlessTurn(users, ofHost.a);
  const ofB = users.nextTag();
  const askedOfB = users.prompt(ofHost.b, { tag: ofB, count: 1, everyMs: 1, asks: true });
  const allow = await users.asked(ofB);
  await users.heard(ofA.tag, 3);
  const failedAt = performance.now();
  hostA.signal('SIGKILL');
  hostB.signal('SIGSTOP');
  allow();
  // What happens meanwhile to the servers and to the other machines.
  const others = otherFaults(network);
  others.catch(() => {}); // reported where it is awaited
  for (const [name, lost] of [['a', ofA.answer] as const, ['b', askedOfB] as const]) {
    expect((await lost)?.message).toContain(`host "${name}" is gone`);
    expect(performance.now() - failedAt).toBeLessThan(30_000);
  }
  // The sessions of both go on where they can.
  for (const session of [ofHost.a, ofHost.b]) await goesOn(users, session);
  const before = frozen.messages().length;
  hostB.signal('SIGCONT');
  await frozen.says('offers its agents again', before);
  await others;
  // A host of the name of the dead one may come back, too.
  await network.startHost(hostA);

  isOver = true;
  await Promise.all(working);
  expect(network.noted('allowed').get(ofB)).toBeUndefined();
  expect([...users.problems, ...ranTwice(users, network.noted('runs'))]).toEqual([]);
  expect(users.ended.size).toBeGreaterThan(10); // how many depends on the machine
  edge.stdin?.end();
}, 180_000);

/** A session on each host. */
async function sessionsByHost({ hosts }: BusNetwork, users: Users): Promise<{ readonly a: string; readonly b: string }> {
  const found = new Map<string, string>();
  while (found.size < hosts.length) {
    const id = await users.open();
    found.set(id.slice(0, id.indexOf('-')), id); // the fixture's ids begin with the name of the host
  }
  return { a: found.get('a') as string, b: found.get('b') as string };
}

/** As soon as the bus decides again; a session that is reported as lost stays lost. */
async function goesOn(users: Users, session: string): Promise<void> {
  for (;;) {
    const error = await users.prompt(session, { count: 2, everyMs: 1 });
    if (!error) return;
    expect(error.data?.reason).not.toBe('session_lost');
    await delay(500);
  }
}

function endlessTurn(users: Users, session: string) {
  const tag = users.nextTag();
  return { tag, answer: users.prompt(session, { tag, count: 400, everyMs: 100 }) };
}

/** Faults of a few seconds each: nothing but time is lost. */
async function otherFaults({ servers, hosts, edge, startServer, command, decides }: BusNetwork): Promise<void> {
  const [n1, n2, n3] = servers as [BusNetwork['edge'], BusNetwork['edge'], BusNetwork['edge']];
  const hostC = hosts[2] as BusNetwork['edge'];
  edge.cut();
  await delay(3000);
  edge.join();
  // A server vanishes: the others go on, and who was connected to it goes to them.
  n1.cut();
  await delay(1000);
  hostC.signal('SIGSTOP');
  await delay(2000);
  hostC.signal('SIGCONT');
  await delay(7000);
  n1.join();
  await decides();
  hostC.cut();
  await delay(2000);
  hostC.join();
  expect(programs.get('c')?.messages()).not.toContain('has lost its place');
  // One of three servers is left: nothing is decided.
  n2.signal('SIGKILL');
  n3.signal('SIGSTOP');
  const list = await command('control', 'host', 'list');
  expect([list.code, list.output]).toEqual([1, expect.stringContaining('no quorum')]);
  n3.signal('SIGCONT');
  await startServer(n2);
  await decides();
}
