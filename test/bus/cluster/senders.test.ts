// Subjects name their sender, which a bus can check. A host and an edge take nothing that comes in another's name.
import { expect, test, vi } from 'vitest';
import { createBroker } from '../../../src/bus/broker.ts';
import { nameOf } from '../../../src/bus/bus.ts';
import { systemBusClock } from '../../../src/bus/clock.ts';
import { FENCE_MS } from '../../../src/bus/cluster/lease.ts';
import { readOpenAnswer, subjects, write } from '../../../src/bus/cluster/records.ts';
import { decodeMessage, encodeMessage } from '../../../src/bus/link/messages.ts';
import { echoHost, edgeOn, newTenant, TO_ECHO } from './echo-host.ts';

const broker = createBroker(Date.now);

async function connected() {
  const [hostBus, edgeBus, other] = [broker.connect(), broker.connect(), broker.connect()];
  const tenant = newTenant();
  const host = await echoHost(hostBus, tenant);
  const edge = await edgeOn(edgeBus, tenant);
  const sent: string[] = [];
  let epoch = 0;
  const hear = (message: Buffer, subject: string) => {
    sent.push(subject);
    epoch = decodeMessage(message)?.epoch ?? 0;
  };
  const listening = [other.listen(`sb.${tenant}.host.*.link.*.*`, hear), other.listen(`sb.${tenant}.edge.*.*.*.*`, hear)];
  const transport = edge.connect(TO_ECHO);
  const read: Buffer[] = [];
  const exits: unknown[] = [];
  transport.fromAgent.on('data', (bytes) => read.push(bytes));
  transport.onExit((exit) => exits.push(exit));
  transport.toAgent.write(Buffer.from('hello'));
  await vi.waitFor(() => expect(Buffer.concat(read).toString()).toBe('hello'));
  return {
    other,
    tenant,
    exits,
    epoch,
    read,
    transport,
    toHost: sent.find((subject) => subject.includes('.host.')) ?? '',
    toEdge: sent.find((subject) => subject.includes('.edge.')) ?? '',
    async stop() {
      for (const stop of listening) stop();
      await edge.close();
      await host.close();
    },
  };
}

test('what another host or another principal sends into a connection is not taken', async () => {
  const it = await connected();
  const reason = 'forged';
  const forged = encodeMessage({ kind: 'reset', epoch: it.epoch, reason });
  it.other.send(it.toEdge, encodeMessage({ kind: 'reset', epoch: (it.epoch ^ 1) >>> 0, reason })); // the epoch is known to both ends only
  it.other.send(it.toEdge.replace('.h1.', '.h2.'), forged);
  it.other.send(it.toHost.replace('.link.someone.', '.link.other.'), forged);
  it.transport.toAgent.write(Buffer.from(' again'));
  await vi.waitFor(() => expect(Buffer.concat(it.read).toString()).toBe('hello again'));
  expect(it.exits).toEqual([]);
  it.other.send(it.toEdge, forged); // the same message in the right name
  await vi.waitFor(() => expect(it.exits).toEqual([{ kind: 'disconnected', why: 'forged' }]));
  await it.stop();
});

test('a host refuses an edge that names another principal than it sends as', async () => {
  const it = await connected();
  const request = write({ v: 1, edge: 'e', link: 'e_1', agent: 'echo', principal: 'someone' });
  const answer = await it.other.ask(subjects(it.tenant).openAt('h1', 'other'), request, 1000);
  expect(readOpenAnswer(answer)).toEqual({ isOpen: false, reason: 'another principal' });
  await it.stop();
});

test('a host drains only when it is asked to by its name', async () => {
  const it = await connected();
  const { hosts, drainAt } = subjects(it.tenant);
  const directory = await it.other.directory(hosts);
  const isDraining = async () => JSON.parse((await directory.get('h1'))?.value.toString() ?? '{}').isDraining;
  for (const wrong of [(await directory.get('h1'))?.value ?? Buffer.alloc(0), Buffer.from('no json'), write({ v: 1, drain: 'h2' })])
    await it.other.ask(drainAt('h1'), wrong, 1000);
  expect(await isDraining()).toBe(false);
  await it.other.ask(drainAt('h1'), write({ v: 1, drain: 'h1' }), 1000);
  expect(await isDraining()).toBe(true);
  await it.stop();
});

test('an open request that arrives twice opens one connection', async () => {
  const it = await connected();
  const { openAt, hosts } = subjects(it.tenant);
  const request = write({ v: 1, edge: 'e', link: 'e_1', agent: 'echo', principal: 'someone' });
  for (let k = 0; k < 2; k++) await it.other.ask(openAt('h1', 'someone'), request, 1000);
  const directory = await it.other.directory(hosts);
  await vi.waitFor(async () => expect(JSON.parse((await directory.get('h1'))?.value.toString() ?? '{}').load).toBe(2));
  await it.stop();
});

test.each([
  ['alice', 'alice'],
  ['first.last', '=Zmlyc3QubGFzdA'],
  ['=alice', '=PWFsaWNl'],
  ['', '='],
])('a principal %j is %j in subjects', (principal, name) => {
  expect(nameOf(principal)).toBe(name);
});

test('a host refuses a session that it cannot look up, instead of saying later that it is lost', async () => {
  const bus = broker.connect();
  const tenant = newTenant();
  const { sessions, openAt } = subjects(tenant);
  const away: typeof bus = {
    ...bus,
    isConnected: true,
    directory: async (name, options) => ({
      ...(await bus.directory(name, options)),
      ...(name === sessions && { get: () => Promise.reject(new Error('no quorum')) }),
    }),
  };
  const host = await echoHost(away, tenant);
  const ask = async (more: object) =>
    readOpenAnswer(
      await bus.ask(openAt('h1', 'someone'), write({ v: 1, edge: 'e', link: 'e_1', agent: 'echo', principal: 'someone', ...more }), 1000),
    );
  expect(await ask({ session: 's1' })).toEqual({ isOpen: false, reason: 'directory away', why: 'no quorum' });
  expect(await ask({})).toMatchObject({ isOpen: true }); // a new session needs no directory
  await host.close();
});

test('a host that could not renew its lease refuses sessions for that, and not because it drains', async () => {
  const bus = broker.connect();
  const tenant = newTenant();
  let now = 0;
  const host = await echoHost(bus, tenant, 'h1', { clock: { ...systemBusClock, monotonicMs: () => now } });
  now = FENCE_MS + 1;
  const request = write({ v: 1, edge: 'e', link: 'e_1', agent: 'echo', principal: 'someone' });
  const answer = readOpenAnswer(await bus.ask(subjects(tenant).openAt('h1', 'someone'), request, 1000));
  expect(answer).toEqual({ isOpen: false, reason: 'no lease' });
  await host.close();
});
