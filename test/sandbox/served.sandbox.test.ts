// What switchboard itself starts for a contained agent: its terminals, the user's own tools, its login.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { openSandboxSession, write } from './support.ts';

const BIN = path.resolve(import.meta.dirname, '../../bin/switchboard.js');
const LOGIN = path.resolve(import.meta.dirname, '../fixtures/requires-login.mjs');
const NOBODY = 65_534;

test('a terminal with a command that does not exist says so, and not what the sandbox prints', async () => {
  await using it = await openSandboxSession({ sandbox: 'workspace', config: { workspace: 'serve-missing' } });
  expect(await it.run('terminal no-such-command')).toMatch(/the command "no-such-command" was not found\. There is no shell here/);
  expect(await it.run('terminal true')).toBe('started');
});

const callTool = (name: string) => `node -e '
const [server] = JSON.parse(process.argv[1]).filter(({ name }) => name === "switchboard");
const headers = { "content-type": "application/json", accept: "application/json, text/event-stream", ...Object.fromEntries(server.headers.map(({ name, value }) => [name, value])) };
const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "${name}", arguments: {} } });
fetch(server.url, { method: "POST", headers, body }).then((r) => r.text()).then(console.log, (e) => console.log(String(e.cause)));
' '$MCP_SERVERS'`;

test.each(['workspace', 'review'])('a tool of host_tools.commands runs in the sandbox of the session’s agent, at %s', async (level) => {
  const script = 'echo x > ../outside; cat .env; echo fine > made';
  const tool = { name: 'build', description: 'Builds.', command: '/bin/sh', args: ['-c', script] };
  await using it = await openSandboxSession({
    ...{ sandbox: { level, hide: ['.env'] }, agentArgs: ['--http'], config: { host_tools: { commands: [tool] } } },
    prepare: ({ project }) => write(path.join(project, '.env'), 'canary'),
  });
  it.answer = ({ params }) => {
    const { optionId } = params.options.find(
      ({ kind }: { kind: string }) => kind === (params.toolCall.title.startsWith('Apply') ? 'reject_once' : 'allow_once'),
    );
    return { result: { outcome: { outcome: 'selected', optionId } } };
  };
  const output = await it.run(callTool('build'));
  expect(output).toMatch(/Read-only file system/);
  expect(output).not.toContain('canary');
  expect(existsSync(path.join(it.base, 'outside'))).toBe(false);
  expect(existsSync(path.join(it.project, 'made'))).toBe(level === 'workspace');
  expect(await it.run('cat made')).toMatch(/^fine\n/);
});

test.each([
  ['tty', true],
  ['browser', true],
  ['tty', false],
])('the login %s runs in the agent’s sandbox, which can write its state: %s', async (method, isState) => {
  await using it = await openSandboxSession({});
  const own = path.join(it.home, 'own');
  mkdirSync(own);
  const sandbox = { level: 'workspace', ...(isState && { state: [`${own}/`] }) };
  const config = path.join(it.base, 'login.json');
  write(config, JSON.stringify({ agent_servers: { mine: { command: process.execPath, args: [LOGIN, own], sandbox } } }));
  const isRoot = process.getuid?.() === 0;
  if (isRoot) execFileSync('chown', ['-R', `${NOBODY}:${NOBODY}`, it.base]);
  const { status, stderr } = spawnSync(process.execPath, [BIN, 'auth', 'mine', method, '--config', config], {
    cwd: it.project,
    env: { ...process.env, HOME: it.home, SWITCHBOARD_HOME: it.state },
    encoding: 'utf8',
    ...(isRoot && { uid: NOBODY, gid: NOBODY }),
  });
  expect([status, stderr]).toEqual([isState ? 0 : 7, expect.any(String)]);
  expect(existsSync(path.join(own, 'logged-in'))).toBe(isState);
  if (isState) expect(readFileSync(path.join(own, 'logged-in'), 'utf8')).toMatch(/browser|login/);
});
