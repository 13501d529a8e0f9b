// `switchboard doctor --bus` on a real server, with the files of each role.
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { freePort, type NatsServer, startNatsIn } from '../bus/nats-server.ts';
import { createHome } from './command.ts';

let server: NatsServer | undefined;
afterAll(() => server?.stop());

test('each role sees what its key allows, and before bus create what is missing', async () => {
  const home = createHome();
  const port = await freePort();
  const dir = path.join(home.project, 'bus');
  await home.quick(['bus', 'init', dir, '--server', `127.0.0.1:${port}`, '--host', 'h1', '--edge', 'alice']);
  server = await startNatsIn(path.join(dir, 'servers/n1'), '');
  const file = (member: string) => path.join(dir, 'tenants/default', member, 'bus.json');
  const examine = async (member: string) => {
    const { stdout } = await home.quick(['doctor', '--json', '--bus', file(member)]);
    const found: { check: string; status: string; what: string; next?: string }[] = JSON.parse(stdout).data.findings;
    return found;
  };
  const rights = (found: Awaited<ReturnType<typeof examine>>) => found.find(({ check }) => check === 'bus.rights')?.what;
  expect((await examine('host-h1')).filter(({ status }) => status !== 'ok')).toMatchObject([
    { check: 'bus.storage', status: 'problem', next: 'with the settings of the admin, run: switchboard bus create --bus FILE' },
  ]);
  expect((await home.quick(['bus', 'create', '--bus', file('admin')])).code).toBe(0);
  expect(rights(await examine('host-h1'))).toBe('"h1" may serve as a host');
  const alice = await examine('edge-alice');
  expect(rights(alice)).toBe('"alice" may use the agents of hosts');
  expect(alice.map(({ check, status }) => `${check} ${status}`)).toEqual([
    'bus.reach ok',
    'bus.version ok',
    'bus.jetstream ok',
    'bus.rights ok',
    'bus.storage ok',
    'bus.clock ok',
    'bus.hosts warning',
  ]);
  expect(rights(await examine('control'))).toBe('"control" may drain hosts, publish policy, collect audit logs');
  expect(rights(await examine('admin'))).toContain('create and remove what is on the bus');
  // Nothing was written, whatever was tried.
  const { stdout } = await home.quick(['host', 'list', '--json', '--bus', file('admin')]);
  expect(JSON.parse(stdout).data).toEqual([]);
});
