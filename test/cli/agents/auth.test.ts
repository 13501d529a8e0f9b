// `switchboard auth AGENT [METHOD]`, and what `run` prints when an agent requires a login.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { createHome } from '../command.ts';

/** A home with an agent that requires a login, and the file that records the login. */
function withAgent() {
  const home = createHome();
  const script = path.resolve(import.meta.dirname, '../../fixtures/requires-login.mjs');
  const mine = { command: process.execPath, args: [script, home.tmp], env: { LOGIN_ENV: 'of the file' } };
  home.write(home.userFile, { agent_servers: { mine, absent: { command: 'no-such-command' } } });
  return { ...home, mark: () => readFileSync(path.join(home.tmp, 'logged-in'), 'utf8') };
}

test('run lists the login methods of an agent that requires one and names the command; after the login, the turn runs', async () => {
  const { run, mark, processesLeft } = withAgent();
  const refused = await run(['run', 'hello']);
  expect(refused.code).toBe(7);
  expect(refused.stderr).toContain(
    'agent "mine" requires a login: Authentication required\n  methods: browser, refused, dies, tty, badly, old, key, keys; to log in, run: switchboard auth mine METHOD\n',
  );
  const { code, stdout, stderr } = await run(['auth', 'mine', 'browser']);
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'mine: logged in with "In a browser".\n' });
  expect(stderr).toContain('  | open https://example.com/device and type AB-CD\n');
  expect(mark()).toBe('browser');
  expect((await run(['run', 'hello'])).code).toBe(0);
  expect(processesLeft()).toEqual([]);
});

test('without a method, every method is listed with its kind and the variables it reads', async () => {
  const { run } = withAgent();
  const { code, stdout } = await run(['auth', 'mine'], { WANTED_KEY: 'x' });
  expect(code).toBe(0);
  expect(stdout).toMatch(/^METHOD +KIND +DESCRIPTION\nbrowser +agent +In a browser; opens one\n/);
  expect(stdout).toMatch(/^tty +terminal +In a terminal$/m);
  expect(stdout).toMatch(/^old +terminal +The old way$/m);
  expect(stdout).toMatch(/^keys +variable +With keys; WANTED_KEY is set; OTHER is not set$/m);
  expect(stdout).toMatch(/\nTo log in, run: switchboard auth mine METHOD\n$/);
  const { data } = JSON.parse((await run(['auth', 'mine', '--json'])).stdout);
  expect(data.methods[6]).toEqual({
    id: 'key',
    name: 'With a key',
    kind: 'variable',
    variables: [{ name: 'WANTED_KEY', isOptional: false, isSet: false }],
  });
});

test.each([
  ['tty', { args: ['login', 'a b'], env: 'of the method' }],
  ['old', { args: ['old'], env: 'of the file' }],
])("the method %s runs in the user's terminal", async (method, noted) => {
  const { run, mark } = withAgent();
  const { code, stdout } = await run(['auth', 'mine', method]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^Welcome!\nmine: logged in with /) });
  expect(JSON.parse(mark())).toEqual(noted);
});

test('the agent is addressed in its configured dialect', async () => {
  const home = createHome();
  const script = path.resolve(import.meta.dirname, '../../fixtures/content-length.mjs');
  const mine = { command: process.execPath, args: [script, 'mine', 'login'], framing: 'content-length' };
  home.write(home.userFile, { agent_servers: { mine } });
  const { code, stdout } = await home.run(['auth', 'mine', 'browser']);
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'mine: logged in with "In a browser".\n' });
  expect(home.processesLeft()).toEqual([]);
});

test('for a method that needs a key, the output names the variable and says whether it is set', async () => {
  const { run } = withAgent();
  const { code, stderr } = await run(['auth', 'mine', 'key']);
  expect(code).toBe(7);
  expect(stderr).toContain('"With a key" needs WANTED_KEY in the environment of agent "mine"');
  expect(stderr).toContain(
    `agent_servers.mine.env { "WANTED_KEY": "\${env:WANTED_KEY}" } in the configuration; to get a key: https://example.com/keys`,
  );
  expect(await run(['auth', 'mine', 'keys'], { WANTED_KEY: 'x' })).toMatchObject({ code: 0, stdout: expect.stringContaining('are set') });
});

test.each([
  ['refused', 7, 'agent "mine" rejected the login: you are not on the list\n  for other methods, run: switchboard auth mine'],
  ['dies', 7, 'agent "mine" exited (code 5) before answering authenticate'],
  ['badly', 7, 'the login of agent "mine" failed with exit code 9\n  to try again, run: switchboard auth mine badly'],
  ['browse', 4, 'agent "mine" has no login method "browse"\n  did you mean "browser"?'],
])('%s is exit code %i with an explanation', async (method, code, words) => {
  const { run, processesLeft } = withAgent();
  expect(await run(['auth', 'mine', method])).toMatchObject({ code, stderr: expect.stringContaining(words) });
  expect(processesLeft()).toEqual([]);
});

test('an agent that cannot be started is 7, an unknown one is 4; with --json both are in the envelope', async () => {
  const { run } = withAgent();
  expect(await run(['auth', 'absent'])).toMatchObject({
    code: 7,
    stderr: expect.stringContaining('did not start: the command was not found'),
  });
  const { code, stdout } = await run(['auth', 'nobody', '--json']);
  expect({ code, error: JSON.parse(stdout).error }).toMatchObject({ code: 4, error: { code: 'NOT_FOUND' } });
});

test('an agent that does not answer is reported with its last stderr and the timeout setting', async () => {
  const home = createHome();
  const script = "console.error('asking the server for its certificate'); process.stdin.resume().on('end', () => process.exit(0));";
  const slow = { command: process.execPath, args: ['-e', script], timeouts: { initialize_ms: 2500 } };
  home.write(home.userFile, { agent_servers: { slow } });
  const { code, stderr } = await home.run(['auth', 'slow']);
  expect(code).toBe(3);
  expect(stderr).toContain(
    'Agent "slow" did not answer initialize within 2500 ms; its last output: "asking the server for its certificate".',
  );
  expect(stderr).toContain('raise agent_servers.slow.timeouts.initialize_ms\n  to find out why, run: switchboard agents test slow\n');
  expect(home.processesLeft()).toEqual([]);
});
