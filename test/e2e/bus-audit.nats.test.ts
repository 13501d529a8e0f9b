// `switchboard audit collect` with real hosts on a real server: with the keys of `bus init`, over deaths, and with what was changed.
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import readline from 'node:readline';
import { DiscardPolicy, jetstreamManager } from '@nats-io/jetstream';
import { expect, onTestFinished, vi } from 'vitest';
import { subjects } from '../../src/bus/cluster/records.ts';
import { createStorage, openHosts } from '../../src/bus/cluster/storage.ts';
import { connectNats } from '../../src/bus/nats-bus.ts';
import { connectTo } from '../../src/bus/nats-connection.ts';
import { freePort, startNats, startNatsIn } from '../bus/nats-server.ts';
import { type Cluster, clusterOn } from './bus.ts';
import { runCommand } from './daemon.ts';
import { type Client, type Json, open, prompt, type Stage, SWITCHBOARD, test } from './harness.ts';

const ALLOWING = { policy: { version: 1, default: 'allow' }, workspace: 'serve-missing' };

/** Each takes two decisions. */
const edit = (client: Client, id: string): Promise<Json> => prompt(client, id, '/edit notes.txt');

const auditText = (cluster: Cluster, name: string): string => readFileSync(path.join(cluster.state(name), 'audit.jsonl'), 'utf8');

const decisionsOf = (cluster: Cluster, name: string): string[] =>
  auditText(cluster, name)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
    .filter(({ end }) => end === undefined)
    .map(({ summary, time }) => `${summary} ${time.slice(0, 16)}`);

/** All that was collected of a host. */
const collectedOf = (dir: string, host: string): Json[] =>
  readdirSync(path.join(dir, host))
    .filter((file) => file.endsWith('.jsonl'))
    .flatMap((file) =>
      readFileSync(path.join(dir, host, file), 'utf8')
        .trim()
        .split('\n'),
    )
    .map((line) => JSON.parse(line));

const logsOf = (cluster: Cluster, tenant: string, name: string): string[] => {
  const dir = path.join(cluster.state(name), 'host-audit', tenant, name);
  return readdirSync(dir)
    .filter((file) => file.endsWith('.jsonl'))
    .map((file) => path.join(dir, file));
};

/** A bus of `bus init`, and what its admin does to it. */
async function guarded(stage: Stage) {
  const port = await freePort();
  const dir = path.join(stage.dir, 'bus');
  const members = ['--host', 'h1', '--host', 'h2', '--edge', 'alice'];
  runCommand(stage, 'bus', 'init', dir, '--server', `127.0.0.1:${port}`, ...members);
  const url = `tls://127.0.0.1:${port}`;
  const server = await startNatsIn(path.join(dir, 'servers/n1'), url);
  onTestFinished(() => server.stop());
  const settings = (member: string) => path.join(dir, 'tenants/default', member, 'bus.json');
  const key = (member: string) => ({
    url,
    name: 'test',
    credentials: settings(member).replace(/json$/, 'nk'),
    tls: { ca: path.join(dir, 'ca.pem') },
  });
  runCommand(stage, 'bus', 'create', '--bus', settings('admin'));
  const admin = await connectNats(key('admin'));
  const raw = await connectTo(key('admin'));
  onTestFinished(async () => {
    await admin.close();
    await raw.close();
  });
  return {
    settings,
    key,
    admin,
    /** Hosts can send no decisions until they are there again. */
    removeRecords: async () => void (await (await jetstreamManager(raw)).streams.delete(subjects('default').audit)),
    createRecords: () => createStorage(admin, 'default'),
    /** After a death, the place of a host is free in 20 s, or now. */
    async freePlace(host: string) {
      const hosts = await openHosts(admin, 'default');
      const entry = await hosts.get(host);
      if (entry) await hosts.remove(host, entry.revision);
    },
  };
}

test('decisions are collected once, over deaths of hosts and collectors, and a changed line is named', async ({ stage }) => {
  const bus = await guarded(stage);
  const cluster = clusterOn(stage, 'nats://unused', {}, 'default');
  const start = () => cluster.host('h1', { args: ['--bus', bus.settings('host-h1')], config: ALLOWING });
  const dir = path.join(stage.dir, 'collected');
  const collect = (...more: string[]) => cluster.command('audit', 'collect', '--bus', bus.settings('control'), '--dir', dir, ...more);
  const session = async () => {
    const client = await cluster.edge({ args: ['--bus', bus.settings('edge-alice')] });
    const { id } = await open(client, stage.cwd);
    return { client, id };
  };

  const first = await start();
  const one = await session();
  const listed = await cluster.command('host', 'list', '--sessions', '--bus', bus.settings('edge-alice'));
  expect([listed.code, listed.stderr]).toEqual([1, expect.stringContaining('the credentials do not permit it')]); // they may be of others
  await edit(one.client, one.id);
  // A collector that follows prints each line as it is.
  const following = stage.spawn(process.execPath, [
    ...[SWITCHBOARD, 'audit', 'collect', '--bus', bus.settings('control'), '--dir', dir, '--follow', '--json'],
  ]);
  const printed: Json[] = [];
  readline.createInterface({ input: following.stdout }).on('line', (line) => printed.push(JSON.parse(line)));
  await vi.waitFor(() => expect(printed).toHaveLength(decisionsOf(cluster, 'h1').length), { timeout: 20_000 });
  expect(printed[0]).toMatchObject({ seq: 1, host: 'h1', line: 1, agent: 'demo', verdict: 'allow', prev: '0'.repeat(64) });
  const busy = await collect();
  expect([busy.code, busy.stderr]).toEqual([1, expect.stringContaining('another process collects into')]);
  following.kill('SIGKILL');
  await once(following, 'close');
  const unfit = await cluster.command('audit', 'collect', '--bus', bus.settings('edge-alice'), '--dir', path.join(stage.dir, 'unfit'));
  expect([unfit.code, unfit.stderr]).toEqual([1, expect.stringContaining('the credentials do not permit it')]);
  const stopped = stage.spawn(process.execPath, [
    ...[SWITCHBOARD, 'audit', 'collect', '--bus', bus.settings('control'), '--dir', dir, '--follow'],
  ]);
  await once(stopped.stdout, 'data');
  stopped.kill('SIGTERM');
  expect(await once(stopped, 'close')).toEqual([0, null]);

  // The bus takes none; then the host dies with what waits.
  await bus.removeRecords();
  await edit(one.client, one.id);
  await first.says('decisions wait in');
  first.kill();
  await once(first.child, 'close');
  const [waiting = ''] = logsOf(cluster, 'default', 'h1');
  await bus.createRecords();
  await bus.freePlace('h1');
  await one.client.close();
  const second = await start();
  const two = await session();
  await edit(two.client, two.id);
  await vi.waitFor(async () => {
    const { code, stdout } = await collect('--json');
    expect([code, JSON.parse(stdout).data]).toMatchObject([0, { isIntact: true }]);
    expect(collectedOf(dir, 'h1').map(({ summary, time }) => `${summary} ${time.slice(0, 16)}`)).toEqual(decisionsOf(cluster, 'h1'));
  }, 20_000);
  const again = await collect();
  expect([again.code, again.stdout]).toEqual([0, expect.stringMatching(/^intact: .* \(2 logs, \d+ decisions; 0 new lines\)\n$/)]);
  expect(again.stderr).toContain('no end record: its host was killed or cut off');

  // A line that is changed while it waits.
  await bus.removeRecords();
  await edit(two.client, two.id);
  await second.says('decisions wait in');
  second.kill();
  await once(second.child, 'close');
  const changed = logsOf(cluster, 'default', 'h1').find((file) => file !== waiting) ?? '';
  const lines = readFileSync(changed, 'utf8').split('\n');
  const last = lines.length - 3;
  writeFileSync(changed, lines.map((line, k) => (k === last ? line.replace('"verdict":"allow"', '"verdict":"deny"') : line)).join('\n'));
  await bus.createRecords();
  await bus.freePlace('h1');
  await two.client.close();
  const third = await start();
  await vi.waitFor(async () => expect((await collect()).code).toBe(8), 20_000);
  const found = await collect();
  const incarnation = path.basename(changed, '.jsonl');
  expect([found.code, found.stderr]).toEqual([8, expect.stringContaining(`h1 ${incarnation}: edited: line ${last + 1} was changed`)]);
  expect(found.stdout).toMatch(/^not intact: .* \(1 broken of 2 logs/);
  expect(existsSync(waiting)).toBe(false); // collected to its end
  expect(await third.stop()).toBe(143);

  // Another host cannot write in its name.
  const other = await connectNats(bus.key('host-h2'));
  onTestFinished(() => other.close());
  const records = await other.stream(subjects('default').audit);
  const forged = Buffer.from(`{"v":1}\n${lines[0]}\n`);
  await expect(records.append(`h1.${incarnation}`, forged, 0)).rejects.toThrow('the credentials do not permit it');
  await expect(records.append('h2.life', forged, 0)).resolves.toBeGreaterThan(0); // in its own, it can: the line names another log
  const strange = await collect();
  expect([strange.code, strange.stderr]).toEqual([8, expect.stringContaining('h2 life: foreign: line 1 is of another log')]);
});

test('with audit.required, a host whose decisions the bus does not take denies everything, and says why', async ({ stage }) => {
  const server = await startNats();
  onTestFinished(() => server.stop());
  const cluster = clusterOn(stage, server.url);
  const nats = await connectTo({ url: server.url, name: 'test' });
  onTestFinished(() => nats.close());
  const { audit } = subjects(cluster.bus.tenant);
  const manager = await jetstreamManager(nats);
  await manager.streams.add({ name: audit, subjects: [`${audit}.>`], max_bytes: 100, discard: DiscardPolicy.New, allow_direct: true });
  const host = await cluster.host('full', { config: { ...ALLOWING, audit: { required: true, spool_bytes: 4096 } } });
  const client = await cluster.edge();
  const { id } = await open(client, stage.cwd);
  await edit(client, id);
  await host.says('decisions wait in');
  const isDenied = async () => {
    await edit(client, id);
    expect(auditText(cluster, 'full')).toContain('"prevented"');
  };
  await vi.waitFor(isDenied, { timeout: 20_000, interval: 10 });
  const denied = auditText(cluster, 'full')
    .split('\n')
    .find((line) => line.includes('"prevented"'));
  const why =
    /bytes of decisions wait for the bus, and "audit\.spool_bytes" allows 4096: the stream is full; collect .*: switchboard audit collect/;
  expect(JSON.parse(denied ?? '{}').why).toMatch(why);
  const shown = JSON.stringify(client.all('session/update').map(({ msg }) => msg)).replaceAll('\\"', '"');
  expect(shown).toMatch(why);
  expect(shown).not.toContain('change that rule');
  await manager.streams.update(audit, { max_bytes: 1_000_000 });
  await host.says('the bus takes decisions of the audit log again');
  const { code } = await cluster.command('audit', 'collect', '--config', cluster.config(), '--dir', path.join(stage.dir, 'c'));
  expect(code).toBe(0);
  await edit(client, id);
  await vi.waitFor(async () => {
    await cluster.command('audit', 'collect', '--config', cluster.config(), '--dir', path.join(stage.dir, 'c'));
    const collected = collectedOf(path.join(stage.dir, 'c'), 'full');
    expect(collected.at(-1)).toMatchObject({ outcome: 'allowed' });
    // What came before the denials is allowed, too: the line after them counts them.
    expect(collected.some(({ skipped }) => skipped > 0)).toBe(true);
  }, 20_000);
  await client.close();
});
