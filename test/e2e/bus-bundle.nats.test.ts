// Policy bundles on hosts as real processes: what a host obeys, what it refuses, and when it accepts no sessions.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, vi } from 'vitest';
import { subjects } from '../../src/bus/cluster/records.ts';
import { connectNats } from '../../src/bus/nats-bus.ts';
import { generateKey, signBundle } from '../../src/bus/policy/bundle.ts';
import { BUNDLE_KEY } from '../../src/bus/policy/publish-bundle.ts';
import { type NatsServer, startNats } from '../bus/nats-server.ts';
import { type Cluster, clusterOn } from './bus.ts';
import { type Client, type Json, open, prompt, type Stage, test } from './harness.ts';

let server: NatsServer;
beforeAll(async () => {
  server = await startNats();
});
afterAll(() => server.stop());

const { privateKey, publicKey } = generateKey();
const ALLOWING = 'version: 1\ndefault: allow\n';
const NO_EDITS = 'version: 1\ndeny:\n  - { id: company-edits, action: edit }\n';

const bundle = (version: number, { text = NO_EDITS, maxAgeMs = 3_600_000, key = privateKey } = {}): string =>
  signBundle({ version, issuedAtMs: Date.now(), maxAgeMs, policies: [{ name: 'company.yaml', text }] }, key);

/** Puts anything in the place of the bundle, as every process that can write to the bus may. */
async function put(cluster: Cluster, text: string): Promise<void> {
  const bus = await connectNats({ url: cluster.bus.url, name: 'test' });
  onTestFinished(() => bus.close());
  const directory = await bus.directory(subjects(cluster.bus.tenant).policy);
  const entry = await directory.get(BUNDLE_KEY);
  await (entry ? directory.update(BUNDLE_KEY, Buffer.from(text), entry.revision) : directory.create(BUNDLE_KEY, Buffer.from(text)));
}

const at = (stage: Stage) => clusterOn(stage, server.url);
const obeying = (cluster: Cluster, name: string) =>
  cluster.host(name, {
    config: { bus: { ...cluster.bus, policy: { key: publicKey } }, policy: { version: 1, default: 'allow' }, workspace: 'serve-missing' },
  });

/** Whether the agent of a new session may edit a file. */
async function mayEdit(client: Client, stage: Stage): Promise<boolean> {
  client.on('session/request_permission', ({ options }: Json) => ({
    outcome: { outcome: 'selected', optionId: options.find(({ kind }: Json) => kind === 'allow_once').optionId },
  }));
  const { id } = await open(client, stage.cwd);
  await prompt(client, id, '/edit notes.txt');
  return existsSync(path.join(stage.cwd, 'notes.txt'));
}
const audit = (cluster: Cluster, name: string): Json[] =>
  readFileSync(path.join(cluster.state(name), 'audit.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

test('what is published binds every host; a lower version is refused by the command, and by each host', async ({ stage }) => {
  const cluster = at(stage);
  const file = (name: string) => path.join(stage.dir, name);
  const bundled = (...args: string[]) => cluster.command('policy', 'bundle', ...args);
  const { stdout } = await bundled('keygen', '--out', file('key.pem'), '--json');
  const key = JSON.parse(stdout).data.publicKey;
  const publish = (name: string) => bundled('publish', file(name), '--config', cluster.config());
  const sign = async (name: string, text: string, version: number) => {
    writeFileSync(file(`${name}.yaml`), text);
    const args = ['--key', file('key.pem'), '--out', file(name), '--number', `${version}`, '--max-age', '1h'];
    expect((await bundled('sign', file(`${name}.yaml`), ...args)).code).toBe(0);
  };
  await sign('loose', ALLOWING, 1);
  await sign('strict', NO_EDITS, 2);
  expect((await publish('loose')).code).toBe(0);
  const config = { bus: { ...cluster.bus, policy: { key } }, policy: { version: 1, default: 'allow' }, workspace: 'serve-missing' };
  const hosts = await Promise.all(['one', 'two'].map((name) => cluster.host(name, { args: ['--label', `at=${name}`], config })));
  const route = (name: string) => ({ config: { routes: [{ cwd: '/**', agent: 'demo', labels: { at: name } }] }, home: `edge-${name}` });
  const clients = await Promise.all(hosts.map(({ name }) => cluster.edge(route(name))));
  for (const client of clients) {
    expect(await mayEdit(client, stage)).toBe(true);
    rmSync(path.join(stage.cwd, 'notes.txt'));
  }
  expect((await publish('strict')).code).toBe(0);
  await Promise.all(hosts.map((host) => host.says('policy bundle 2 is in force')));
  for (const client of clients) expect(await mayEdit(client, stage)).toBe(false);
  const lower = await publish('loose');
  expect([lower.code, lower.stderr]).toEqual([1, expect.stringContaining('the bus has bundle 2, and versions only rise')]);
  await put(cluster, readFileSync(file('loose'), 'utf8')); // around the command
  await Promise.all(hosts.map((host) => host.says('policy bundle 1 is older than bundle 2')));
  for (const [k, client] of clients.entries()) {
    expect(await mayEdit(client, stage)).toBe(false);
    const denied = audit(cluster, hosts[k]?.name ?? '').filter(({ verdict }) => verdict === 'deny');
    expect(denied.map((line) => line.bundle)).toEqual([2, 2]);
    await client.close();
  }
});

describe('a host that pins a key', () => {
  test('obeys the bundle above its own policy, and names its version', async ({ stage }) => {
    const cluster = at(stage);
    await put(cluster, bundle(7));
    const host = await obeying(cluster, 'obedient');
    await host.says('policy bundle 7 is in force until');
    const client = await cluster.edge();
    expect(await mayEdit(client, stage)).toBe(false);
    const denied = audit(cluster, 'obedient').find(({ verdict }) => verdict === 'deny');
    expect(denied).toMatchObject({ bundle: 7, layer: 'bundle', rule: { id: 'company-edits', at: 'bundle-7/company.yaml:3' } });
    const { stdout } = await cluster.command('host', 'list', '--config', cluster.config());
    expect(stdout).toMatch(/obedient +ready .* bundle 7 /);
    await client.close();
  });

  test('takes a new bundle while it runs, also one that loosens what the last one denied', async ({ stage }) => {
    const cluster = at(stage);
    await put(cluster, bundle(1));
    const host = await obeying(cluster, 'follows');
    const client = await cluster.edge();
    expect(await mayEdit(client, stage)).toBe(false);
    await put(cluster, bundle(2, { text: ALLOWING }));
    await host.says('policy bundle 2 is in force');
    expect(await mayEdit(client, stage)).toBe(true);
    await client.close();
  });

  test('accepts no sessions without a bundle, and says why; it serves as soon as there is one', async ({ stage }) => {
    const cluster = at(stage);
    const host = await obeying(cluster, 'waits');
    await host.says('this host accepts no sessions: there is no policy bundle on the bus');
    const client = await cluster.edge();
    const error = await client.refused('session/new', { cwd: stage.cwd, mcpServers: [] });
    expect(error.message).toContain('waits: policy: there is no policy bundle on the bus; publish one: switchboard policy bundle publish');
    const listed = await cluster.command('host', 'list', '--config', cluster.config());
    expect([listed.stdout, listed.stderr]).toEqual([
      expect.stringMatching(/waits +no policy/),
      expect.stringContaining('host "waits" accepts no sessions'),
    ]);
    await put(cluster, bundle(1));
    await host.says('policy bundle 1 is in force');
    await vi.waitFor(() => open(client, stage.cwd), { timeout: 20_000, interval: 200 }); // the edge tries again after a while
    expect(await mayEdit(client, stage)).toBe(false);
    await client.close();
  });

  test('refuses a forged bundle, and one that is older than it has used, also after a restart', async ({ stage }) => {
    const cluster = at(stage);
    const old = bundle(1, { text: ALLOWING });
    await put(cluster, bundle(2));
    const host = await obeying(cluster, 'careful');
    const client = await cluster.edge();
    await put(cluster, bundle(9, { text: ALLOWING, key: generateKey().privateKey }));
    await host.says('which "bus.policy.key" does not name; bundle 2 stays in force');
    await put(cluster, old);
    await host.says('policy bundle 1 is older than bundle 2, which this host has used; bundle 2 stays in force');
    expect(await mayEdit(client, stage)).toBe(false);
    await host.stop();
    const again = await obeying(cluster, 'careful');
    await again.says('policy bundle 1 is older than bundle 2, which this host has used; this host accepts no sessions');
    expect((await client.refused('session/new', { cwd: stage.cwd, mcpServers: [] })).message).toContain('careful: policy: ');
    await client.close();
  });

  test('ends its sessions when the bundle expires, and answers their requests with the reason', async ({ stage }) => {
    const cluster = at(stage);
    await put(cluster, bundle(1, { maxAgeMs: 5000 }));
    const host = await obeying(cluster, 'expires');
    const client = await cluster.edge();
    const { id } = await open(client, stage.cwd);
    const running = prompt(client, id, '/slow 60');
    await client.until((msg) => JSON.stringify(msg).includes('2 of'));
    const { error } = await running;
    expect(error.message).toContain('host "expires" accepts no sessions: policy bundle 1 expired at');
    await host.says('this host accepts no sessions: policy bundle 1 expired at');
    expect((await prompt(client, id, 'hello')).error.message).toContain('expires: policy: policy bundle 1 expired');
    await put(cluster, bundle(2));
    await host.says('policy bundle 2 is in force');
    const again = async () => expect((await prompt(client, id, 'hello again')).result?.stopReason).toBe('end_turn');
    await vi.waitFor(again, { timeout: 20_000, interval: 200 }); // the edge tries again after a while
    await client.close();
  });

  test('does not start in observe mode', async ({ stage }) => {
    const cluster = at(stage);
    await put(cluster, bundle(1));
    const failure = await cluster
      .host('observes', { args: ['--policy-mode', 'observe'], config: { bus: { ...cluster.bus, policy: { key: publicKey } } } })
      .catch((error: Error) => error.message);
    expect(failure).toContain('a host that obeys policy bundles cannot only observe');
  });
});
