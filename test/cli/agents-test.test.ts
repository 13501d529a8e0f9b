// `switchboard agents test`, for people and for programs.
import { expect, test } from 'vitest';
import { createHome } from './command.ts';

/** Tells of a login in a terminal only those who say that they have one, as Claude's agent does. */
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

test('with --json, one that fails makes the whole not ok; each has its result, or why not and what it said', async () => {
  const { code, stdout } = await withAgents().quick(['agents', 'test', '--json']);
  const { ok, error, data } = JSON.parse(stdout);
  expect({ code, ok }).toEqual({ code: 7, ok: false });
  expect(error).toMatchObject({ code: 'AGENT_UNAVAILABLE', message: expect.stringContaining('1 of 2 agents failed: Agent "dies" exited') });
  const [login, dies] = data.agents;
  expect(login).toMatchObject({ agent: 'login', ok: true });
  expect(dies).toMatchObject({ ok: false, error: { code: 'AGENT_GONE', stderr: ['loading', expect.stringMatching(/^no key /)] } });
  expect(stdout).not.toContain('0123456789abcdef');
});

test('it tells of the same logins as `auth`', async () => {
  const home = withAgents();
  expect(await home.quick(['agents', 'test', 'login'])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/logins +tty \(In a term/),
  });
  expect(await home.quick(['auth', 'login'])).toMatchObject({ code: 0, stdout: expect.stringMatching(/^tty +terminal +In a term/m) });
});
