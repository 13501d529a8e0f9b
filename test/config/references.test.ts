// References to environment variables and files in a configuration.
import path from 'node:path';
import { expect, test } from 'vitest';
import { configError, createSandbox } from './sandbox.ts';

test('references are replaced in command, args, env and cwd', async () => {
  const sandbox = createSandbox();
  sandbox.write('secrets/token', 'from-file\n');
  const absolute = sandbox.write('elsewhere/other', 'two\n\n');
  const { config } = await sandbox.loadFile(
    {
      agent_servers: {
        x: {
          command: `\${env:BIN}/agent`,
          args: [`--a=\${env:A}\${env:EMPTY}`, `\${HOME} $A \${other:A}`],
          env: { TOKEN: `\${file:secrets/token}`, BOTH: `\${env:A}+\${file:${absolute}}` },
          cwd: `\${env:BIN}`,
          label: `\${env:A}`,
        },
      },
    },
    { BIN: '/bin', A: 'one', EMPTY: '' },
  );
  expect(config.agents[0]).toMatchObject({
    command: '/bin/agent',
    args: ['--a=one', `\${HOME} $A \${other:A}`],
    env: { TOKEN: 'from-file', BOTH: 'one+two\n' },
    cwd: '/bin',
    label: `\${env:A}`,
  });
});

test('a variable that the configuration uses for one agent or server is withheld from the other agents', async () => {
  const sandbox = createSandbox();
  const { config } = await sandbox.loadFile(
    {
      agent_servers: {
        a: { command: 'a', env: { KEY: `\${env:A_KEY}`, SHARED: `\${env:SHARED}` } },
        b: { command: 'b', args: [`--shared=\${env:SHARED}`], inherit_env: ['A_KEY'] },
        off: { command: 'c', enabled: false, env: { KEY: `\${env:C_KEY}` } },
      },
      mcp_servers: [{ name: 'docs', command: 'docs', env: { TOKEN: `\${env:DOCS}` } }],
    },
    { A_KEY: '1', SHARED: '2', C_KEY: '3', DOCS: '4' },
  );
  expect(config.agents.map(({ name, withheldEnv, inheritEnv }) => [name, withheldEnv, inheritEnv])).toEqual([
    ['a', ['C_KEY', 'DOCS'], 'all'],
    ['b', ['A_KEY', 'C_KEY', 'DOCS'], ['A_KEY']],
  ]);
  expect(config.secretVariables).toEqual(['A_KEY', 'C_KEY', 'DOCS', 'SHARED']);
});

test('the value of a reference is used literally, even if it looks like a reference', async () => {
  const { config } = await createSandbox().loadFile(
    { agent_servers: { x: { command: 'x', env: { A: `\${env:A}` } } } },
    { A: `\${env:B} $& $1`, B: 'no' },
  );
  expect(config.agents[0]?.env).toEqual({ A: `\${env:B} $& $1` });
});

test('every unresolved reference is reported with its key, without the rest of the value', async () => {
  const sandbox = createSandbox();
  const error = await configError(
    sandbox.loadFile({
      agent_servers: { x: { command: 'x', args: ['a', `canary\${env:NOPE}`], env: { KEY: `canary\${file:gone}`, DIR: `\${file:.}` } } },
    }),
  );
  expect(error.problems.map(({ line, path: at, message }) => ({ line, at, message }))).toEqual([
    { line: 7, at: 'agent_servers.x.args[1]', message: 'agent_servers.x.args[1]: environment variable "NOPE" is not set' },
    { line: 10, at: 'agent_servers.x.env.KEY', message: 'agent_servers.x.env.KEY: cannot read file "gone" (ENOENT)' },
    { line: 11, at: 'agent_servers.x.env.DIR', message: 'agent_servers.x.env.DIR: cannot read file "." (EISDIR)' },
  ]);
  expect(error.message).not.toContain('canary');
});

test('only for an agent does the hint name "enabled", which an MCP server does not have', async () => {
  const env = { KEY: `\${env:NOPE}` };
  const { problems } = await configError(
    createSandbox().loadFile({ agent_servers: { x: { command: 'x', env } }, mcp_servers: [{ name: 'docs', command: 'docs', env }] }),
  );
  expect(problems.map(({ hint }) => hint?.includes('"enabled": false'))).toEqual([true, false]);
});

test('a command that resolves to an empty string is a problem', async () => {
  const error = await configError(createSandbox().loadFile({ agent_servers: { x: { command: `\${env:A}` } } }, { A: '' }));
  expect(error.message).toContain('agent_servers.x.command: empty after resolving its references');
});

test('the references of a disabled agent are not resolved', async () => {
  const { config } = await createSandbox().loadFile({
    agent_servers: { off: { command: `\${env:NOPE}`, enabled: false }, on: { command: 'y' } },
  });
  expect(config.agents).toHaveLength(1);
});

test('relative paths are resolved from the directory of the configuration, not from the working directory', async () => {
  const sandbox = createSandbox();
  sandbox.write('project/token', 'wrong');
  sandbox.write(path.join(path.dirname(sandbox.userFile), 'token'), 'right');
  sandbox.write(sandbox.userFile, { agent_servers: { x: { command: 'x', env: { T: `\${file:token}` } } } });
  expect((await sandbox.load()).config.agents[0]?.env).toEqual({ T: 'right' });
});
