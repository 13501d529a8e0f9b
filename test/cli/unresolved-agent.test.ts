// One agent whose settings refer to an unset variable: the others work.
import path from 'node:path';
import { expect, test } from 'vitest';
import { createHome, type Home, INITIALIZE } from './command.ts';

const demo = (name: string, more: object = {}) => ({
  command: process.execPath,
  args: [path.resolve(import.meta.dirname, '../../dist/demo-agent.js'), '--name', name],
  ...more,
});
// biome-ignore lint/suspicious/noTemplateCurlyInString: a reference in the configuration
const BAD = demo('sketcher', { env: { KEY: '${env:NOT_SET_KEY}' } });
const configured = (home: Home, more: object = {}) =>
  home.write(home.userFile, {
    agent_servers: { bad: BAD, good: demo('builder') },
    ...more,
  });

test('the other agents work, and a notice names the place', async () => {
  const home = createHome();
  configured(home);
  for (let time = 0; time < 2; time++) {
    const { code, stdout } = await home.run(['run', '-a', 'good', '-o', 'simple', 'hello']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('Builder here') });
    const listed = await home.run(['agents', 'test', '--json']);
    expect(listed).toMatchObject({
      code: 7,
      stderr: expect.stringMatching(/agent "bad" cannot be used: .*config\.jsonc:\d+:\d\d: .*"NOT_SET_KEY" is not set/),
    });
    expect(JSON.parse(listed.stdout).data.agents).toMatchObject([
      { agent: 'bad', ok: false, error: { message: expect.stringContaining('"NOT_SET_KEY" is not set') } },
      { agent: 'good', ok: true },
    ]);
  }
});

test('an MCP server with an unset variable is left out with a notice, and everything else works', async () => {
  const home = createHome();
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference in the configuration
  const docs = { name: 'docs', command: 'docs-mcp', env: { KEY: '${env:NOT_SET_KEY}' } };
  home.write(home.userFile, { agent_servers: { good: demo('builder') }, mcp_servers: [docs] });
  for (let time = 0; time < 2; time++) {
    const { code, stdout, stderr } = await home.run(['run', '-o', 'simple', 'hello']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('Builder here') });
    expect(stderr).toMatch(
      /MCP server "docs" is left out, .*config\.jsonc:\d+:\d+: mcp_servers\[0\]\.env\.KEY: .*"NOT_SET_KEY" is not set/,
    );
  }
  expect(await home.run(['config', 'validate'])).toMatchObject({ code: 6, stderr: expect.stringContaining('NOT_SET_KEY') });
});

test('`acp --agent good` starts, and with both agents only the sessions of the bad one fail', async () => {
  const home = createHome();
  configured(home);
  const only = home.start(['acp', '--agent', 'good']);
  expect((await only.request('initialize', INITIALIZE)).result).toBeDefined();
  only.child.stdin.end();
  expect((await only.ended).stderr).not.toContain('bad');
  const both = home.start(['acp']);
  expect((await both.request('initialize', INITIALIZE)).result).toBeDefined();
  const open = (agent: string) =>
    both.request('session/new', { cwd: home.project, mcpServers: [], _meta: { 'acp-switchboard': { agent } } });
  expect(await open('good')).toMatchObject({ result: { sessionId: expect.any(String) } });
  expect(await open('bad')).toMatchObject({
    error: { message: expect.stringContaining('"NOT_SET_KEY" is not set'), data: { reason: 'not_startable', retryable: false } },
  });
  both.child.stdin.end();
  await both.ended;
});

test('if no other agent is wanted or configured, that is an invalid configuration', async () => {
  const home = createHome();
  configured(home);
  const message = expect.stringMatching(
    /config\.jsonc:\d+:\d\d: agent_servers\.bad\.env\.KEY: environment variable "NOT_SET_KEY" is not set/,
  );
  expect(await home.run(['run', '-a', 'bad', 'hello'])).toMatchObject({ code: 6, stderr: message });
  expect(await home.quick(['config', 'validate'])).toMatchObject({ code: 6, stderr: message });
});

test('doctor names agents that cannot be used and agents that are switched off, and checks the others', async () => {
  const home = createHome();
  const off = demo('sketcher', { enabled: false });
  home.write(home.userFile, { agent_servers: { bad: BAD, good: demo('builder'), off } });
  const { code, stdout } = await home.run(['doctor', '--no-start']);
  expect(code).toBe(8);
  expect(stdout).toMatch(/^PROBLEM {2}agent "bad" cannot be used\n {9}why: {2}.*"NOT_SET_KEY" is not set/m);
  expect(stdout).toContain('warning  agent "off" is switched off\n');
  expect(stdout).toContain('ok       agent "good": ');
});

test.each([
  { what: 'cannot be created', dir: '/proc/nowhere', says: /\/proc\/nowhere is not writable/ },
  { what: 'is a file', dir: 'file', says: /file is not a directory/ },
  { what: 'has a directory in place of a file', dir: 'blocked', says: /sessions\.jsonl is a directory/ },
])('doctor reports a state directory that $what, as `run` does', async ({ dir, says }) => {
  const home = createHome();
  home.write('file', '');
  home.write('blocked/sessions.jsonl/x', '');
  const env = { SWITCHBOARD_HOME: path.resolve(home.project, dir) };
  expect((await home.run(['run', '-o', 'simple', 'hello'], env)).stderr).toContain('cannot be used');
  expect(await home.quick(['doctor', '--no-start'], env)).toMatchObject({ code: 8, stdout: expect.stringMatching(says) });
});

test('doctor leaves no state directory behind', async () => {
  const home = createHome();
  await home.quick(['doctor', '--no-start'], { SWITCHBOARD_HOME: path.join(home.home, 'a', 'b') });
  expect((await import('node:fs')).existsSync(path.join(home.home, 'a'))).toBe(false);
});

test('agents with the same label have different names for clients', async () => {
  const home = createHome();
  home.write(home.userFile, { agent_servers: { one: demo('sketcher', { label: 'Demo' }), two: demo('builder', { label: 'Demo' }) } });
  const acp = home.start(['acp']);
  await acp.request('initialize', INITIALIZE);
  const { result } = (await acp.request('session/new', { cwd: home.project, mcpServers: [] })) as {
    result: { configOptions: { id: string; options: { name: string }[] }[] };
  };
  expect(result.configOptions.find(({ id }) => id === 'agent')?.options.map(({ name }) => name)).toEqual(['Demo (one)', 'Demo (two)']);
  acp.child.stdin.end();
  await acp.ended;
});

test('a session that was opened and reloaded before its first prompt can still change its agent', async () => {
  const home = createHome();
  const opened = home.start(['acp']);
  await opened.request('initialize', INITIALIZE);
  const { sessionId } = (await opened.request('session/new', { cwd: home.project, mcpServers: [] })).result as { sessionId: string };
  opened.child.stdin.end();
  await opened.ended;
  const params = { cwd: home.project, mcpServers: [], sessionId };
  const change = { sessionId, configId: 'agent', value: 'builder' };
  const loaded = home.start(['acp']);
  await loaded.request('initialize', INITIALIZE);
  expect(await loaded.request('session/load', params)).toHaveProperty('result');
  expect(await loaded.request('session/set_config_option', change)).toHaveProperty('result');
  expect(await loaded.request('session/prompt', { sessionId, prompt: [{ type: 'text', text: 'hello' }] })).toMatchObject({
    result: { stopReason: 'end_turn' },
  });
  await loaded.printed('Builder here');
  loaded.child.stdin.end();
  await loaded.ended;
  const later = home.start(['acp']);
  await later.request('initialize', INITIALIZE);
  expect(await later.request('session/load', params)).toHaveProperty('result');
  expect(await later.request('session/set_config_option', { ...change, value: 'sketcher' })).toMatchObject({
    error: { data: { reason: 'agent_locked' } },
  });
  later.child.stdin.end();
  await later.ended;
});
