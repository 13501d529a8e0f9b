// From `switchboard bus init` to a turn on another host, with the files that it wrote and a server that uses them.
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import readline from 'node:readline';
import { expect } from 'vitest';
import { freePort, startNatsIn } from '../bus/nats-server.ts';
import { runCommand } from './daemon.ts';
import { fixture, hello, open, prompt, type Stage, SWITCHBOARD, test } from './harness.ts';

async function startHost(stage: Stage, config: string, bus: string, env: Readonly<Record<string, string>>) {
  const host = stage.spawn(process.execPath, [SWITCHBOARD, 'host', '--config', config, '--bus', bus, '--json'], env);
  const [line] = await once(readline.createInterface({ input: host.stdout }), 'line');
  return { host, announced: JSON.parse(line) };
}

test('the files of bus init are all that servers, hosts and edges need, and agents get none of them', async ({ stage }) => {
  const port = await freePort();
  const dir = path.join(stage.dir, 'bus');
  runCommand(
    stage,
    'bus',
    'init',
    dir,
    '--server',
    `127.0.0.1:${port}`,
    '--host',
    'h1',
    '--edge',
    'alice',
    '--edge',
    'bob',
    '--host',
    'b/h1',
    '--edge',
    'b/eve',
  );
  const server = await startNatsIn(path.join(dir, 'servers/n1'), '');
  try {
    const settings = (tenant: string, member: string) => path.join(dir, 'tenants', tenant, member, 'bus.json');
    for (const tenant of ['default', 'b']) runCommand(stage, 'bus', 'create', '--bus', settings(tenant, 'admin'));
    const config = stage.writeConfig({ shows: fixture('shows-environment') }, { allow_cwd: [stage.dir] });
    const env = { SWITCHBOARD_HOME: path.join(stage.dir, 'state-host'), SWITCHBOARD_TOKEN: 'token-of-another-bus', SHOWN: 'yes' };
    const { host, announced } = await startHost(stage, config, settings('default', 'host-h1'), env);
    expect(announced).toEqual({ host: 'h1', bus: `tls://127.0.0.1:${port}`, agents: ['shows'] });

    const connect = async (tenant: string, member: string) => {
      const none = stage.writeConfig({}, { agent_servers: undefined });
      return stage.run(process.execPath, [SWITCHBOARD, 'acp', '--config', none, '--bus', settings(tenant, member)], {
        SWITCHBOARD_HOME: path.join(stage.dir, `state-${member}`),
      });
    };
    const alice = await connect('default', 'edge-alice');
    await hello(alice);
    const { id } = await open(alice, stage.cwd);
    await prompt(alice, id, 'S');
    expect(alice.agentText(id)).toContain('SHOWN');
    expect(alice.agentText(id)).not.toContain('TOKEN');
    const seed = /SU[A-Z2-7]{56}/.exec(readFileSync(path.join(path.dirname(settings('default', 'host-h1')), 'bus.nk'), 'utf8'))?.[0] ?? '-';
    expect(readFileSync(`/proc/${host.pid}/cmdline`, 'utf8')).not.toContain(seed);

    // Another user of the same tenant sees the host, and not the session.
    const bob = await connect('default', 'edge-bob');
    await hello(bob);
    await expect(bob.call('session/load', { sessionId: id, cwd: stage.cwd, mcpServers: [] })).rejects.toThrow();
    // Another tenant sees no host.
    const eve = await connect('b', 'edge-eve');
    expect([await eve.ended, eve.stderr()]).toEqual([7, expect.stringContaining('no host offers an agent')]);

    // The key of a host is for its own name.
    const file = settings('default', 'host-h1');
    const other = path.join(path.dirname(file), 'other.json');
    writeFileSync(other, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), name: 'h2' }));
    const wrong = stage.spawn(process.execPath, [SWITCHBOARD, 'host', '--config', config, '--bus', other], {
      SWITCHBOARD_HOME: path.join(stage.dir, 'w'),
    });
    let stderr = '';
    wrong.stderr?.on('data', (chunk) => {
      stderr += chunk;
    });
    const [code] = await once(wrong, 'close');
    expect([code, stderr]).toEqual([1, expect.stringContaining('the credentials do not permit it')]);
    await bob.close();
    await alice.close();
  } finally {
    await server.stop();
  }
});

test('before bus create, a host says what is missing', async ({ stage }) => {
  const port = await freePort();
  const dir = path.join(stage.dir, 'bus');
  runCommand(stage, 'bus', 'init', dir, '--server', `127.0.0.1:${port}`, '--host', 'h1');
  const server = await startNatsIn(path.join(dir, 'servers/n1'), '');
  try {
    const list = stage.spawn(process.execPath, [SWITCHBOARD, 'host', 'list', '--bus', path.join(dir, 'tenants/default/host-h1/bus.json')]);
    let stderr = '';
    list.stderr?.on('data', (chunk) => {
      stderr += chunk;
    });
    const [code] = await once(list, 'close');
    expect([code, stderr]).toEqual([1, expect.stringContaining('does not exist on the bus, and these credentials may not create it')]);
    expect(stderr).toContain('switchboard bus create');
  } finally {
    await server.stop();
  }
});
