// `switchboard acp` as a client starts it: over pipes, with slow readers, signals and bad configurations.
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { createHome, INITIALIZE, type Running } from './command.ts';

test.each([{ words: ['acp'] }, { words: [] }])(
  '"switchboard $words" on a pipe serves a client until the client disconnects',
  async ({ words }) => {
    const home = createHome();
    const client = home.start(words);
    const { result } = await client.request('initialize', INITIALIZE);
    expect(result).toMatchObject({ protocolVersion: 1, agentInfo: { name: 'acp-switchboard' } });
    expect(home.processesLeft()).toHaveLength(3);
    client.child.stdin.end();
    const { code, stdout, stderr } = await client.ended;
    expect(code).toBe(0);
    expect(home.processesLeft()).toEqual([]);
    expect(stderr).toContain('no configuration found; using the built-in demo agents');
    for (const line of stdout.trimEnd().split('\n')) expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' });
  },
);

test.each([
  { signal: 'SIGTERM', code: 143 },
  { signal: 'SIGINT', code: 130 },
] as const)('$signal stops switchboard and its agents with exit code $code', async ({ signal, code }) => {
  const home = createHome();
  const client = home.start(['acp']);
  await client.request('initialize', INITIALIZE);
  client.child.kill(signal);
  expect((await client.ended).code).toBe(code);
  expect(home.processesLeft()).toEqual([]);
});

/** Sends so many requests that their answers fill several pipe buffers. */
async function askMuch({ child, request }: Running): Promise<void> {
  await request('initialize', INITIALIZE);
  child.stdout.pause();
  for (let id = 1000; id < 7000; id++) child.stdin.write(`{"jsonrpc":"2.0","id":${id},"method":"nobody/knows"}\n`);
  await new Promise((resolve) => child.stdin.write('\n', resolve));
}

test('a client that has stopped reading does not block shutdown', async () => {
  const client = createHome().start(['acp']);
  await askMuch(client);
  client.child.kill('SIGTERM');
  expect(await once(client.child, 'exit')).toEqual([143, null]);
});

test('a client that reads slowly gets every answer, even after it closes stdin', async () => {
  const client = createHome().start(['acp']);
  await askMuch(client);
  const { stdin, stdout } = client.child;
  stdout.on('data', () => {
    stdout.pause();
    setTimeout(() => stdout.resume(), 150);
  });
  stdin.end();
  stdout.resume();
  const { code, stdout: output } = await client.ended;
  expect(code).toBe(0);
  expect(output.match(/"code":-32601/g)).toHaveLength(6000);
});

test('a client that disconnects before its first message gets a clean exit', async () => {
  expect(await createHome().run(['acp'])).toMatchObject({ code: 0, stdout: '' });
});

test('a client that does not read stderr loses no messages', async () => {
  const home = createHome();
  const client = home.start(['acp']);
  client.child.stderr.destroy();
  await once(client.child.stderr, 'close');
  const { result } = await client.request('initialize', INITIALIZE);
  expect(result).toMatchObject({ protocolVersion: 1 });
  await client.request('session/new', { cwd: home.project, mcpServers: [] });
  client.child.stdin.end();
  expect((await client.ended).code).toBe(0);
});

test.each([[['acp', '--agent', 'builder']], [['--agent', 'builder']], [['--agent', 'builder', 'acp']]])(
  '%j serves only that agent, under its own name',
  async (words) => {
    const client = createHome().start(words);
    const { result } = await client.request('initialize', INITIALIZE);
    expect(result).toMatchObject({ agentInfo: { name: 'builder' } });
  },
);

test('an unknown agent is exit code 4, and the error lists the configured agents', async () => {
  const { code, stdout, stderr } = await createHome().run(['acp', '--agent', 'sketchr']);
  expect({ code, stdout }).toEqual({ code: 4, stdout: '' });
  expect(stderr).toContain('unknown agent "sketchr"');
  expect(stderr).toContain('did you mean "sketcher"? configured agents: sketcher, builder');
});

test.each([[['acp', '--config', 'given.jsonc']], [['--config', 'given.jsonc', 'acp']]])(
  'an invalid configuration given by %j is exit code 6, and every problem is reported with its location',
  async (words) => {
    const home = createHome();
    const file = home.write('given.jsonc', '{\n  "agent_servers": { "a": { "comand": "x" } },\n  "policy": 5\n}\n');
    const { code, stdout, stderr } = await home.run(words);
    expect({ code, stdout }).toEqual({ code: 6, stdout: '' });
    expect(stderr).toContain(`${file}:2:27: agent_servers.a: missing key "command"`);
    expect(stderr).toContain(`${file}:2:29: unknown key "comand"; did you mean "command"?`);
    expect(stderr).toContain(`${file}:3:13: policy: expected`);
  },
);

test('a missing configuration file is exit code 6', async () => {
  const { code, stderr } = await createHome().run(['acp', '--config', 'missing.jsonc']);
  expect(code).toBe(6);
  expect(stderr).toContain('missing.jsonc:1:1: file not found (set by --config)');
});
