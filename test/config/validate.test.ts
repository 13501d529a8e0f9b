// Validation: every problem with its location and the expected value.
import { expect, test } from 'vitest';
import { configError, createSandbox } from './sandbox.ts';

const AGENT = { command: 'agent' };

/** The problems of a file, without its name. */
async function problemsOf(content: unknown): Promise<string[]> {
  const { message } = await configError(createSandbox().loadFile(content));
  return message.split('\n').map((line) => line.replace(/^.*?given\.jsonc:/, ''));
}

test('all problems of a file are reported at once, each with its location', async () => {
  const sandbox = createSandbox();
  const file = sandbox.write('given.jsonc', { agent_servers: { x: { command: 5, argz: [] } }, defualt_agent: 'x' });
  const error = await configError(sandbox.load({ configFlag: file }));
  expect(error.message.split('\n')).toEqual([
    `${file}:4:18: agent_servers.x.command: expected a string`,
    `${file}:5:7: unknown key "argz"; did you mean "args"?`,
    `${file}:8:3: unknown key "defualt_agent"; did you mean "default_agent"?`,
  ]);
  expect(error.problems[1]).toEqual({
    file,
    line: 5,
    column: 7,
    path: 'agent_servers.x.argz',
    message: 'unknown key "argz"',
    hint: 'did you mean "args"?',
  });
});

test('problems of the schema, names and references come in one list, in file order', async () => {
  const lines = await problemsOf({
    agent_servers: { 'a/b': { command: '' }, c: { command: `\${env:NOT_THERE}` } },
    default_agent: 'd',
    routes: [{ cwd: '/**', agent: 'cc' }],
    limits: { max_frame_bytes: 0 },
  });
  expect(lines).toEqual([
    expect.stringContaining('3:5: an agent name'),
    expect.stringContaining('4:18: agent_servers.a/b.command: expected a non-empty string'),
    expect.stringContaining('7:18: agent_servers.c.command: environment variable "NOT_THERE" is not set'),
    expect.stringContaining('10:20: default_agent: expected the name of an agent in agent_servers'),
    expect.stringContaining('14:16: routes[0].agent: expected the name of an agent in agent_servers; did you mean "c"?'),
    expect.stringContaining('18:24: limits.max_frame_bytes: expected a whole number from 1'),
  ]);
});

test.each([
  { is: [], wants: 'the file: expected an object' },
  { is: { agent_servers: [] }, wants: 'agent_servers: expected an object' },
  { is: { agent_servers: { x: 'cmd' } }, wants: 'agent_servers.x: expected an object' },
  { is: { agent_servers: { x: {} } }, wants: 'agent_servers.x: missing key "command"; expected a program, or "url" for a remote agent' },
  { is: { agent_servers: { x: { ...AGENT, args: 'a' } } }, wants: 'args: expected a list' },
  { is: { agent_servers: { x: { ...AGENT, args: ['a', 1] } } }, wants: 'args[1]: expected a string' },
  { is: { agent_servers: { x: { ...AGENT, env: { A: 1 } } } }, wants: 'env.A: expected a string' },
  { is: { agent_servers: { x: { ...AGENT, enabled: 'yes' } } }, wants: 'enabled: expected true or false' },
  { is: { agent_servers: { x: { ...AGENT, framing: 'other' } } }, wants: 'framing: expected "auto" or "ndjson" or "content-length"' },
  { is: { agent_servers: { x: { ...AGENT, dialect: 'klingon' } } }, wants: 'dialect: expected "auto" or "acp" or "agentkit"' },
  { is: { agent_servers: { x: { ...AGENT, type: 'registry' } } }, wants: 'type: expected "custom"' },
  { is: { agent_servers: { x: { ...AGENT, timeouts: { cancel_ms: 0 } } } }, wants: 'cancel_ms: expected a whole number from 1' },
  { is: { agent_servers: { x: { ...AGENT, timeouts: { cancel_ms: 1.5 } } } }, wants: 'cancel_ms: expected a whole number' },
  { is: { agent_servers: { x: { ...AGENT, timeouts: { cancel_ms: 2 ** 31 } } } }, wants: 'expected a whole number up to 2147483647' },
  { is: { agent_servers: { x: { ...AGENT, timeouts: { cancelms: 1 } } } }, wants: 'unknown key "cancelms"; did you mean "cancel_ms"?' },
  { is: { agent_servers: { x: { ...AGENT, restart: { windows: 1 } } } }, wants: 'unknown key "windows"; did you mean "window_s"?' },
  { is: { agent_servers: { x: AGENT }, limits: { max_frames: 1 } }, wants: 'unknown key "max_frames"' },
  { is: { agent_servers: { x: AGENT }, workspace: true }, wants: 'workspace: expected "off" or "serve-missing"' },
  { is: { agent_servers: { x: AGENT }, routes: [{ cwd: '/' }] }, wants: 'routes[0]: missing key "agent"; expected a string' },
  { is: { agent_servers: { x: AGENT }, routes: [{ cwd: '/', agnet: 'x' }] }, wants: 'unknown key "agnet"; did you mean "agent"?' },
  { is: { agent_servers: { x: AGENT }, host_tools: { files: 'yes' } }, wants: 'host_tools.files: expected true or false' },
  { is: { agent_servers: { x: { ...AGENT, mcp_transport: 'sse' } } }, wants: 'mcp_transport: expected "auto" or "acp" or "http"' },
  { is: { agent_servers: { x: AGENT }, host_tools: { commands: [{ name: 'x' }] } }, wants: 'missing key "command"' },
  ...[
    { command: { name: 'Bad-Name' }, wants: 'commands[0].name: a tool name starts with a lower-case letter' },
    { command: { name: 'read_file' }, wants: 'commands[0].name: another tool has this name' },
    { command: { args: ['{file}'] }, wants: 'commands[0].args[0]: a placeholder is not a property of input_schema' },
    { command: { input_schema: { type: 'string' } }, wants: 'commands[0].input_schema: expected a JSON Schema with "type": "object"' },
    { command: { input_schema: { type: 'object', properties: { a: { type: 'x' } } } }, wants: 'input_schema: not a usable JSON Schema' },
  ].map(({ command, wants }) => ({
    is: { agent_servers: { x: AGENT }, host_tools: { commands: [{ name: 'one', description: 'd', command: 'c', ...command }] } },
    wants,
  })),
  ...[
    { servers: [{ name: 'a_b', command: 'c' }], wants: 'mcp_servers[0].name: a server name starts with a lower-case letter' },
    { servers: [{ name: 'a' }], wants: 'mcp_servers[0].name: expected either "command" or "url"' },
    { servers: [{ name: 'a', command: 'c', url: 'http://h' }], wants: 'expected either "command" or "url"' },
    { servers: [{ name: 'a', url: 'ftp://h' }], wants: 'mcp_servers[0].url: expected an http or https URL' },
    {
      servers: [
        { name: 'a', command: 'c' },
        { name: 'a', command: 'd' },
      ],
      wants: 'mcp_servers[1]: another server has the same name',
    },
  ].map(({ servers, wants }) => ({ is: { agent_servers: { x: AGENT }, mcp_servers: servers }, wants })),
  { is: {}, wants: 'agent_servers: expected at least one enabled agent' },
  { is: { agent_servers: { x: { ...AGENT, enabled: false } } }, wants: 'agent_servers: expected at least one enabled agent' },
  {
    is: { agent_servers: { x: AGENT, y: { ...AGENT, enabled: false } }, default_agent: 'y' },
    wants: 'default_agent: agent "y" is disabled',
  },
])('$is is reported as: $wants', async ({ is, wants }) => {
  expect((await problemsOf(is)).join('\n')).toContain(wants);
});

test.each(['-x', 'a/b', 'a~b', 'a b', '', 'ä'])('%j is not a valid agent name', async (name) => {
  expect(await problemsOf({ agent_servers: { [name]: AGENT } })).toEqual([expect.stringContaining('3:5: an agent name must start with')]);
});

test.each([
  { is: { agent_servers: { x: { ...AGENT, proxies: [] } } }, what: 'agent_servers.x.proxies' },
  { is: { agent_servers: { x: AGENT }, proxies: [] }, what: 'proxies' },
])('$what is refused as unsupported in this version, not as unknown', async ({ is, what }) => {
  expect(await problemsOf(is)).toEqual([expect.stringMatching(new RegExp(`^\\d+:\\d+: ${what}: .*not supported in this version$`))]);
});

test('no value of the file is ever printed', async () => {
  const canary = 'canary-5f2d';
  const { message, problems } = await configError(
    createSandbox().loadFile(
      {
        $schema: 5,
        agent_servers: {
          x: { command: [canary], args: canary, env: canary, cwd: [canary], label: { canary }, framing: canary, isolation: canary },
          y: { command: `\${env:A}\${file:nowhere}`, enabled: canary, type: canary, timeouts: canary, restart: { max: canary } },
        },
        default_agent: canary,
        routes: [{ cwd: [canary], agent: canary }, canary],
        limits: { max_frame_bytes: canary },
        policy: [canary],
        unknown: canary,
      },
      { A: canary },
    ),
  );
  expect(problems.length).toBeGreaterThan(15);
  expect(message + JSON.stringify(problems)).not.toContain('5f2d');
});

test('a file with a syntax error reports only that error', async () => {
  expect(await problemsOf('{\n  "agent_servers": { "x": { "command": 5 } }\n  "polciy": 1\n}')).toEqual([
    '3:3: syntax error: expected ","',
  ]);
});

test.each([
  [{}, '3:10: agent_servers.x: missing key "command"; expected a program, or "url" for a remote agent'],
  [{ command: 'a', url: 'ws://h/' }, '5:14: agent_servers.x: "command" and "url" exclude each other; keep one of them'],
  [{ command: 'a', headers: {} }, '5:7: agent_servers.x.headers: only for an agent with "url"'],
  [{ url: 'ws://h/', env: {} }, '5:7: agent_servers.x.env: only for an agent with "command"'],
  [{ command: 'a', files: 'same' }, '5:7: agent_servers.x.files: only for an agent with "url" or "ssh"'],
  [{ ssh: 'h' }, '3:10: agent_servers.x: missing key "command"; expected a program, or "url" for a remote agent'],
  [{ ssh: 'h', url: 'ws://h/' }, '4:14: agent_servers.x: "ssh" and "url" exclude each other; keep one of them'],
  [{ ssh: 'h', command: 'a', tls: {} }, '6:7: agent_servers.x.tls: only for an agent with "url"'],
  [{ ssh: 'h', command: 'a', inherit_env: 'all' }, '6:7: agent_servers.x.inherit_env: only for an agent with "command" and without "ssh"'],
  [{ ssh: 'h', command: 'a', env: { 'a;b': '' } }, '7:9: agent_servers.x.env.a;b: a shell cannot set this name'],
  [{ ssh: '-oProxyCommand=x', command: 'a' }, '4:14: agent_servers.x.ssh: expected another value'],
  [{ url: 'ws://h/', files: { map: { relative: '/x' } } }, '7:23: agent_servers.x.files.map.relative: expected another value'],
  [{ url: 'ftp://h/' }, '4:14: agent_servers.x.url: expected another value'],
])('a program and an address have their own keys: %o', async (agent, problem) => {
  expect(await problemsOf({ agent_servers: { x: agent } })).toEqual([problem]);
});

test.each([
  ['wrkspace', /: sandbox: expected "off" or .*"workspace".* or an object$/],
  [{ level: 'wrkspace' }, /: sandbox\.level: expected "off" or .*"workspace"/],
  [{ levle: 'workspace' }, /: unknown key "levle"(; did you mean "level"\?)?$/],
])('a key that takes a word or an object names what it takes, or the mistake inside: %j', async (sandbox, wanted) => {
  expect(await problemsOf({ agent_servers: { a: AGENT }, sandbox })).toEqual([expect.stringMatching(wanted)]);
});
