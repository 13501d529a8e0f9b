// Help texts, usage errors, suggestions and internal errors.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { createHome } from './command.ts';
import { allCommands, helpOf } from './command-tree.ts';

test.each(allCommands().map(({ words, command }) => [words.join(' '), words, command] as const))(
  'the help of "switchboard %s" has an example',
  (_, words, command) => {
    const help = helpOf(command);
    expect(help).toContain(`Usage: ${['switchboard', ...words].join(' ')}`);
    expect(help).toMatch(/\nExamples?:\n {2}\S/);
  },
);

test.each([[], ['config', 'trust']])('--help of "switchboard %s %s" is on stdout, with exit code 0', async (...words) => {
  const { code, stdout, stderr } = await createHome().run([...words, '--help']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain(`Usage: ${['switchboard', ...words].join(' ')}`);
  expect(stdout).toContain('Example:\n  switchboard');
});

test('the main help lists every command on its own line, in groups', () => {
  const [self, ...all] = allCommands();
  const help = self ? helpOf(self.command) : '';
  const commands = all.filter(({ words }) => words.length === 1).map(({ words }) => words[0]);
  expect(commands.filter((name) => !new RegExp(`^  ${name} +\\S.{10,}$`, 'm').test(help))).toEqual([]);
  expect(help).not.toContain('\nCommands:'); // commands without a group
  expect(help.split('\n').filter((line) => line.length > 90)).toEqual([]);
  expect(help).not.toContain('--policy'); // options of acp are in its own help
});

test('--version prints the version of the package', async () => {
  const { version } = JSON.parse(readFileSync(path.resolve(import.meta.dirname, '../../package.json'), 'utf8'));
  expect(await createHome().run(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
});

test.each([
  { words: ['dmo'], says: 'unknown command "dmo"', suggests: 'demo' },
  { words: ['cofnig', 'path'], says: 'unknown command "cofnig"', suggests: 'config' },
  { words: ['xyzzy'], says: 'unknown command "xyzzy"', suggests: 'commands: demo, init' },
  { words: ['config', 'trsut', 'a.jsonc'], says: 'unknown command "trsut"', suggests: '  did you mean "trust"?\n' },
  { words: ['--agnet', 'x'], says: 'unknown option "--agnet"', suggests: '  did you mean "--agent"?\n' },
  { words: ['acp', '--confg', 'x'], says: 'unknown option "--confg"', suggests: '  did you mean "--config"?\n' },
  { words: ['acp', 'more'], says: 'too many arguments', suggests: 'acp' },
  { words: ['acp', '--', 'more'], says: 'unexpected argument "more"', suggests: 'acp --help' },
  { words: ['acp', '--config'], says: 'argument missing', suggests: '--config' },
  { words: ['config'], says: 'Usage: switchboard config', suggests: 'validate' },
  { words: ['config', 'trust'], says: 'missing required argument "file"', suggests: '  see: switchboard config trust --help\n' },
])('"$words" is exit code 2 with a suggestion', async ({ words, says, suggests }) => {
  const { code, stdout, stderr } = await createHome().quick(words);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(says);
  expect(stderr).toContain(suggests);
  expect(stderr).not.toContain('    at '); // no stack trace
});

test.each([
  { words: 'agents test skecher', code: 4, meant: 'sketcher' },
  { words: 'agents add gemni --offline', code: 4, meant: 'gemini' },
  { words: 'agents add claude --offline', code: 4, meant: 'claude-agent' },
  { words: 'auth skecher', code: 4, meant: 'sketcher' },
  { words: 'connect zde', code: 2, meant: 'zed' },
  { words: 'disconnect jetbrain', code: 2, meant: 'jetbrains' },
  { words: 'connect --print lau', code: 2, meant: 'lua' },
  { words: 'import --from vscod', code: 2, meant: 'vscode' },
  { words: 'init --yes --policy standrad', code: 2, meant: 'standard' },
  { words: 'completion bsh', code: 2, meant: 'bash' },
  { words: 'policy check standar', code: 6, meant: 'standard' },
  { words: 'policy explain --agent a --action raed --path x', code: 2, meant: 'read' },
  { words: 'logs agnt:x', code: 2, meant: 'agent:' },
])('"$words", which is close to a known name, suggests $meant', async ({ words, code, meant }) => {
  const ended = await createHome().quick(words.split(' '));
  expect({ code: ended.code, stdout: ended.stdout }).toEqual({ code, stdout: '' });
  expect(ended.stderr).toContain(`did you mean "${meant}"?`);
});

test('a reader that closes the pipe early causes no stack trace', async () => {
  const { child, ended } = createHome().start(['--help']);
  child.stdout.destroy();
  expect((await ended).stderr).toBe('');
});

describe('an internal error', () => {
  // Stands for any unexpected error, with a secret in its message.
  const sabotage = (home: ReturnType<typeof createHome>, code: string) => ({
    NODE_OPTIONS: `--require=${home.write('saboteur.cjs', code)}`,
    SOME_API_KEY: 'canary-4711-canary',
  });
  const NO_CWD = 'process.cwd = () => { throw new TypeError("no place: " + process.env.SOME_API_KEY); };';
  const LATER = 'if (process.argv.includes("acp")) setTimeout(() => { throw new Error("out of the blue"); }, 200);';

  test('is reported without a stack trace or a secret', async () => {
    const home = createHome();
    const { code, stdout, stderr } = await home.run(['config', 'path'], sabotage(home, NO_CWD));
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^switchboard: internal error: no place: \[redacted:\S+\]\n {2}this is a bug in switchboard: .*--debug.*\n$/);
  });

  test('is reported with a stack trace with --debug, before or after the command', async () => {
    const home = createHome();
    for (const words of [
      ['--debug', 'config', 'path'],
      ['config', 'path', '--debug'],
    ]) {
      const { code, stderr } = await home.run(words, sabotage(home, NO_CWD));
      expect(code).toBe(1);
      expect(stderr).toMatch(/^ {4}at .*saboteur\.cjs/m);
      expect(stderr).not.toContain('canary');
    }
  });

  test('is in the JSON envelope', async () => {
    const home = createHome();
    const { code, stdout } = await home.run(['agents', 'list', '--json'], sabotage(home, NO_CWD));
    expect({ code, ...JSON.parse(stdout) }).toMatchObject({ code: 1, ok: false, error: { code: 'FAILED' } });
  });

  test('outside a command ends the process with the same message', async () => {
    const home = createHome();
    const { ended } = home.start(['acp'], sabotage(home, LATER)); // its stdin stays open
    expect(await ended).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('internal error: out of the blue\n'),
    });
    expect((await ended).stderr).not.toMatch(/^ {4}at /m);
  });
});
