// `switchboard compare`, with the embedded agents and some that misbehave.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { createHome, type Home } from '../command.ts';

const fixture = (name: string) => ({ command: process.execPath, args: [path.resolve(import.meta.dirname, `../../fixtures/${name}.mjs`)] });
const git = (home: Home, ...args: string[]) => execFileSync('git', args, { cwd: home.project, encoding: 'utf8' });
const worktrees = (home: Home) => git(home, 'worktree', 'list', '--porcelain').match(/^worktree/gm)?.length;

/** A repository with one commit, one uncommitted change and one untracked file. */
function repository(home: Home): void {
  git(home, 'init', '-q');
  home.write('tracked.txt', 'one\n');
  git(home, 'add', '.');
  git(home, '-c', 'user.name=n', '-c', 'user.email=e', 'commit', '-qm', 'one');
  home.write('tracked.txt', 'one\ntwo\n');
  home.write('untracked.txt', 'new\n');
}

test('without --write, all agents answer the prompt, and a table shows the duration and usage of each', async () => {
  const home = createHome();
  const { code, stdout } = await home.run(['compare', 'hello']);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^== sketcher ==\nSketcher here\. You said: "hello"\..*\n\n== builder ==\nBuilder here\./);
  expect(stdout).toMatch(/^AGENT +RESULT +TIME +FIRST OUTPUT +TOKENS +COST +TOOLS +DENIED\n/m);
  expect(stdout).toMatch(/^builder +end_turn +\d+\.\d s +\d+\.\d s +\d+ of 32000 +0 +0$/m);
  const edited = await home.run(['compare', '-a', 'builder', '-a', 'sketcher', '/edit', 'a.txt']);
  expect(edited.stdout).toMatch(/^== builder ==\n.*lets me change no files/);
  expect(readdirSync(home.project)).toEqual([]);
});

test('without --write nothing is written, even if the configuration serves files', async () => {
  const home = createHome();
  const demo = { command: process.execPath, args: [path.resolve(import.meta.dirname, '../../../dist/demo-agent.js'), '--name', 'builder'] };
  const policy = { version: 1, allow: ['read($cwd/**)', 'edit($cwd/**)'] };
  home.write(home.userFile, { agent_servers: { one: demo, two: demo }, workspace: 'serve-missing', policy });
  const { code, stdout } = await home.run(['compare', '/edit', 'a.txt']);
  expect(code).toBe(0);
  expect(stdout.match(/lets me change no files/g)).toHaveLength(2);
  expect(readdirSync(home.project)).toEqual([]);
});

describe('with --write', () => {
  test('each agent gets a worktree that includes uncommitted changes; changed worktrees stay and are named, and the project is unchanged', async () => {
    const home = createHome();
    repository(home);
    const { code, stdout, stderr } = await home.run(['compare', '--write', '--json', '/edit', 'untracked.txt']);
    expect(code).toBe(0);
    const { outcomes } = JSON.parse(stdout).data;
    expect(outcomes.map(({ agent }: { agent: string }) => agent)).toEqual(['sketcher', 'builder']);
    for (const { ok, agent, directory } of outcomes) {
      expect(ok).toBe(true);
      expect(directory).toMatchObject({ kind: 'worktree', changed: [{ path: 'untracked.txt', status: 'changed' }], kept: true });
      expect(path.dirname(path.dirname(directory.path))).toBe(home.tmp);
      expect(stderr).toContain(`${agent} works in a worktree: ${directory.path}\n`);
      const read = (name: string) => readFileSync(path.join(directory.path, name), 'utf8');
      expect(read('tracked.txt')).toBe('one\ntwo\n');
      expect(read('untracked.txt').toLowerCase()).toMatch(new RegExp(`^new\n${agent} was here`));
      expect(execFileSync('sh', ['-c', directory.look], { encoding: 'utf8' })).toMatch(/^\+\w+ was here/m);
    }
    expect(git(home, 'status', '--porcelain')).toBe(' M tracked.txt\n?? untracked.txt\n');
    expect(readFileSync(path.join(home.project, 'untracked.txt'), 'utf8')).toBe('new\n');
    for (const { directory } of outcomes) execFileSync('sh', ['-c', directory.discard], { cwd: home.project });
    expect(worktrees(home)).toBe(1);
  });

  test('a subfolder of a repository maps to the same subfolder; unchanged worktrees are removed, and --discard removes changed ones too', async () => {
    const home = createHome();
    repository(home);
    mkdirSync(path.join(home.project, 'sub'));
    home.write('given.json', { agent_servers: { one: demo(home, 'sketcher'), two: fixture('well-behaved') } });
    const { child, ended } = home.launch([
      'sh',
      '-c',
      'cd sub && exec "$0" "$@"',
      process.execPath,
      home.bin,
      'compare',
      '--write',
      '--discard',
      '--config',
      '../given.json',
      '/edit a.txt',
    ]);
    child.stdin.end();
    const { code, stdout } = await ended;
    expect(code).toBe(0);
    expect(stdout).toContain('one changed 1 file; its worktree was removed.\n  A sub/a.txt\n');
    expect(stdout).toContain('two changed nothing; its worktree was removed.\n');
    expect(worktrees(home)).toBe(1);
    expect(readdirSync(home.tmp)).toEqual([]);
  });

  test('a write outside the directory of its agent is refused and reported, whatever --approve allows: exit code 5', async () => {
    const home = createHome();
    const outside = home.write('../outside.txt', 'theirs');
    home.write('given.json', { agent_servers: { one: fixture('ignores-cancel'), two: fixture('ignores-cancel') } });
    const args = ['compare', '--write', '--approve', 'all', '--json', '--config', 'given.json', `write ${outside}`];
    const { code, stdout } = await home.run(args);
    expect(code).toBe(5);
    const { outcomes } = JSON.parse(stdout).data;
    for (const { refused, ok } of outcomes)
      expect([refused, ok]).toEqual([[expect.stringContaining(`write ${outside}; it is outside the agent's directory`)], false]);
    expect(readFileSync(outside, 'utf8')).toBe('theirs');
  });

  test('without a repository a copy is used; special files and files that may not be read are left out and reported', async () => {
    const home = createHome();
    home.write('notes/a.txt', 'kept\n');
    const policy = home.write('../deny.yaml', 'version: 1\ndeny: ["edit(**/secret.txt)"]\n');
    const { code, stdout } = await home.run(['compare', '--write', '--into', '../here', '--policy', policy, '/edit', 'secret.txt']);
    expect(code).toBe(5);
    expect(stdout).toMatch(/^sketcher +end_turn .* 1 +0 files$/m);
    expect(stdout).toContain('sketcher was denied: edit: ');
    expect(existsSync(path.join(home.project, '../here'))).toBe(false);
    const kept = await home.run(['compare', '--write', '--into', '../here', '/edit', 'notes/a.txt']);
    expect(kept.stdout).toContain(`builder changed 1 file, in ${path.join(home.project, '../here/builder')}\n  M notes/a.txt\n`);
    expect(readFileSync(path.join(home.project, 'notes/a.txt'), 'utf8')).toBe('kept\n');
    expect(await home.run(['compare', '--write', '--into', '../here', 'x'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('already exists'),
    });
    expect(await home.run(['compare', '--write', '--into', 'inside', 'x'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('would be inside'),
    });
  });
});

test('a failing agent is part of the comparison, and the command exits with its exit code', async () => {
  const home = createHome();
  home.write('given.json', {
    agent_servers: { good: demo(home, 'builder'), absent: { command: 'no-such-command' }, dies: fixture('crash-mid-turn') },
  });
  const { code, stdout } = await home.run(['compare', '--config', 'given.json', 'crash'], { FIXTURE_DIR: home.tmp });
  expect(code).toBe(7);
  expect(stdout).toContain('== good ==\nBuilder here.');
  expect(stdout).toMatch(/== absent ==\nAgent "absent" did not start: .*or install the agent\n\n/);
  expect(stdout).toMatch(/^absent +failed +0 +0$/m);
  expect(stdout).toMatch(/== dies ==\nAgent "dies" exited/);
});

test('--timeout cancels slow agents and Ctrl-C cancels all; the results so far are shown', async () => {
  const home = createHome();
  const late = await home.run(['compare', '--timeout', '0.5', '/slow 60']);
  expect(late.code).toBe(3);
  expect(late.stdout).toMatch(/^sketcher +timeout /m);
  const { child, ended } = home.start(['compare', '--write', '--json', '/slow 60']);
  child.stdin.end();
  // Both agents are working once the first has its directory and its prompt.
  await new Promise<void>((resolve) => child.stderr.on('data', (text: string) => void (text.includes('builder works in') && resolve())));
  child.kill('SIGINT');
  const { code, stdout } = await ended;
  expect(code).toBe(130);
  expect(JSON.parse(stdout).data.outcomes.map(({ result }: { result: string }) => result)).toEqual(['cancelled', 'cancelled']);
  expect(readdirSync(home.tmp)).toEqual([]);
  expect(home.processesLeft()).toEqual([]);
});

test.each([
  [['compare', 'x', '-a', 'builder'], 2, 'compare needs at least two different agents'],
  [['compare', 'x', '-a', 'builder', '-a', 'builder'], 2, 'two different agents'],
  [['compare', 'x', '-a', 'builder', '-a', 'sketchr'], 4, 'unknown agent "sketchr"\n  did you mean "sketcher"?'],
  [['compare', 'x', '--discard'], 2, 'add --write'],
  [['compare'], 2, 'the prompt on stdin is empty\n  switchboard compare'],
])('%j is refused with exit code %i', async (words, code, message) => {
  expect(await createHome().run(words)).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(message) });
});

function demo(home: Home, name: string) {
  const script = path.resolve(import.meta.dirname, '../../../dist/demo-agent.js');
  return { command: process.execPath, args: [script, '--name', name, '--state', path.join(home.home, name)] };
}
