// The completion script, run by zsh.
import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { createHome } from './command.ts';
import { withScript } from './completion-script.ts';

test('the script has no syntax errors and asks switchboard for the words', async () => {
  const home = createHome();
  const { script, env } = await withScript(home, 'zsh');
  // compadd works only inside the line editor; this stand-in prints its arguments.
  const ask = `compdef() { echo "for $2" }; compadd() { shift; echo "$@" }; source '${script}'; words=(switchboard agents add cl); CURRENT=4; _switchboard`;
  const { stdout, stderr } = spawnSync('zsh', ['-f', '-c', ask], { env, encoding: 'utf8' });
  expect({ stdout, stderr }).toEqual({ stdout: 'for switchboard\nclaude-agent cline\n', stderr: '' });
});

test('the script can be sourced before compinit has run', async () => {
  const home = createHome();
  const { script, env } = await withScript(home, 'zsh');
  const ask = `ZDOTDIR='${home.tmp}'; source '${script}'; echo $_comps[switchboard]`;
  const { stdout, stderr } = spawnSync('zsh', ['-f', '-c', ask], { env, encoding: 'utf8', input: '' });
  expect({ stdout, stderr }).toEqual({ stdout: '_switchboard\n', stderr: '' });
});
