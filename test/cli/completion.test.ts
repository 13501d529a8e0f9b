// `switchboard completion`: the words it offers, and the scripts in the shells themselves where those are installed.
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { createHome, type Home } from './command.ts';

const BIN = path.resolve(import.meta.dirname, '../../bin/switchboard.js');
const AGENTS = { agent_servers: { alpha: { command: 'a' }, beta: { command: 'b' } } };

test.each([
  { words: ['co'], offers: ['compare', 'connect', 'config', 'completion'] },
  { words: ['agents', ''], offers: ['list', 'test', 'add', 'remove'] },
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
  { words: ['config', 'validate', ''], offers: [] }, // files, which the shell knows best
  { words: ['__'], offers: [] },
])('after $words it offers $offers', async ({ words, offers }) => {
  const home = createHome();
  home.write(home.userFile, AGENTS);
  const { code, stdout } = await home.quick(['__complete', '--', ...words]);
  expect({ code, words: stdout.split('\n').filter((word) => word !== '') }).toEqual({ code: 0, words: offers });
});

test('with a configuration that is not valid it offers no agents, and no errors', async () => {
  const home = createHome();
  home.write(home.userFile, '{ broken');
  expect(await home.quick(['__complete', '--', 'agents', 'test', ''])).toMatchObject({ code: 0, stdout: '' });
});

test('an unknown shell: exit code 2', async () => {
  expect(await createHome().quick(['completion', 'tcsh'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('shells are: bash, zsh, fish'),
  });
});

/** `switchboard` as a command on PATH, and the script in a file. */
async function withScript(home: Home, shell: string): Promise<{ script: string; env: NodeJS.ProcessEnv }> {
  const bin = path.join(home.home, 'bin');
  mkdirSync(bin);
  writeFileSync(path.join(bin, 'switchboard'), `#!/bin/sh\nexec "${process.execPath}" "${BIN}" "$@"\n`, { mode: 0o755 });
  const script = home.write(`script.${shell}`, (await home.quick(['completion', shell])).stdout);
  return { script, env: { PATH: `${bin}:${process.env.PATH}`, HOME: home.home, TERM: 'dumb' } };
}
const has = (shell: string) => spawnSync(shell, ['-c', 'true']).status === 0;

describe.skipIf(!has('bash'))('in bash', () => {
  test('the script fills in the words, also behind an empty one', async () => {
    const home = createHome();
    const { script, env } = await withScript(home, 'bash');
    const line = (words: string[]) =>
      `COMP_WORDS=(switchboard ${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}; _switchboard; echo "\${COMPREPLY[*]}"`;
    const ask = `source '${script}'; complete -p switchboard; ${line(['agents', 'add', 'cl'])}; ${line(['connect', ''])}`;
    const { stdout } = spawnSync('bash', ['--norc', '-c', ask], { env, encoding: 'utf8' });
    expect(stdout).toBe('complete -F _switchboard switchboard\nclaude-agent cline\nzed jetbrains vscode acp-ui acpx\n');
  });
});

describe.skipIf(!has('zsh'))('in zsh', () => {
  test('the script is sound, and asks us for the words', async () => {
    const home = createHome();
    const { script, env } = await withScript(home, 'zsh');
    // compadd works only inside the line editor; here it tells what it was given.
    const ask = `compdef() { echo "for $2" }; compadd() { shift; echo "$@" }; source '${script}'; words=(switchboard agents add cl); CURRENT=4; _switchboard`;
    const { stdout, stderr } = spawnSync('zsh', ['-f', '-c', ask], { env, encoding: 'utf8' });
    expect({ stdout, stderr }).toEqual({ stdout: 'for switchboard\nclaude-agent cline\n', stderr: '' });
  });
});

describe.skipIf(!has('fish'))('in fish', () => {
  test('the script fills in the words', async () => {
    const home = createHome();
    const { script, env } = await withScript(home, 'fish');
    const ask = `source '${script}'; complete -C 'switchboard agents add cl'; complete -C 'switchboard completion '`;
    const { stdout } = spawnSync('fish', ['--no-config', '-c', ask], { env, encoding: 'utf8' });
    expect(stdout.split('\n')).toEqual(expect.arrayContaining(['claude-agent', 'cline', 'zsh']));
  });
});
