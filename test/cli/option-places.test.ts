// Options before and after the command, with one meaning.
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { createHome, type Home } from './command.ts';
import { allCommands } from './command-tree.ts';

const demoAgent = path.resolve(import.meta.dirname, '../../dist/demo-agent.js');
/** A configuration with one agent, so that its name shows which file was read. */
const configuration = (home: Home, name = 'mine') =>
  home.write(`${name}.json`, { agent_servers: { [name]: { command: process.execPath, args: [demoAgent, '--name', 'builder'] } } });

test('every command accepts --config', () => {
  const lacking = allCommands().filter(({ command }) => !command.options.some(({ long }) => long === '--config'));
  expect(lacking.map(({ words }) => words.join(' '))).toEqual([]);
});

test.each([
  { words: ['run', '-o', 'jsonl', 'hello'], says: '"name":"mine"' },
  { words: ['compare', 'hello'], says: 'only one agent is configured' },
  { words: ['agents', 'list'], says: 'mine' },
  { words: ['config', 'show'], says: 'mine' },
])('--config before or after "$words" names the configuration', async ({ words, says }) => {
  const home = createHome();
  const file = configuration(home);
  const [before, after] = await Promise.all([home.run(['--config', file, ...words]), home.run([...words, '--config', file])]);
  expect(before.stdout + before.stderr).toContain(says);
  expect(before.code).toBe(after.code);
});

test.each([['sessions', 'list'], ['policy', 'check', 'careful'], ['logs'], ['policy', 'remembered']])(
  '%s %s %s checks a --config that it does not need',
  async (...given) => {
    const words = given.filter((word) => word !== undefined);
    const home = createHome();
    const file = configuration(home);
    for (const args of [
      ['--config', 'missing.json', ...words],
      [...words, '--config', 'missing.json'],
    ])
      expect(await home.quick(args)).toMatchObject({ code: 6, stderr: expect.stringContaining('missing.json:1:1: file not found') });
    expect(await home.quick(['--config', file, ...words])).toMatchObject({ code: 0 });
  },
);

test('connect writes the --config before it into the entry', async () => {
  const home = createHome();
  const file = configuration(home);
  expect((await home.quick(['--config', file, 'connect', 'zed', '--dry-run'])).stdout).toContain(`"--config", "${file}"`);
});

describe('an option before a command', () => {
  test('that the command does not have is an error', async () => {
    expect(await createHome().quick(['--policy', 'careful', 'logs'])).toMatchObject({
      code: 2,
      stderr: 'switchboard: switchboard logs has no option --policy\n  see: switchboard logs --help\n',
    });
  });

  test('that is given again with another value is an error', async () => {
    const home = createHome();
    const [one, two] = [configuration(home, 'one'), configuration(home, 'two')];
    for (const words of [
      ['agents', 'list'],
      ['run', 'hello'],
    ])
      expect(await home.run(['--config', one, ...words, '--config', two])).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('--config is given twice, with different values'),
      });
    expect(await home.run(['--config', one, 'agents', 'list', '--config', one])).toMatchObject({ code: 0 });
  });

  test('applies to the command: a policy, an agent', async () => {
    const home = createHome();
    const policy = home.write('p.yaml', 'version: 1\ndeny: ["read(**)"]\n');
    home.write('a.txt', 'text');
    const { stdout, stderr } = await home.run(['--policy', policy, '--agent', 'builder', 'run', '/read a.txt']);
    expect(stdout + stderr).toContain('Builder');
    expect(stderr).toContain('p.yaml:2');
  });
});

describe('--option of run', () => {
  test('sets an option of the session', async () => {
    const home = createHome();
    const { code, stdout, stderr } = await home.run(['run', '-o', 'jsonl', '--option', 'model=ink', 'hello']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.not.stringContaining('--option') });
    expect(stdout).toContain('"configId":"model","value":"ink"');
  });

  test('was called --config: that still works, with a notice', async () => {
    const home = createHome();
    const { code, stdout, stderr } = await home.run(['run', '-o', 'jsonl', '--config', 'model=ink', 'hello']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('use --option model=ink') });
    expect(stdout).toContain('"configId":"model","value":"ink"');
  });
});

test.each([
  { words: 'logs err:ture', meant: 'true' },
  { words: 'logs dir:inn', meant: 'in' },
  { words: 'logs !kind:respons', meant: 'response' },
  { words: 'sessions list --since yesterdya', meant: undefined },
  { words: 'run -o txt hello', meant: undefined },
  { words: 'acp --policy-mode obsreve', meant: undefined },
])('"$words" has an unknown value, which is an error', async ({ words, meant }) => {
  const { code, stdout, stderr } = await createHome().quick(words.split(' '));
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  if (meant !== undefined) expect(stderr).toContain(`did you mean "${meant}"?`);
});
