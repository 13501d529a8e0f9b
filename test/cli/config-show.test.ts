// `switchboard config show` and `config schema`, run as the built command.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { createHome } from './command.ts';

const CANARY = 'canary-7c1f';
const OWN = `{
  "agent_servers": {
    "one": { "command": "one-agent", "args": ["--api-key", "${CANARY}", "--acp"], "env": { "MODE": "${CANARY}", "KEY": "\${env:KEY}" } },
    "two": { "command": "two-agent", "timeouts": { "cancel_ms": 7 } }
  },
  "routes": [{ "cwd": "/a/**", "agent": "two" }],
  "limits": { "max_frame_bytes": 1000 }
}`;

type Shown = {
  data: { files: string[]; settings: { key: string; value: unknown; origin: { kind: string; file?: string; line?: number } }[] };
};

test('every setting is shown with its origin; the values of env and of --api-key are hidden', async () => {
  const home = createHome();
  const own = home.write(home.userFile, OWN);
  const project = home.write(
    'switchboard.jsonc',
    '{\n  "default_agent": "two",\n  "routes": [{ "cwd": "/b/**", "agent": "one" }],\n  "limits": {}\n}',
  );
  const { code, stdout } = await home.quick(['config', 'show', '--json'], { KEY: 'x' });
  expect(code).toBe(0);
  expect(stdout).not.toContain(CANARY);
  const { data } = JSON.parse(stdout) as Shown;
  expect(data.files).toEqual([own, project]);
  const by = new Map(
    data.settings.map(({ key, value, origin }) => [key, [value, origin.kind === 'file' ? `${origin.file}:${origin.line}` : origin.kind]]),
  );
  expect(Object.fromEntries(by)).toMatchObject({
    'agent_servers.one.command': ['one-agent', `${own}:3`],
    'agent_servers.one.args': [['--api-key', '[redacted]', '--acp'], `${own}:3`],
    'agent_servers.one.env.MODE': ['…', `${own}:3`],
    'agent_servers.one.env.KEY': [`\${env:KEY}`, `${own}:3`],
    'agent_servers.one.timeouts.cancel_ms': [10000, 'default'],
    'agent_servers.two.timeouts.cancel_ms': [7, `${own}:4`],
    default_agent: ['two', `${project}:2`],
    'routes[0].cwd': ['/b/**', `${project}:3`],
    'routes[1].cwd': ['/a/**', `${own}:6`],
    'limits.max_frame_bytes': [1000, `${own}:7`],
    'limits.max_queue_bytes': [67108864, 'default'],
    'agent_servers.two.env': [{}, 'default'],
  });
  expect(by.has('agent_servers.one.env')).toBe(false); // its variables are listed instead of the empty default
});

test('the text output is a table, and --origin adds a column with the origin', async () => {
  const home = createHome();
  const own = home.write(home.userFile, OWN);
  const plain = await home.quick(['config', 'show'], { KEY: 'x' });
  expect(plain.stdout).toMatch(/^KEY +VALUE\n/);
  expect(plain.stdout).not.toContain(own);
  const { stdout } = await home.quick(['config', 'show', '--origin'], { KEY: 'x' });
  expect(stdout).toMatch(/^KEY +VALUE +FROM\n/);
  expect(stdout).toContain(`${own}:7:34`);
  expect(stdout).not.toContain(CANARY);
});

test('without a configuration, the defaults are shown', async () => {
  const { code, stdout, stderr } = await createHome().quick(['config', 'show', '--origin']);
  expect(code).toBe(0);
  expect(stdout).toContain('limits.max_frame_bytes');
  expect(stderr).toContain('switchboard init');
});

test('an invalid configuration is not shown: exit code 6', async () => {
  const home = createHome();
  home.write(home.userFile, '{ "agent_server": {} }');
  const { code, stdout, stderr } = await home.quick(['config', 'show', '--json']);
  expect(code).toBe(6);
  expect(JSON.parse(stdout)).toMatchObject({
    ok: false,
    error: { code: 'CONFIG_INVALID', data: { problems: [{ line: 1 }, { line: 1 }] } },
  });
  expect(stderr).toContain('did you mean "agent_servers"?');
});

test('schema prints the schema that is shipped with the package', async () => {
  const { code, stdout } = await createHome().quick(['config', 'schema']);
  expect(code).toBe(0);
  expect(stdout).toBe(readFileSync(path.resolve(import.meta.dirname, '../../config/switchboard.schema.json'), 'utf8'));
});

test('an unset variable prevents an agent from starting, but not the configuration from being shown', async () => {
  const home = createHome();
  home.write(home.userFile, OWN);
  const missing = `agent_servers.one.env.KEY: environment variable "KEY" is not set`;
  const shown = await home.quick(['config', 'show']);
  expect(shown).toMatchObject({ code: 0, stdout: expect.stringMatching(/^agent_servers\.two\.command +"two-agent"$/m) });
  expect(shown.stderr).toContain(missing);
  const listed = await home.quick(['agents', 'list']);
  expect(listed).toMatchObject({ code: 0, stdout: expect.stringMatching(/^two +not running/m) });
  expect(listed.stderr).toContain(missing);
  expect(await home.quick(['config', 'validate'])).toMatchObject({ code: 6, stderr: expect.stringContaining(missing) });
});
