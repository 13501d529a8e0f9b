// What the keys of a bus may do on a real server with the generated configuration, and what it refuses them.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { credsAuthenticator, headers, type NatsConnection, nkeyAuthenticator, connect as plainConnect } from '@nats-io/transport-node';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { Bus } from '../../../src/bus/bus.ts';
import { subjects } from '../../../src/bus/cluster/records.ts';
import { createStorage, openHosts } from '../../../src/bus/cluster/storage.ts';
import { connectNats } from '../../../src/bus/nats-bus.ts';
import { createUserKey } from '../../../src/bus/nats-login.ts';
import { clusterFiles, memberPath, newAuthority, seedPath } from '../../../src/bus/setup/cluster-files.ts';
import { grantsOf, inboxOf, type Member } from '../../../src/bus/setup/grants.ts';
import { echoHost, edgeOn, TO_ECHO } from '../cluster/echo-host.ts';
import { freePort, type NatsServer, startNatsIn } from '../nats-server.ts';

const MEMBERS = ['host h1', 'host h2', 'edge alice', 'edge bob', 'control control', 'admin admin'];
const at = subjects('one');
const dir = mkdtempSync(path.join(os.tmpdir(), 'switchboard-grants-'));
const seeds = new Map<string, string>();
const keys = new Map<string, string>();
let server: NatsServer;
let url: string;
let admin: Bus;
const open: { close(): Promise<void> }[] = [];

/** A process with the key of a member, such as `one/host h1`, through our own client. */
async function as(who: string): Promise<Bus> {
  const [tenant = '', member = ''] = who.split('/');
  const [role, name = ''] = member.split(' ');
  const credentials = path.join(dir, seedPath(tenant, { role: role as Member['role'], name }));
  const bus = await connectNats({ url, credentials, tls: { ca: path.join(dir, 'ca.pem') }, name: who });
  open.push(bus);
  return bus;
}

/** One that is not our client: it tries anything, and says what the server refused. */
async function hostile(who: string): Promise<NatsConnection & { readonly refused: string[] }> {
  const nats = await plainConnect({
    servers: url,
    authenticator: nkeyAuthenticator(Buffer.from(seeds.get(who) ?? '')),
    inboxPrefix: inboxOf(keys.get(who) ?? ''),
    tls: { caFile: path.join(dir, 'ca.pem') },
  });
  const refused: string[] = [];
  void (async () => {
    for await (const status of nats.status()) if (status.type === 'error') refused.push(status.error.message);
  })();
  open.push(nats);
  return Object.assign(nats, { refused });
}

beforeAll(async () => {
  const port = await freePort();
  const tenants = new Map<string, Member[]>();
  const paths = new Map<string, string>();
  for (const tenant of ['one', 'two'])
    for (const text of MEMBERS) {
      const [role = '', name = ''] = text.split(' ');
      const { seed, key } = createUserKey();
      const member = { role: role as Member['role'], name, key };
      tenants.set(tenant, [...(tenants.get(tenant) ?? []), member]);
      seeds.set(`${tenant}/${text}`, seed);
      keys.set(`${tenant}/${text}`, key);
      paths.set(seedPath(tenant, member), seed);
    }
  // A name, to which its certificate belongs.
  const servers = [{ name: 'n1', host: 'localhost', port }];
  const files = clusterFiles({ servers, tenants, seeds: paths, authority: newAuthority(Date.now()) }, Date.now());
  for (const { path: file, text } of files) {
    mkdirSync(path.dirname(path.join(dir, file)), { recursive: true });
    writeFileSync(path.join(dir, file), text);
  }
  url = `tls://localhost:${port}`;
  server = await startNatsIn(path.join(dir, 'servers/n1'), url);
  admin = await as('one/admin admin');
  await createStorage(admin, 'one');
  await createStorage(await as('two/admin admin'), 'two');
});
afterAll(async () => {
  for (const one of open) await one.close();
  await server.stop();
  rmSync(dir, { recursive: true, force: true });
});

test('with their keys, a host serves and an edge uses its agents', async () => {
  const host = await echoHost(await as('one/host h1'), 'one', 'h1');
  const edge = await edgeOn(await as('one/edge alice'), 'one', { principal: 'alice' });
  expect(edge.hosts().map(({ host }) => host)).toEqual(['h1']);
  const transport = edge.connect(TO_ECHO);
  const read: Buffer[] = [];
  transport.fromAgent.on('data', (bytes) => read.push(bytes));
  transport.toAgent.write(Buffer.from('hello'));
  await vi.waitFor(() => expect(Buffer.concat(read).toString()).toBe('hello'));
  await host.close();
  expect(await (await openHosts(admin, 'one')).get('h1')).toBeUndefined();
  await edge.close();
});

test('a host appends to the records of its incarnations, and control reads and trims them', async () => {
  const records = await (await as('one/host h1')).stream(at.audit);
  const sequence = (await records.append('h1.life', Buffer.from('a'), 0)) as number;
  expect((await records.last('h1.life'))?.sequence).toBe(sequence);
  const control = await (await as('one/control control')).stream(at.audit);
  const seen: string[] = [];
  const stop = await control.read(0, ({ subject }) => seen.push(subject));
  await vi.waitFor(() => expect(seen).toEqual(['h1.life']));
  stop();
  await control.trim(sequence);
  expect(await records.last('h1.life')).toBeUndefined();
});

test('control publishes a policy, and hosts watch it', async () => {
  const policy = await (await as('one/control control')).directory(at.policy);
  const seen: string[] = [];
  const stop = await (await (await as('one/host h2')).directory(at.policy)).watch(({ key }) => seen.push(key));
  expect(await policy.create('signed', Buffer.from('x'))).toBeGreaterThan(0);
  await vi.waitFor(() => expect(seen).toEqual(['signed']));
  stop();
});

const KV_HOSTS = `KV_${at.hosts}`;
const REFUSED: readonly (readonly [who: string, what: string, subject: string])[] = [
  ['host h2', 'sends in the name of another host', at.linkToEdge('alice', 'e', 'h1', 'e_1')],
  ['host h2', "writes another host's lease", `$KV.${at.hosts}.h1`],
  ['host h2', "appends to another host's records", `${at.audit}.h1.life`],
  ['host h2', 'publishes a policy', `$KV.${at.policy}.signed`],
  ['host h2', 'drains another host', at.drainAt('h1')],
  ['host h2', 'opens a connection', at.openAt('h1', 'alice')],
  ['edge bob', 'opens a connection in the name of another user', at.openAt('h1', 'alice')],
  ['edge bob', "sends into another user's connection", at.linkToHost('h1', 'alice', 'e_1')],
  ['edge bob', 'writes a lease', `$KV.${at.hosts}.h1`],
  ['edge bob', 'writes a session', `$KV.${at.sessions}.k`],
  ['edge bob', 'drains a host', at.drainAt('h1')],
  ['control control', 'writes a lease', `$KV.${at.hosts}.h1`],
  ['control control', 'opens a connection', at.openAt('h1', 'alice')],
  ...['host h2', 'edge bob', 'control control'].flatMap((who) =>
    [
      ['deletes a stream', `$JS.API.STREAM.DELETE.${KV_HOSTS}`],
      ['purges a directory', `$JS.API.STREAM.PURGE.${KV_HOSTS}`],
      ['changes a stream', `$JS.API.STREAM.UPDATE.${KV_HOSTS}`],
      ['creates a stream', '$JS.API.STREAM.CREATE.more'],
      ['removes a record', `$JS.API.STREAM.MSG.DELETE.${KV_HOSTS}`],
      ['answers in the name of the server', `${inboxOf('UX')}.x`],
    ].map(([what = '', subject = '']) => [who, what, subject] as const),
  ),
  ['host h2', 'purges the records', `$JS.API.STREAM.PURGE.${at.audit}`],
  ['host h2', 'has its own records delivered', `$JS.API.CONSUMER.CREATE.${at.audit}.x`],
  ['host h2', 'has leases delivered', `$JS.API.CONSUMER.CREATE.${KV_HOSTS}.x.>`],
  ['control control', 'has the policy delivered', `$JS.API.CONSUMER.CREATE.KV_${at.policy}.x.>`],
];
test.each(REFUSED)('the server refuses when %s %s', async (who, _, subject) => {
  const nats = await hostile(`one/${who}`);
  nats.publish(subject, '{}');
  await nats.flush();
  await vi.waitFor(() => expect(nats.refused).toEqual([expect.stringContaining(subject)]));
});

test.each([
  ['host h2', at.linkToHost('h1', '*', '*')],
  ['host h2', at.linkToEdge('alice', '*', '*', '*')],
  ['host h2', `$KV.${at.hosts}.*`],
  ['edge bob', at.linkToEdge('alice', '*', '*', '*')],
  ['edge bob', at.linkToEdge('*', '*', '*', '*')],
  ['edge bob', '_INBOX.>'],
  ['edge bob', '>'],
  ['control control', 'sb.>'],
])('the server refuses when %s listens to %s', async (who, subject) => {
  const nats = await hostile(`one/${who}`);
  nats.subscribe(subject, { callback: () => {} });
  await nats.flush();
  await vi.waitFor(() => expect(nats.refused).toEqual([expect.stringContaining(subject)]));
});

test('a host cannot remove the leases of others with a roll-up of its own', async () => {
  const hosts = await openHosts(admin, 'one');
  await hosts.create('h3', Buffer.from('there'));
  const nats = await hostile('one/host h2');
  const all = headers();
  all.set('Nats-Rollup', 'all');
  const answer = await nats.request(`$KV.${at.hosts}.h2`, 'x', { headers: all, timeout: 2000 });
  expect(answer.string()).toContain('rollup not permitted');
  expect((await hosts.get('h3'))?.value.toString()).toBe('there');
});

test('tenants cannot see each other: the same names are others, and messages do not arrive', async () => {
  const [one, two] = [await as('one/admin admin'), await as('two/admin admin')];
  await (await openHosts(one, 'one')).create('seen', Buffer.from('x'));
  expect(await (await openHosts(two, 'one')).get('seen')).toBeUndefined();
  const heard: string[] = [];
  two.listen('sb.one.host.*.drain', (_, subject) => heard.push(subject));
  two.listen('sb.two.host.*.drain', (_, subject) => heard.push(subject));
  await two.flush();
  one.send(at.drainAt('h1'), Buffer.from(''));
  await one.flush();
  two.send(subjects('two').drainAt('h1'), Buffer.from(''));
  await vi.waitFor(() => expect(heard).toEqual(['sb.two.host.h1.drain']));
  await expect(one.ask('sb.two.host.h1.open.alice', Buffer.from(''), 1000)).rejects.toMatchObject({ reason: 'nobody' });
});

test('nobody gets in without a key, with an unknown key, or to a server with another certificate', async () => {
  const tls = { ca: path.join(dir, 'ca.pem') };
  await expect(connectNats({ url, tls, name: 'x' })).rejects.toThrow('wants credentials');
  const unknown = path.join(dir, 'unknown.nk');
  writeFileSync(unknown, createUserKey().seed);
  await expect(connectNats({ url, tls, credentials: unknown, name: 'x' })).rejects.toThrow('rejected the credentials');
  const other = path.join(dir, 'other.pem');
  writeFileSync(other, newAuthority(Date.now()).cert);
  const credentials = path.join(dir, seedPath('one', { role: 'edge', name: 'bob' }));
  await expect(connectNats({ url, tls: { ca: other }, credentials, name: 'x' })).rejects.toThrow(
    /cannot reach the bus .*(certificate|self-signed)/,
  );
  // The certificate is for the name "localhost" alone.
  await expect(connectNats({ url: url.replace('localhost', '127.0.0.1'), tls, credentials, name: 'x' })).rejects.toThrow('altnames');
});

test('a file that holds no credentials is refused by its name, and a missing directory says who may create it', async () => {
  const none = path.join(dir, 'none.nk');
  writeFileSync(none, 'no seed\n');
  await expect(connectNats({ url, credentials: none, name: 'x' })).rejects.toThrow(
    `${none} contains neither NATS credentials nor the seed`,
  );
  const edge = await as('one/edge bob');
  await expect(edge.directory('sb-one-other')).rejects.toThrow('does not exist on the bus, and these credentials may not create it');
  await expect(edge.ask(at.drainAt('h1'), Buffer.from(''), 1000)).rejects.toThrow(
    'the credentials do not permit it (publish sb.one.host.h1.drain)',
  );
});

test('a host answers to inboxes only, whatever the question says', async () => {
  const bus = await as('one/host h1');
  const stop = bus.answer(at.drainAt('h1'), async () => Buffer.from('answer'));
  await bus.flush();
  const control = await hostile('one/control control');
  const watched = await (await openHosts(admin, 'one')).get('h2');
  control.publish(at.drainAt('h1'), '{}', { reply: `$KV.${at.hosts}.h2` });
  expect((await control.request(at.drainAt('h1'), '{}')).string()).toBe('answer');
  expect(await (await openHosts(admin, 'one')).get('h2')).toEqual(watched);
  stop();
});

test('signed users (.creds) are accepted as well', async () => {
  const { natsLogin } = await import('../../../src/bus/nats-login.ts');
  const file = path.join(dir, 'user.creds');
  const { seed } = createUserKey();
  const part = (name: string, text: string) => `-----BEGIN ${name}-----\n${text}\n------END ${name}------\n`;
  writeFileSync(file, `${part('NATS USER JWT', 'a.b.c')}\n${part('USER NKEY SEED', seed)}`);
  const { authenticator, inboxPrefix } = natsLogin(file);
  expect([authenticator('nonce'), inboxPrefix]).toEqual([
    credsAuthenticator(Buffer.from((await import('node:fs')).readFileSync(file)))('nonce'),
    undefined,
  ]);
});

test('an edge and its sender are the same name in grants, also when the name of the user is none', () => {
  const { publish } = grantsOf('one', { role: 'edge', name: 'first.last', key: 'U' });
  expect(publish).toContain('sb.one.host.*.open.=Zmlyc3QubGFzdA');
  expect(memberPath('one', { role: 'edge', name: 'first.last' })).toBe('tenants/one/edge-first.last');
});
