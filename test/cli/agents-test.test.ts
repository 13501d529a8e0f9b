// `switchboard agents test`, as a table and as JSON.
import { expect, test } from 'vitest';
import { fixture } from '../e2e/harness.ts';
import { createHome } from './command.ts';

/** Offers a terminal login only to clients that declare a terminal, as Claude's agent does. */
const LOGIN = `
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, params } = JSON.parse(line);
  const authMethods = params.clientCapabilities.auth?.terminal ? [{ id: 'tty', name: 'In a terminal', type: 'terminal' }] : [];
  console.log(JSON.stringify({ jsonrpc: '2.0', id, result: { protocolVersion: 1, authMethods } }));
});`;

function withAgents() {
  const home = createHome();
  const node = (script: string) => ({ command: process.execPath, args: ['-e', script] });
  const dies = node("console.error('loading'); console.error('no key sk-ant-api03-0123456789abcdef0123456789abcdef'); process.exit(3)");
  home.write(home.userFile, { agent_servers: { login: node(LOGIN), dies } });
  return home;
}

test('with --json, one failing agent makes the whole result not ok; each agent has its result, or the reason and its stderr', async () => {
  const { code, stdout } = await withAgents().quick(['agents', 'test', '--json']);
  const { ok, error, data } = JSON.parse(stdout);
  expect({ code, ok }).toEqual({ code: 7, ok: false });
  expect(error).toMatchObject({ code: 'AGENT_UNAVAILABLE', message: expect.stringContaining('1 of 2 agents failed: Agent "dies" exited') });
  const [login, dies] = data.agents;
  expect(login).toMatchObject({ agent: 'login', ok: true });
  expect(dies).toMatchObject({ ok: false, error: { code: 'AGENT_GONE', stderr: ['loading', expect.stringMatching(/^no key /)] } });
  expect(stdout).not.toContain('0123456789abcdef');
});

test('it lists the same login methods as `auth`', async () => {
  const home = withAgents();
  expect(await home.quick(['agents', 'test', 'login'])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/logins +tty \(In a terminal\); to log in, run: switchboard auth login$/m),
  });
  expect(await home.quick(['auth', 'login'])).toMatchObject({ code: 0, stdout: expect.stringMatching(/^tty +terminal +In a term/m) });
});

test.each([
  [[], 'does not ask (it wrote without asking: probe-file.txt, probe-command.txt)'],
  [['--asks'], 'asks for some actions (it asked: touch probe-command.txt; it wrote without asking: probe-file.txt)'],
  [['--asks-all'], 'asks for everything (it asked: Write probe-file.txt; touch probe-command.txt)'],
])('--probe shows what an agent does without asking: %j', async (flags, wanted) => {
  const home = createHome();
  home.write(home.userFile, { agent_servers: { one: fixture('acts-unasked', 'one', ...flags) } });
  const { code, stdout } = await home.run(['agents', 'test', 'one', '--probe']);
  expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining(`probe         ${wanted}`) });
  expect(stdout).toContain('permission    not known\n'); // no advice to probe what was just probed
});

test('it says of a known agent whether it asks', async () => {
  const home = createHome();
  const { command, args = [] } = fixture('acts-unasked', 'opencode');
  home.write(home.userFile, { agent_servers: { one: { command, args } } });
  const { stdout } = await home.quick(['agents', 'test', 'one']);
  expect(stdout).toContain(
    'permission    asks for everything under a policy, which starts it so; by itself it does not ask (it does not ask about MCP tools',
  );
});

test('an agent that must run in a sandbox is tested in one: where there is none, it fails as in a session', async () => {
  const home = createHome();
  const { command, args = [] } = fixture('well-behaved', 'one');
  home.write(home.userFile, { agent_servers: { one: { command, args } }, sandbox: 'workspace' });
  const { code, stdout } = await home.run(['agents', 'test', 'one'], { PATH: '/nowhere' });
  expect(code).toBe(7);
  expect(stdout).toMatch(
    /^one: FAILED in its sandbox \(workspace\)\. .*it must run in a sandbox, and bubblewrap \(bwrap\) is not installed/,
  );
});
