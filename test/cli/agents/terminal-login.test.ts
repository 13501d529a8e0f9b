// `switchboard --auth AGENT`: the agent's own login command, run in the user's terminal.
import { expect, test } from 'vitest';
import { createHome, type Home } from '../command.ts';

/** An agent that prints its arguments and exits with the code in its `env`. */
function withAgent(home: Home): void {
  const script = home.write(
    'agent.mjs',
    'console.log(JSON.stringify({ args: process.argv.slice(2), key: process.env.KEY })); process.exit(Number(process.env.CODE));',
  );
  home.write(home.userFile, {
    agent_servers: {
      claude: { command: process.execPath, args: [script, '--configured'], env: { KEY: 'from the file', CODE: '3' } },
      absent: { command: 'no-such-command-anywhere' },
    },
  });
}

test.each([
  { words: ['--auth', 'claude', '--', 'login', '--device'], args: ['login', '--device'] },
  { words: ['acp', '--auth', 'claude', '--', 'login'], args: ['login'] },
  { words: ['--auth', 'claude', '--', 'config', 'path'], args: ['config', 'path'] }, // also a switchboard command, but meant for the agent
  { words: ['--auth', 'claude', '--', '--', '--help'], args: ['--', '--help'] },
  { words: ['--auth', 'claude'], args: [] },
])('"$words" runs the agent with its own arguments and returns its exit code', async ({ words, args }) => {
  const home = createHome();
  withAgent(home);
  const { code, stdout } = await home.run(words);
  expect(JSON.parse(stdout)).toEqual({ args: ['--configured', ...args], key: 'from the file' });
  expect(code).toBe(3);
});

test('the configured env overrides the inherited one, as it does when the agent serves sessions', async () => {
  const home = createHome();
  withAgent(home);
  const { code, stdout } = await home.run(['--auth', 'claude'], { KEY: 'from the shell', CODE: '0' });
  expect(JSON.parse(stdout).key).toBe('from the file');
  expect(code).toBe(3);
});

test('a command that cannot be started is exit code 7', async () => {
  const home = createHome();
  withAgent(home);
  const { code, stdout, stderr } = await home.run(['--auth', 'absent', '--', 'login']);
  expect({ code, stdout }).toEqual({ code: 7, stdout: '' });
  expect(stderr).toContain('agent "absent" did not start: the command was not found');
  expect(stderr).toContain('check "command" in agent_servers.absent');
});

test('an unknown agent is exit code 4', async () => {
  const home = createHome();
  withAgent(home);
  const { code, stderr } = await home.run(['--auth', 'cluade']);
  expect(code).toBe(4);
  expect(stderr).toContain('did you mean "claude"?');
});
