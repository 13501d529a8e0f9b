// `switchboard bus init`: the files of a cluster, and what a second run keeps.
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { createHome, type Home } from '../command.ts';

const SEED = /SU[A-Z2-7]{56}/;

function filesBelow(dir: string): readonly string[] {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .map((one) => path.join(one.parentPath, one.name));
}

async function init(home: Home, ...args: readonly string[]) {
  const { code, stdout, stderr } = await home.quick(['bus', 'init', ...args]);
  const at = (file: string) => path.join(home.project, 'switchboard-bus', file);
  return { code, stdout, stderr, at, read: (file: string) => readFileSync(at(file), 'utf8') };
}

test('one server, this machine and this user, without a word', async () => {
  const it = await init(createHome());
  const [host, user] = [os.hostname().replaceAll(/[^\w-]/g, '-'), os.userInfo().username];
  expect([it.code, it.stderr]).toEqual([0, '']);
  expect(JSON.parse(it.read(`tenants/default/host-${host}/bus.json`))).toEqual({
    url: 'tls://127.0.0.1:4222',
    tenant: 'default',
    name: host,
    credentials: 'bus.nk',
    tls: { ca: 'ca.pem' },
  });
  for (const next of ['nats-server --config nats.conf', 'switchboard bus create --bus', `host-${host}/bus.json`, `edge-${user}/bus.json`])
    expect(it.stdout).toContain(next);
  expect(it.read('servers/n1/nats.conf')).not.toContain('cluster');
});

test('files are private, and no secret is printed or in the configuration of servers', async () => {
  const it = await init(createHome(), '--json');
  for (const file of filesBelow(it.at('.'))) expect([file, statSync(file).mode & 0o777]).toEqual([file, 0o600]);
  expect(it.stdout).not.toMatch(SEED);
  expect(JSON.parse(it.stdout).data.members).toHaveLength(4);
  const ofServer = filesBelow(it.at('servers')).map((file) => readFileSync(file, 'utf8'));
  expect(ofServer.join('\n')).not.toMatch(SEED);
  expect(it.read('servers/n1/accounts.conf')).not.toContain('no_auth_user');
});

test('three servers know each other and ask each other for certificates; only the admin keeps three copies', async () => {
  const home = createHome();
  const it = await init(
    home,
    '--server',
    '10.0.0.5',
    '--server',
    'nats-2.example:4300',
    '--server',
    'fd00::7',
    '--host',
    'h1',
    '--edge',
    'first.last',
  );
  expect(it.code).toBe(0);
  const config = it.read('servers/n2/nats.conf');
  expect(config).toContain('routes: ["tls://10.0.0.5:6222", "tls://[fd00::7]:6222"]');
  expect(config).toContain('listen: "nats-2.example:6300"');
  expect(config).toContain('verify: true');
  const admin = JSON.parse(it.read('tenants/default/admin/bus.json'));
  expect(admin).toMatchObject({ url: 'tls://10.0.0.5:4222,tls://nats-2.example:4300,tls://[fd00::7]:4222', replicas: 3 });
  expect(JSON.parse(it.read('tenants/default/edge-first.last/bus.json')).replicas).toBeUndefined();
});

test('nothing is overwritten without --yes; with it keys are kept, members are added, and those whose directory is gone are not let in', async () => {
  const home = createHome();
  const first = await init(home, '--host', 'h1', '--host', 'h2', '--edge', 'alice');
  const keyOf = (member: string) => first.read(`tenants/default/${member}/bus.nk`);
  const [key, authority, accounts] = [keyOf('host-h1'), first.read('ca.pem'), first.read('servers/n1/accounts.conf')];
  const again = await init(home, '--host', 'h3');
  expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('use --yes; its keys are kept')]);
  expect(existsSync(first.at('tenants/default/host-h3'))).toBe(false);

  rmSync(first.at('tenants/default/host-h2'), { recursive: true });
  const added = await init(home, '--host', 'h3', '--host', 'two/h9', '--yes');
  expect([added.code, added.stdout]).toEqual([0, expect.stringContaining('nats-server --signal reload')]);
  expect([keyOf('host-h1'), first.read('ca.pem')]).toEqual([key, authority]);
  const now = first.read('servers/n1/accounts.conf');
  expect(now).toContain('# host h3');
  expect(now).not.toContain('# host h2');
  expect(now).toContain('"two" {');
  const keysIn = (text: string) => new Set(text.match(/\bU[A-Z2-7]{55}\b/g));
  expect([...keysIn(accounts)].filter((one) => !keysIn(now).has(one))).toHaveLength(1);
});

test.each([
  [['--server', 'a', '--server', 'b'], '2 servers cannot be a cluster'],
  [['--server', 'a', '--server', 'a', '--server', 'b'], 'a server is named twice'],
  [['--server', 'a b'], 'invalid server "a b"'],
  [['--server', 'a:99999'], 'invalid server "a:99999"'],
  [['--host', 'a.b'], 'invalid host name "a.b"'],
  [['--edge', '../x'], 'invalid tenant name ".."'],
  [['--edge', 'a b'], 'invalid edge name "a b"'],
  [['--tenant', 'a.b'], 'invalid tenant name "a.b"'],
])('switchboard bus init %j: %s', async (args, message) => {
  const it = await init(createHome(), ...args);
  expect([it.code, it.stderr, existsSync(it.at('.'))]).toEqual([2, expect.stringContaining(message), false]);
});

test('a directory with something else, a broken key and a place that cannot be written are told', async () => {
  const home = createHome();
  const { code, stderr } = await home.quick(['bus', 'init', '.', '--yes']);
  expect(code).toBe(0); // an empty project
  writeFileSync(path.join(home.home, 'x'), '');
  const other = await home.quick(['bus', 'init', home.home, '--yes']);
  expect([other.code, other.stderr, stderr]).toEqual([2, expect.stringContaining('contains files that are not a bus'), '']);
  writeFileSync(path.join(home.project, 'tenants/default/admin/bus.nk'), 'nothing');
  const broken = await home.quick(['bus', 'init', '.', '--yes']);
  expect([broken.code, broken.stderr]).toEqual([1, expect.stringContaining('admin/bus.nk contains no key')]);
  const file = await home.quick(['bus', 'init', path.join(home.home, 'x', 'y')]);
  expect([file.code, file.stderr]).toEqual([1, expect.stringContaining('cannot write')]);
});

test.each([
  ['{', 6, 'is no JSON'],
  ['{"url": "redis://x"}', 6, 'invalid bus settings'],
  ['{"url": "tls://127.0.0.1:1", "credentials": "gone.nk"}', 2, 'cannot read the credentials'],
  [undefined, 2, 'cannot read the bus settings'],
])('--bus with a file of %j: exit code %i, %s', async (text, code, message) => {
  const home = createHome();
  if (text !== undefined) writeFileSync(path.join(home.project, 'bus.json'), text);
  const ended = await home.quick(['host', 'list', '--bus', 'bus.json']);
  expect([ended.code, ended.stderr]).toEqual([code, expect.stringContaining(message)]);
});
