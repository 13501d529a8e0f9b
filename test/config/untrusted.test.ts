// Project files before and after the user trusts them.
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { trust } from '../../src/config/trust.ts';
import { configError, createSandbox, type Sandbox } from './sandbox.ts';

const USER = {
  agent_servers: { a: { command: 'a-agent' }, b: { command: 'b-agent' }, off: { command: 'off-agent', enabled: false } },
  default_agent: 'a',
  routes: [{ cwd: '/mine/**', agent: 'a' }],
  limits: { max_frame_bytes: 1000 },
};

function sandboxWith(project: unknown): Sandbox & { projectFile: string } {
  const sandbox = createSandbox();
  sandbox.write(sandbox.userFile, USER);
  return { ...sandbox, projectFile: sandbox.write('project/switchboard.jsonc', project) };
}

test("an untrusted project file may choose among the user's agents", async () => {
  const { load, userFile, projectFile } = sandboxWith({ $schema: 's', default_agent: 'b', routes: [{ cwd: '/x/**', agent: 'b' }] });
  const { config, ...rest } = await load();
  expect(config).toMatchObject({ defaultAgent: 'b', explicitDefault: true });
  expect(config.routes).toEqual([
    { cwd: '/x/**', agent: 'b' },
    { cwd: '/mine/**', agent: 'a' },
  ]);
  expect(rest).toMatchObject({ files: [userFile, projectFile], notices: [], origin: 'user' });
});

test('every other setting in an untrusted project file is ignored with a notice', async () => {
  const bare = sandboxWith({});
  const { load, projectFile } = sandboxWith({
    agent_servers: { a: { command: 'evil' }, evil: { command: 'evil' } },
    limits: { max_frame_bytes: 5 },
    timeouts: { initialize_wait_ms: 1 },
    workspace: 'serve-missing',
    mcp_servers: [],
    whatever: true,
  });
  const { config, notices, files } = await load();
  expect(config).toEqual((await bare.load()).config);
  expect(files).not.toContain(projectFile);
  expect(notices).toEqual(
    ['agent_servers', 'limits', 'timeouts', 'workspace', 'mcp_servers', 'whatever'].map(
      (key) =>
        `${projectFile}: ignoring "${key}": the project file is not trusted; to trust it, run: switchboard config trust ${projectFile}`,
    ),
  );
});

test.each([
  { what: 'an unknown default', is: { default_agent: 'canary' } },
  { what: 'a disabled default', is: { default_agent: 'off' } },
  { what: 'a default of its own making', is: { default_agent: 'c' } },
  { what: 'a default that is no name', is: { default_agent: ['b'] } },
  { what: 'a route to an unknown agent', is: { routes: [{ cwd: '/**', agent: 'canary' }] } },
  { what: 'a route without a directory', is: { routes: [{ agent: 'b' }] } },
  { what: 'a route with an empty directory', is: { routes: [{ cwd: '', agent: 'b' }] } },
  { what: 'a route with a glob that can be slow', is: { routes: [{ cwd: '/*a*a*a*a*b', agent: 'b' }] } },
  { what: 'a route with a group', is: { routes: [{ cwd: '/+(a|aa)', agent: 'b' }] } },
  { what: 'a route that is none', is: { routes: ['canary'] } },
  { what: 'routes that are no list', is: { routes: { cwd: '/**', agent: 'b' } } },
  { what: 'a mass of routes', is: { routes: Array(51).fill({ cwd: '/**', agent: 'b' }) } },
])('$what in an untrusted project file is a notice and not an error', async ({ is }) => {
  const { config, notices } = await sandboxWith(is).load();
  expect(config).toMatchObject({ defaultAgent: 'a', routes: USER.routes });
  expect(notices).toEqual([expect.stringMatching(/ignoring "(default_agent|routes(\[0])?)": /)]);
  expect(notices.join()).not.toContain('canary');
});

test.each([
  { what: 'a syntax error', text: '{ "default_agent": "b" "x"', place: '1:24' },
  { what: 'a key given twice', text: '{ "default_agent": "a",\n"default_agent": "b" }', place: '2:1' },
  { what: 'bottomless nesting', text: '['.repeat(200_000), place: '1:1' },
  { what: 'nothing', text: '', place: '1:1' },
])("$what in an untrusted project file does not affect the user's configuration", async ({ text, place }) => {
  const { load, projectFile } = sandboxWith(text);
  const { config, notices } = await load();
  expect(config.defaultAgent).toBe('a');
  expect(notices).toEqual([expect.stringMatching(/; ignoring the file$/)]);
  expect(notices[0]).toContain(`${projectFile}:${place}: `);
});

test('an untrusted project file cannot flood the terminal or write control sequences to it', async () => {
  const keys = Array.from({ length: 500 }, (_, index) => [`\u001b]0;${index}\u0007\u009b`, 1]);
  const { notices } = await sandboxWith(Object.fromEntries(keys)).load();
  expect(notices).toHaveLength(21);
  expect(notices.at(-1)).toContain('480 more');
  expect(notices.join('')).not.toMatch(/\p{Cc}/u);
});

test('the command that a notice suggests is quoted, so a directory name cannot change it', async () => {
  const sandbox = createSandbox();
  const cwd = path.join(sandbox.project, "$(evil) 'x");
  mkdirSync(cwd);
  sandbox.write(path.join(cwd, 'switchboard.jsonc'), { limits: {} });
  const [notice] = (await sandbox.load({ cwd })).notices;
  expect(notice).toContain(`switchboard config trust '${sandbox.project}/$(evil) '\\''x/switchboard.jsonc'`);
});

test('an untrusted project file alone starts nothing', async () => {
  const sandbox = createSandbox();
  sandbox.write('project/switchboard.jsonc', { agent_servers: { x: { command: 'x' } }, default_agent: 'x' });
  const { config, origin, notices, files } = await sandbox.load();
  expect({ agents: config.agents, origin, files }).toEqual({ agents: [], origin: 'none', files: [] });
  expect(notices).toHaveLength(2);
});

test('a trusted project file is merged: agents by name, routes first, limits one by one', async () => {
  const { load, stateDir, projectFile, userFile } = sandboxWith({
    agent_servers: { b: { command: 'project-b', args: ['1'] }, own: { command: 'own' } },
    default_agent: 'own',
    routes: [{ cwd: '/x/**', agent: 'own' }],
    limits: { max_queue_bytes: 2000 },
    workspace: 'serve-missing',
  });
  await trust(stateDir, projectFile);
  const { config, ...rest } = await load();
  expect(config.agents.map(({ name, command }) => `${name}=${command}`)).toEqual(['a=a-agent', 'b=project-b', 'own=own']);
  expect(config.defaultAgent).toBe('own');
  expect(config.routes.map(({ agent }) => agent)).toEqual(['own', 'a']);
  expect(config.limits).toEqual({ maxFrameBytes: 1000, maxQueueBytes: 2000 });
  expect(config.workspace).toBe('serve-missing');
  expect(rest).toMatchObject({ files: [userFile, projectFile], notices: [], origin: 'project' });
});

test('a trusted project file needs no user file', async () => {
  const sandbox = createSandbox();
  const file = sandbox.write('project/switchboard.jsonc', { agent_servers: { x: { command: 'x' } } });
  await trust(sandbox.stateDir, file);
  expect(await sandbox.load()).toMatchObject({ origin: 'project', files: [file], config: { defaultAgent: 'x' } });
});

test('a trusted project file follows the same rules as the user file, and problems name its path', async () => {
  const { load, stateDir, projectFile, write, userFile } = sandboxWith({ policy: 5, default_agent: 'nobody' });
  write(userFile, { ...USER, limitz: {} });
  await trust(stateDir, projectFile);
  const { problems } = await configError(load());
  expect(problems.map(({ file, path: at }) => [file, at])).toEqual([
    [userFile, 'limitz'],
    [projectFile, 'policy'],
    [projectFile, 'default_agent'],
  ]);
});

test.each([{ policy: 'policy.yaml' }, { policy: 'deep/er/policy.yaml' }, { policy: { version: 1, deny: ['execute'] } }])(
  "an untrusted project file may add a policy, which is marked as the project's: %j",
  async ({ policy }) => {
    const { load, projectFile } = sandboxWith({ policy });
    const { config, notices } = await load();
    expect(config.policies).toEqual([{ layer: 'project', from: projectFile, policy, isFromTrusted: false }]);
    expect(notices).toEqual([]);
  },
);

test.each(['/etc/shadow', '../x.yaml', 'a/../../x.yaml', 'a\\..\\..\\x.yaml', 5, ['x']])(
  'an untrusted project file cannot refer to a policy outside the project: %j',
  async (policy) => {
    const { load } = sandboxWith({ policy });
    const { config, notices } = await load();
    expect(config.policies).toEqual([]);
    expect(notices).toEqual([expect.stringContaining('ignoring "policy"')]);
  },
);

test('the policies of the user and of a trusted project both apply', async () => {
  const { load, stateDir, projectFile, write, userFile } = sandboxWith({ policy: { version: 1 } });
  write(userFile, { ...USER, policy: 'standard' });
  await trust(stateDir, projectFile);
  expect((await load()).config.policies).toEqual([
    { layer: 'user', from: userFile, policy: 'standard', isFromTrusted: true },
    { layer: 'project', from: projectFile, policy: { version: 1 }, isFromTrusted: true },
  ]);
});

test('trust ends when the content of the file changes', async () => {
  const { load, stateDir, projectFile, write } = sandboxWith({ agent_servers: { own: { command: 'own' } } });
  await trust(stateDir, projectFile);
  expect((await load()).origin).toBe('project');
  write(projectFile, { agent_servers: { own: { command: 'other' } } });
  const { origin, config } = await load();
  expect(origin).toBe('user');
  expect(config.agents.map(({ name }) => name)).toEqual(['a', 'b']);
});
