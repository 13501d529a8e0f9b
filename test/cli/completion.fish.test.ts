// The completion script, run by fish.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { createHome } from './command.ts';
import { withScript } from './completion-script.ts';

test('the script completes words, and files only where no word fits', async () => {
  const home = createHome();
  const { script, env } = await withScript(home, 'fish');
  const ask = `source '${script}'; complete -C 'switchboard agents add cl'; complete -C 'switchboard completion '; complete -C 'switchboard redact '`;
  const cwd = mkdtempSync(path.join(home.tmp, 'cwd-'));
  writeFileSync(path.join(cwd, 'a-file.txt'), '');
  const { stdout } = spawnSync('fish', ['--no-config', '-c', ask], { cwd, env, encoding: 'utf8' });
  expect(stdout.trimEnd().split('\n')).toEqual(['claude-agent', 'cline', 'bash', 'fish', 'zsh', 'a-file.txt']);
});
