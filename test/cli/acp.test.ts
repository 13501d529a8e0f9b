import { once } from 'node:events';
import { expect, test } from 'vitest';
import { createHome, INITIALIZE, type Running } from './command.ts';

test.each([{ words: ['acp'] }, { words: [] }])('"switchboard $words" on a pipe serves an editor until it goes', async ({ words }) => {
  const home = createHome();
  const editor = home.start(words);
  const { result } = await editor.request('initialize', INITIALIZE);
  expect(result).toMatchObject({ protocolVersion: 1, agentInfo: { name: 'acp-switchboard' } });
  expect(home.processesLeft()).toHaveLength(3);
  editor.child.stdin.end();
  const { code, stdout, stderr } = await editor.ended;
  expect(code).toBe(0);
  expect(home.processesLeft()).toEqual([]);
  expect(stderr).toContain('no configuration found; using the built-in demo agents');
  for (const line of stdout.trimEnd().split('\n')) expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' });
});

test.each([
  { signal: 'SIGTERM', code: 143 },
  { signal: 'SIGINT', code: 130 },
] as const)('$signal ends it with its agents and exit code $code', async ({ signal, code }) => {
  const home = createHome();
  const editor = home.start(['acp']);
  await editor.request('initialize', INITIALIZE);
  editor.child.kill(signal);
  expect((await editor.ended).code).toBe(code);
  expect(home.processesLeft()).toEqual([]);
});

/** As many requests as have answers that fill several pipes. */
async function askMuch({ child, request }: Running): Promise<void> {
  await request('initialize', INITIALIZE);
  child.stdout.pause();
  for (let id = 1000; id < 7000; id++) child.stdin.write(`{"jsonrpc":"2.0","id":${id},"method":"nobody/knows"}\n`);
  await new Promise((resolve) => child.stdin.write('\n', resolve));
}

test('an editor that has stopped reading does not keep it from ending', async () => {
  const editor = createHome().start(['acp']);
  await askMuch(editor);
  editor.child.kill('SIGTERM');
  expect(await once(editor.child, 'exit')).toEqual([143, null]);
});

test('an editor that reads slowly gets every answer, also after it has closed stdin', async () => {
  const editor = createHome().start(['acp']);
  await askMuch(editor);
  const { stdin, stdout } = editor.child;
  stdout.on('data', () => {
    stdout.pause();
    setTimeout(() => stdout.resume(), 150);
  });
  stdin.end();
  stdout.resume();
  const { code, stdout: said } = await editor.ended;
  expect(code).toBe(0);
  expect(said.match(/"code":-32601/g)).toHaveLength(6000);
});

test('an editor that goes before its first word is served to the end', async () => {
  expect(await createHome().run(['acp'])).toMatchObject({ code: 0, stdout: '' });
});

test('an editor that does not read stderr loses nothing', async () => {
  const home = createHome();
  const editor = home.start(['acp']);
  editor.child.stderr.destroy();
  await once(editor.child.stderr, 'close');
  const { result } = await editor.request('initialize', INITIALIZE);
  expect(result).toMatchObject({ protocolVersion: 1 });
  await editor.request('session/new', { cwd: home.project, mcpServers: [] });
  editor.child.stdin.end();
  expect((await editor.ended).code).toBe(0);
});

test.each([[['acp', '--agent', 'builder']], [['--agent', 'builder']], [['--agent', 'builder', 'acp']]])(
  '%j serves that agent alone, under its own name',
  async (words) => {
    const editor = createHome().start(words);
    const { result } = await editor.request('initialize', INITIALIZE);
    expect(result).toMatchObject({ agentInfo: { name: 'builder' } });
  },
);

test('an agent that is not there: exit code 4, and who is', async () => {
  const { code, stdout, stderr } = await createHome().run(['acp', '--agent', 'sketchr']);
  expect({ code, stdout }).toEqual({ code: 4, stdout: '' });
  expect(stderr).toContain('unknown agent "sketchr"');
  expect(stderr).toContain('did you mean "sketcher"? configured agents: sketcher, builder');
});

test.each([[['acp', '--config', 'given.jsonc']], [['--config', 'given.jsonc', 'acp']]])(
  'a configuration with mistakes, given by %j: exit code 6, and all of them with their places',
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

test('a configuration that is not there: exit code 6', async () => {
  const { code, stderr } = await createHome().run(['acp', '--config', 'missing.jsonc']);
  expect(code).toBe(6);
  expect(stderr).toContain('missing.jsonc:1:1: file not found (set by --config)');
});
