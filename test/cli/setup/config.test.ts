// `switchboard config path`, `config validate` and `config trust`, run as the built command.
import { symlinkSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { createHome } from '../command.ts';

const AGENTS = { agent_servers: { one: { command: 'one-agent' }, two: { command: 'two-agent' } } };

test('path lists the files in use, highest precedence last', async () => {
  const home = createHome();
  const own = home.write(home.userFile, AGENTS);
  const ofProject = home.write('switchboard.jsonc', { default_agent: 'two' });
  expect(await home.run(['config', 'path'])).toEqual({
    code: 0,
    stdout: `${own}\tyour own\n${ofProject}\tproject file, not trusted: only default_agent and routes apply\n`,
    stderr: '',
  });
});

test('path names the default location if there is no file', async () => {
  const home = createHome();
  const { code, stdout, stderr } = await home.quick(['config', 'path']);
  expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
  expect(stderr).toContain(home.userFile);
});

test.each([
  { words: ['config', 'path', '--config', 'given.jsonc'], env: {}, by: '--config' },
  { words: ['--config', 'given.jsonc', 'config', 'path'], env: {}, by: '--config' },
  { words: ['config', 'path'], env: { SWITCHBOARD_CONFIG: 'given.jsonc' }, by: '$SWITCHBOARD_CONFIG' },
])('path says so if a file is selected by $by', async ({ words, env, by }) => {
  const home = createHome();
  home.write(home.userFile, AGENTS);
  const given = home.write('given.jsonc', 'not even JSON');
  expect(await home.quick(words, env)).toEqual({ code: 0, stdout: `${given}\tfrom ${by}\n`, stderr: '' });
});

test('validate reports the files and the agents', async () => {
  const home = createHome();
  const own = home.write(home.userFile, AGENTS);
  home.write('switchboard.json', { default_agent: 'two' });
  const { code, stdout } = await home.quick(['config', 'validate']);
  expect(code).toBe(0);
  expect(stdout).toBe(`valid: ${own}, ${path.join(home.project, 'switchboard.json')}\nagents: one, two (default)\n`);
});

test('validate also checks the policy, as `policy check` does', async () => {
  const home = createHome();
  const own = home.write(home.userFile, { ...AGENTS, policy: 'mine.yaml' });
  const policy = path.join(path.dirname(own), 'mine.yaml');
  expect(await home.run(['config', 'validate'])).toMatchObject({
    code: 6,
    stdout: '',
    stderr: expect.stringContaining('the policy mine.yaml cannot be read (ENOENT)'),
  });
  home.write(policy, 'version: 1\nalow: [execute]\nallow: [{ command: "git status", examples: { match: ["git push"] } }]\n');
  const broken = await home.run(['config', 'validate']);
  expect(broken).toMatchObject({ code: 6, stdout: '', stderr: expect.stringContaining(`${policy}:2:1: `) });
  expect(broken.stderr).toContain(`check it: switchboard policy check ${policy}`);
  home.write(own, { ...AGENTS, policy: { version: 1, alow: [] } });
  expect((await home.run(['run', 'hi'])).stderr).toContain(`check it: switchboard config validate ${own}\n`);
  home.write(own, { ...AGENTS, policy: 'mine.yaml' });
  home.write(policy, 'version: 1\nallow: ["execute(git status)"]\n');
  home.write('switchboard.json', { policy: 'theirs.yaml' });
  const { code, stdout, stderr } = await home.run(['config', 'validate']);
  expect({ code, policy: stdout.split('\n')[2] }).toEqual({ code: 0, policy: `policy: ${policy} (user, 1 rule)` });
  expect(stderr).toContain("the project's policy"); // an unreadable project policy is a warning, not an error
});

test('validate with a file checks only that file, and names every problem in it', async () => {
  const home = createHome();
  home.write(home.userFile, AGENTS);
  const file = home.write('given.jsonc', '{\n  "agent_servers": { "a b": { "command": 7 } },\n  "default_agent": "c",\n  "lag": {}\n}');
  const { code, stdout, stderr } = await home.quick(['config', 'validate', 'given.jsonc']);
  expect({ code, stdout }).toEqual({ code: 6, stdout: '' });
  const places = stderr.split('\n').flatMap((line) =>
    line.startsWith(file)
      ? [
          line
            .slice(file.length + 1)
            .split(':', 2)
            .join(':'),
        ]
      : [],
  );
  expect(places).toEqual(['2:22', '2:42', '3:20', '4:3']);
});

test('validate without any configuration says that there is none', async () => {
  const { code, stdout, stderr } = await createHome().quick(['config', 'validate']);
  expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
  expect(stderr).toContain('no configuration found');
});

test('validate of a missing file is exit code 6', async () => {
  const { code, stderr } = await createHome().quick(['config', 'validate', 'missing.jsonc']);
  expect({ code, stderr: stderr.replace(/\/.*\//, '') }).toEqual({
    code: 6,
    stderr: 'switchboard: the configuration is invalid\nmissing.jsonc:1:1: file not found (set by the command line)\n',
  });
});

test('a disabled agent is reported as disabled, not as unknown', async () => {
  const home = createHome();
  home.write(home.userFile, { agent_servers: { idle: { command: 'idle-agent', enabled: false }, one: { command: 'one-agent' } } });
  expect((await home.quick(['config', 'validate'])).stdout).toContain('agents: one (default)\ndisabled: idle\n');
  const listed = await home.quick(['agents', 'list']);
  expect(listed.stdout).toMatch(/^idle +disabled *$/m);
  expect(JSON.parse((await home.quick(['agents', 'list', '--json'])).stdout).data).toMatchObject({
    agents: [{ name: 'one' }],
    switchedOff: ['idle'],
  });
  const { code, stderr } = await home.quick(['agents', 'test', 'idle']);
  expect(code).toBe(4);
  expect(stderr).toBe(
    'switchboard: agent "idle" is disabled\n  remove "enabled": false from agent_servers.idle; to find the file, run: switchboard config path\n',
  );
});

test('the example that is shipped with the package is valid', async () => {
  const example = path.resolve(import.meta.dirname, '../../../config/switchboard.example.jsonc');
  const { code, stdout } = await createHome().quick(['config', 'validate', example]);
  expect(code).toBe(0);
  expect(stdout).toContain('agents: claude (default), gemini');
});

test('trust lets a project file define agents until its content changes', async () => {
  const home = createHome();
  home.write(home.userFile, AGENTS);
  const file = home.write('switchboard.jsonc', { agent_servers: { three: { command: 'three-agent' } } });

  const before = await home.quick(['config', 'validate']);
  expect(before.stdout).toContain('agents: one (default), two\n');
  expect(before.stderr).toContain(`to trust it, run: switchboard config trust ${file}`);

  const trusting = await home.quick(['config', 'trust', 'switchboard.jsonc']);
  expect({ code: trusting.code, stderr: trusting.stderr }).toEqual({ code: 0, stderr: '' });
  expect(trusting.stdout).toContain(`trusted: ${file}\n`);
  expect(await home.quick(['config', 'validate'])).toMatchObject({
    stderr: '',
    stdout: expect.stringContaining('one (default), two, three'),
  });
  expect((await home.quick(['config', 'path'])).stdout).toContain(`${file}\tproject file, trusted\n`);

  home.write('switchboard.jsonc', { agent_servers: { four: { command: 'four-agent' } } });
  expect((await home.quick(['config', 'validate'])).stdout).toContain('agents: one (default), two\n');
});

test('trust lists the programs that the file may now start, without the secrets in it', async () => {
  const home = createHome();
  home.write('switchboard.jsonc', {
    agent_servers: {
      three: { command: 'three-agent', args: ['--api-key', 'canary-1', 'two words'] },
      off: { command: 'off-agent', enabled: false },
    },
    mcp_servers: [
      { name: 'files', command: 'file-server' },
      { name: 'far', url: 'https://example.com/mcp' },
    ],
    host_tools: { commands: [{ name: 'lint', description: 'x', command: 'eslint', args: ['{file}'] }], modules: ['./tools.mjs'] },
  });
  const { stdout } = await home.quick(['config', 'trust', 'switchboard.jsonc']);
  expect(stdout.split('The file may now start:\n')[1]?.split('\n')).toEqual([
    `  three-agent --api-key '…' 'two words'  (agent "three")`,
    '  file-server  (MCP server "files")',
    `  eslint '{file}'  (tool "lint")`,
    `  ${path.join(home.project, 'tools.mjs')}  (tool module)`,
    '',
  ]);
});

test('trust of a missing file is exit code 6', async () => {
  const { code, stderr } = await createHome().quick(['config', 'trust', 'missing.jsonc']);
  expect(code).toBe(6);
  expect(stderr).toContain('missing.jsonc:1:1: cannot read the file (ENOENT)');
});

test('trust that cannot be saved is reported in one sentence', async () => {
  const home = createHome();
  home.write('switchboard.jsonc', {});
  symlinkSync('/dev/null', path.join(home.home, 'state'));
  const { code, stderr } = await home.quick(['config', 'trust', 'switchboard.jsonc'], { SWITCHBOARD_HOME: path.join(home.home, 'state') });
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /^switchboard: cannot write to the state directory .* \(E\w+\)\n {2}set SWITCHBOARD_HOME to a writable directory\n$/,
  );
});
