// Reloading the configuration for new sessions: on SIGHUP, and when a file changes. Running sessions keep theirs.
import { execFileSync } from 'node:child_process';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { expect, test as quick } from 'vitest';
import { agentSpec } from '../../src/agents/defaults.ts';
import { fixture, hello, open, prompt, SWITCHBOARD } from '../e2e/harness.ts';
import { type Actor, able, CWD, connection, end } from '../proxy/actors.ts';
import { connectInProcess } from './in-process.ts';
import { eventually, noticed, test } from './setup.ts';

const spec = (name: string, args: string[] = []) => agentSpec(name, { command: name, args });
const without = { defaultAgent: 'left', explicitDefault: true, routes: [] };

test.concurrent('row 27: SIGHUP adds another agent to a running proxy, and an invalid file changes nothing', async ({ stage }) => {
  const agents = { one: fixture('well-behaved', 'one'), two: fixture('well-behaved', 'two') };
  const file = stage.writeConfig(agents);
  const client = stage.run(process.execPath, [SWITCHBOARD, 'acp', '--config', file]);
  await hello(client);
  const { id } = await open(client, stage.cwd, 'one');
  writeFileSync(file, '{ "agent_servers": { "broken": {} } }');
  client.child.kill('SIGHUP');
  await noticed(client, /THE NEW CONFIGURATION IS INVALID/);
  writeFileSync(file, JSON.stringify({ agent_servers: { ...agents, three: fixture('well-behaved', 'three') } }));
  client.child.kill('SIGHUP');
  await noticed(client, /reloaded the configuration for new sessions \(new: three\)/);
  const added = await open(client, stage.cwd, 'three');
  expect((await prompt(client, added.id, 'count 2')).result).toEqual(end);
  expect((await prompt(client, id, 'count 2')).result).toEqual(end);
  expect(await client.close()).toBe(0);
});

test.concurrent('a changed file is reloaded: applied if it is valid, prominently ignored if not, with a list of what needs a restart', async ({
  stage,
}) => {
  const agents = { one: fixture('well-behaved', 'one'), two: fixture('well-behaved', 'two') };
  const file = stage.writeConfig(agents);
  const write = (content: object) => {
    // As editors do: a new file replaces this one.
    writeFileSync(`${file}.new`, JSON.stringify(content));
    renameSync(`${file}.new`, file);
  };
  const client = stage.run(process.execPath, [SWITCHBOARD, 'acp', '--config', file]);
  await hello(client);
  const { id } = await open(client, stage.cwd, 'one');
  write({ agent_servers: agents, default_agnt: 'two' });
  await noticed(client, /IS INVALID; keeping the previous one: .*unknown key "default_agnt"; did you mean "default_agent"\?/);
  const secret = 'canary-4711-of-the-new-agent';
  const three = { ...fixture('crash-mid-turn', 'three'), env: { SECRET: secret } };
  write({ agent_servers: { ...agents, three }, limits: { max_queue_bytes: 1_000_000 }, policy: { version: 1 }, log: { level: 'debug' } });
  await noticed(client, /for new sessions \(new: three\)\n.*restart switchboard to apply changes to policy, limits, host_tools/);
  expect((await prompt(client, id, 'count 2')).result).toEqual(end);
  // The new agent's secrets are redacted from its first output on.
  const added = await open(client, stage.cwd, 'three');
  await noticed(client, /debug: started agent "three"/); // the level applies at once
  const { error } = await prompt(client, added.id, 'crash');
  expect(error.data.stderr.join('\n')).toContain('the disk is on fire');
  expect(JSON.stringify(error)).not.toContain(secret);
  write({ agent_servers: { one: agents.one } });
  await noticed(client, /did not change: this connection has several agents/);
  expect((await prompt(client, id, 'count 2')).result).toEqual(end);
  expect(await client.close()).toBe(0); // no watcher keeps the process alive
});

test.concurrent('a configuration from a pipe is read once, and that is reported', async ({ stage }) => {
  const file = stage.writeConfig({ one: fixture('well-behaved', 'one') });
  const command = 'exec "$0" "$1" acp --config <(cat "$2")';
  const client = stage.run('bash', ['-c', command, process.execPath, SWITCHBOARD, file]);
  await hello(client);
  await noticed(client, /not watching the configuration for changes: \/dev\/fd\/\d+ is not a regular file, so it is read only once/);
  client.child.kill('SIGHUP');
  await noticed(client, /keeping the previous one: \/dev\/fd\/\d+ is not a regular file, so it is read only once/);
  const { id } = await open(client, stage.cwd, 'one');
  expect((await prompt(client, id, 'count 2')).result).toEqual(end);
  expect(await client.close()).toBe(0);
  expect(client.stderr().match(/IS INVALID/g)).toHaveLength(1); // on request
});

test.concurrent('the proxy does not wait for a file that becomes a pipe without a writer', async ({ stage }) => {
  const agents = { one: fixture('well-behaved', 'one'), two: fixture('well-behaved', 'two') };
  const file = stage.writeConfig(agents);
  const client = stage.run(process.execPath, [SWITCHBOARD, 'acp', '--config', file]);
  await hello(client);
  rmSync(file);
  execFileSync('mkfifo', [file]);
  client.child.kill('SIGHUP');
  await noticed(client, /IS INVALID; keeping the previous one: .* is not a regular file, so it is read only once/);
  rmSync(file);
  writeFileSync(file, JSON.stringify({ agent_servers: { ...agents, three: fixture('well-behaved', 'three') } }));
  client.child.kill('SIGHUP');
  await noticed(client, /reloaded the configuration for new sessions \(new: three\)/);
  expect(await client.close()).toBe(0);
});

quick('an agent that is changed serves new sessions anew, and open ones as it was until the last of them is closed', async () => {
  const [left, renewed, right] = [able('left'), able('left'), able('right')];
  const made = connectInProcess({
    agents: { left: { command: 'left' }, right: { command: 'right' } },
    launch: ({ name, args }) => (name === 'right' ? right : args.length > 0 ? renewed : left).launch(),
  });
  await made.client.call('initialize', { protocolVersion: 1, clientCapabilities: {} });
  const { id } = await open(made.client, CWD, 'left');
  expect(made.connection.reconfigure({ ...without, agents: [spec('left', ['--new']), spec('right')] })).toEqual({
    isTaken: true,
    message: 'changed: left',
  });
  expect(Object.keys(made.connection.health()).toSorted()).toEqual(['left', 'left#1', 'right']);
  expect((await prompt(made.client, id, 'hello')).result).toEqual(end);
  const anew = await open(made.client, CWD, 'left');
  expect((await prompt(made.client, anew.id, 'hello')).result).toEqual(end);
  expect([left.all('session/prompt').length, renewed.all('session/prompt').length]).toEqual([1, 1]);
  await made.client.call('session/close', { sessionId: id });
  await eventually(() => expect(Object.keys(made.connection.health())).not.toContain('left'));
});

quick('an agent that is gone cannot be chosen any more, and what is not configured is refused by name', async () => {
  const actors: readonly Actor[] = [able('left'), able('middle'), able('right')];
  const made = await connection(actors);
  const { id } = await open(made.client, CWD, 'left');
  const agents = [spec('left'), spec('right')];
  expect(made.connection.reconfigure({ ...without, agents }).message).toBe('removed: middle');
  const refused = await made.client.refused('session/set_config_option', { sessionId: id, configId: 'agent', value: 'middle' });
  expect(refused.message).toContain('configured agents: left, right');
  const [options] = made.client.updates(id, 'config_option_update').at(-1).configOptions;
  expect(options.options.map(({ value }: { value: string }) => value)).toEqual(['left', 'right']);
  expect(made.connection.reconfigure({ ...without, agents }).message).toBe('no agents changed');
});

quick('a reload cannot change from one agent to several or back, because initialize told the client which it is', async () => {
  const single = await connection([able('left')]);
  const agents = [spec('left'), spec('right')];
  expect(single.connection.reconfigure({ ...without, agents })).toMatchObject({
    isTaken: false,
    message: expect.stringContaining('restart'),
  });
  const several = await connection([able('left'), able('right')]);
  expect(several.connection.reconfigure({ ...without, agents: agents.slice(0, 1) }).isTaken).toBe(false);
  expect((await open(several.client, CWD, 'right')).id).toBeDefined();
});
