// The completion script, run by fish.
import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { createHome } from './command.ts';
import { withScript } from './completion-script.ts';

test('the script completes words', async () => {
  const home = createHome();
  const { script, env } = await withScript(home, 'fish');
  const ask = `source '${script}'; complete -C 'switchboard agents add cl'; complete -C 'switchboard completion '`;
  const { stdout } = spawnSync('fish', ['--no-config', '-c', ask], { env, encoding: 'utf8' });
  expect(stdout.split('\n')).toEqual(expect.arrayContaining(['claude-agent', 'cline', 'zsh']));
});
