// A daemon that serves the bus itself: hosts and edges reach it over WebSockets with an owner's token.
import { once } from 'node:events';
import path from 'node:path';
import { expect, vi } from 'vitest';
import { freePort } from '../bus/nats-server.ts';
import { clusterOn } from './bus.ts';
import { connectSocket, createToken, startDaemon } from './daemon.ts';
import { open, prompt, test } from './harness.ts';

test('a host offers its agents to the daemon and to edges, with the token of an owner only', async ({ stage }) => {
  const file = stage.writeConfig({}, { agent_servers: undefined, bus: 'local:', allow_cwd: [stage.dir] });
  const daemon = await startDaemon(stage, undefined, { args: ['--config', file] });
  const token = createToken(stage, 'machines', 'owner');
  const bus = daemon.address.replace(/^http/, 'ws');
  const cluster = clusterOn(stage, bus, { SWITCHBOARD_TOKEN: token }, 'default');
  const refused = clusterOn(stage, bus, { SWITCHBOARD_TOKEN: createToken(stage, 'editor') }, 'default');
  await expect(refused.host('foreign')).rejects.toThrow('it rejected the token (HTTP 403)');

  await cluster.host('remote');
  const edge = await cluster.edge();
  const { id } = await open(edge, stage.cwd);
  expect((await prompt(edge, id, 'hello')).result.stopReason).toBe('end_turn');
  expect(edge.agentText(id)).toContain('You said: "hello"');
  await edge.close();

  const client = await connectSocket(daemon, createToken(stage, 'laptop'));
  const opened = await open(client, stage.cwd);
  expect((await prompt(client, opened.id, 'hello daemon')).result.stopReason).toBe('end_turn');
  client.socket.close();
});

test('without --bus local: there is no bus to connect to', async ({ stage }) => {
  const file = stage.writeConfig({ a: { command: process.execPath, args: ['-e', ''] } });
  const daemon = await startDaemon(stage, undefined, { args: ['--config', file] });
  const cluster = clusterOn(stage, daemon.address.replace(/^http/, 'ws'), { SWITCHBOARD_TOKEN: createToken(stage, 'machines', 'owner') });
  await expect(cluster.host('early')).rejects.toThrow('HTTP 404');
});

test('decisions are collected from it, also over a restart that forgets what was on the bus', async ({ stage }) => {
  const file = stage.writeConfig({}, { agent_servers: undefined, bus: 'local:', allow_cwd: [stage.dir] });
  const args = ['--config', file, '--listen', `127.0.0.1:${await freePort()}`];
  const daemon = await startDaemon(stage, undefined, { args });
  const bus = daemon.address.replace(/^http/, 'ws');
  const cluster = clusterOn(stage, bus, { SWITCHBOARD_TOKEN: createToken(stage, 'machines', 'owner') }, 'default');
  const host = await cluster.host('remote', { config: { policy: { version: 1, default: 'allow' }, workspace: 'serve-missing' } });
  const dir = path.join(stage.dir, 'collected');
  const collect = async () => {
    const { stdout } = await cluster.command('audit', 'collect', '--config', cluster.config(), '--dir', dir, '--json');
    return JSON.parse(stdout).data;
  };
  const edit = async () => {
    const edge = await cluster.edge();
    const { id } = await open(edge, stage.cwd);
    await prompt(edge, id, '/edit notes.txt');
    await edge.close();
  };
  await edit();
  await vi.waitFor(async () => expect(await collect()).toMatchObject({ isIntact: true, logs: [{ isRunning: true }] }), 20_000);
  const [{ decisions }] = (await collect()).logs;
  await edit();
  daemon.child.kill('SIGKILL'); // with what it had of the second edit
  await once(daemon.child, 'close');
  await startDaemon(stage, undefined, { args });
  await vi.waitFor(async () => {
    const found = await collect();
    expect(found).toMatchObject({ isIntact: true, logs: [{ decisions: 2 * decisions, problems: [] }] });
  }, 30_000);
  expect(await collect()).toMatchObject({ collected: 0, isIntact: true });
  expect(await host.stop()).toBe(143);
  expect(await collect()).toMatchObject({ collected: 1, logs: [{ isEnded: true, decisions: 2 * decisions }] });
});
