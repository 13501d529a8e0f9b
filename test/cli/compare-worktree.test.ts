// A worktree comes from a repository that others wrote, and an agent may write in it: git must not run any of their programs.
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { repositoryAt } from '../../src/cli/compare/git-worktree.ts';

function place() {
  const root = mkdtempSync(path.join(realpathSync(os.tmpdir()), 'switchboard-worktree-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const [repo, trace, evil] = ['repo', 'trace', 'evil'].map((name) => path.join(root, name)) as [string, string, string];
  mkdirSync(repo);
  writeFileSync(evil, `#!/bin/sh\necho "$0" >> '${trace}'\n`);
  chmodSync(evil, 0o755);
  const git = (cwd: string, ...args: string[]) => execFileSync('git', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  git(repo, 'init', '-q');
  writeFileSync(path.join(repo, 'a.txt'), 'one\n');
  git(repo, 'add', '.');
  git(repo, '-c', 'user.name=n', '-c', 'user.email=e', 'commit', '-qm', 'one');
  return { root, repo, evil, git, hasRun: () => existsSync(trace) };
}

test("git runs neither the repository's hooks nor its file monitor", async () => {
  const { root, repo, evil, git, hasRun } = place();
  git(repo, 'config', 'core.fsmonitor', evil);
  for (const hook of ['post-checkout', 'post-index-change', 'reference-transaction'])
    writeFileSync(path.join(repo, '.git/hooks', hook), `#!/bin/sh\nexec '${evil}' </dev/null\n`, { mode: 0o755 });
  writeFileSync(path.join(repo, 'a.txt'), 'one\ntwo\n');
  const worktree = await (await repositoryAt(repo, process.env))?.(path.join(root, 'agent'));
  writeFileSync(path.join(root, 'agent/b.txt'), 'new\n');
  expect(await worktree?.changes()).toEqual([{ path: 'b.txt', status: 'added' }]);
  await worktree?.remove();
  expect(existsSync(path.join(root, 'agent'))).toBe(false);
  expect(hasRun()).toBe(false);
});

test('git runs no program that an agent configures in a repository it puts in place of the worktree, neither now nor when the user looks', async () => {
  const { root, repo, evil, git, hasRun } = place();
  const agent = path.join(root, 'agent');
  const worktree = await (await repositoryAt(repo, process.env))?.(agent);
  rmSync(path.join(agent, '.git'));
  git(agent, 'init', '-q');
  for (const key of ['core.fsmonitor', 'filter.theirs.clean', 'diff.external']) git(agent, 'config', key, evil);
  writeFileSync(path.join(agent, '.gitattributes'), '* filter=theirs\n');
  writeFileSync(path.join(agent, 'a.txt'), 'two\n');
  expect(await worktree?.changes()).toEqual([
    { path: '.gitattributes', status: 'added' },
    { path: 'a.txt', status: 'changed' },
  ]);
  expect(execFileSync('sh', ['-c', worktree?.look ?? ''], { encoding: 'utf8' })).toContain('+two');
  await worktree?.remove();
  expect(existsSync(agent)).toBe(false);
  expect(hasRun()).toBe(false);
});

test('programs that git starts see only the environment that it is given', async () => {
  const { root, repo, git } = place();
  const seen = path.join(root, 'seen');
  git(repo, 'config', 'filter.ours.clean', `env > '${seen}'; cat`);
  writeFileSync(path.join(repo, '.gitattributes'), '* filter=ours\n');
  await (await repositoryAt(repo, { PATH: process.env.PATH, OTHER: 'kept' }))?.(path.join(root, 'agent'));
  const names = readFileSync(seen, 'utf8')
    .split('\n')
    .map((line) => line.split('=')[0]);
  expect(names).toContain('OTHER');
  expect(names).not.toContain('HOME');
});
