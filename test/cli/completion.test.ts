// `switchboard completion`: the words it offers, and its script in bash. completion.zsh.test.ts and completion.fish.test.ts test the other shells.
import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { createHome } from './command.ts';
import { withScript } from './completion-script.ts';

const AGENTS = { agent_servers: { alpha: { command: 'a' }, beta: { command: 'b' } } };

test.each([
  { words: ['co'], offers: ['compare', 'connect', 'config', 'completion'] },
  { words: ['agents', ''], offers: ['list', 'test', 'search', 'add', 'update', 'rollback', 'remove'] },
  { words: ['agents', 'add', 'cl'], offers: ['claude-agent', 'cline'] },
  { words: ['agents', 'test', ''], offers: ['alpha', 'beta'] },
  { words: ['acp', '--agent', 'b'], offers: ['beta'] },
  { words: ['--agent', ''], offers: ['alpha', 'beta'] },
  { words: ['acp', '--agent', 'alpha', '--policy-m'], offers: ['--policy-mode'] },
  { words: ['acp', '--policy-mode', ''], offers: ['enforce', 'observe'] },
  { words: ['connect', 'z'], offers: ['zed'] },
  { words: ['connect', '--print', ''], offers: ['lua', 'elisp', 'toml'] },
  { words: ['completion', ''], offers: ['bash', 'zsh', 'fish'] },
  { words: ['connect', 'zed', ''], offers: [] },
  { words: ['config', 'validate', ''], offers: [] }, // file names are left to the shell
  { words: ['__'], offers: [] },
])('after $words it offers $offers', async ({ words, offers }) => {
  const home = createHome();
  home.write(home.userFile, AGENTS);
  const { code, stdout } = await home.quick(['__complete', '--', ...words]);
  expect({ code, words: stdout.split('\n').filter((word) => word !== '') }).toEqual({ code: 0, words: offers });
});

test('with an invalid configuration it offers no agents and prints no errors', async () => {
  const home = createHome();
  home.write(home.userFile, '{ broken');
  expect(await home.quick(['__complete', '--', 'agents', 'test', ''])).toMatchObject({ code: 0, stdout: '' });
});

test('an unknown shell is exit code 2', async () => {
  expect(await createHome().quick(['completion', 'tcsh'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('shells: bash, zsh, fish'),
  });
});

test.skipIf(process.platform === 'win32')('in bash the script completes words, also after an empty word', async () => {
  const home = createHome();
  const { script, env } = await withScript(home, 'bash');
  const line = (words: string[]) =>
    `COMP_WORDS=(switchboard ${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}; _switchboard; echo "\${COMPREPLY[*]}"`;
  const ask = `source '${script}'; complete -p switchboard; ${line(['agents', 'add', 'cl'])}; ${line(['connect', ''])}`;
  const { stdout } = spawnSync('bash', ['--norc', '-c', ask], { env, encoding: 'utf8' });
  expect(stdout).toBe('complete -F _switchboard switchboard\nclaude-agent cline\nzed jetbrains vscode acp-ui acpx\n');
});
