// A daemon that serves the bus itself: hosts and edges reach it over WebSockets with an owner's token.
import { expect } from 'vitest';
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
