// One contained agent, with the built command and real bubblewrap.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { createHome } from '../cli/command.ts';
import { openSandboxSession, write } from './support.ts';

const WHO = ['-c', 'user.name=t', '-c', 'user.email=t@t'];
const git = (cwd: string, ...args: string[]) => execFileSync('git', [...WHO, ...args], { cwd, encoding: 'utf8' });
const COMMIT = `git ${WHO.join(' ')} commit -qm`;

test('an agent at workspace writes the project and nothing else', async () => {
  await using it = await openSandboxSession({
    sandbox: 'workspace',
    prepare: ({ project }) => write(path.join(project, 'package.json'), '{}'),
  });
  expect(await it.run('echo new > a.txt && cat a.txt')).toBe('new\nexit 0');
  expect(readFileSync(path.join(it.project, 'a.txt'), 'utf8')).toBe('new\n');
  for (const file of [`${it.base}/outside`, `${it.home}/.bashrc`, 'package.json'])
    expect(await it.run(`echo x > ${file}`)).toMatch(/Read-only file system/);
  expect(readFileSync(path.join(it.project, 'package.json'), 'utf8')).toBe('{}');
  expect(existsSync(path.join(it.base, 'outside'))).toBe(false);
});

test('an agent at read-only reads the project and cannot write it', async () => {
  await using it = await openSandboxSession({ sandbox: 'read-only', prepare: ({ project }) => write(path.join(project, 'a.txt'), 'text') });
  expect(await it.run('cat a.txt')).toBe('textexit 0');
  expect(await it.run('echo x > a.txt')).toMatch(/Read-only file system/);
  expect(await it.run('echo x > $TMPDIR/t && cat $TMPDIR/t')).toBe('x\nexit 0');
});

test('the temporary directory is private', async () => {
  await using it = await openSandboxSession({ sandbox: 'workspace' });
  expect(await it.run('echo x > /tmp/only-inside && cat /tmp/only-inside')).toBe('x\nexit 0');
  expect(existsSync('/tmp/only-inside')).toBe(false);
});

test('a commit works, and git’s own settings stay as they are', async () => {
  await using it = await openSandboxSession({
    sandbox: 'workspace',
    prepare: ({ project }) => void git(project, 'init', '-q', '-b', 'main'),
  });
  const before = readFileSync(path.join(it.project, '.git/config'), 'utf8');
  expect(await it.run(`echo a > a && git add a && ${COMMIT} one && git checkout -qb other && git log --oneline | wc -l`)).toBe('1\nexit 0');
  expect(await it.run('git config core.hooksPath /tmp')).not.toMatch(/exit 0$/);
  expect(await it.run('echo x > .git/hooks/pre-commit')).toMatch(/Read-only/);
  expect(await it.run('mv .git .git-old')).toMatch(/busy/);
  expect(readFileSync(path.join(it.project, '.git/config'), 'utf8')).toBe(before);
});

test('a linked worktree can commit', async () => {
  await using it = await openSandboxSession({
    sandbox: 'workspace',
    prepare({ base, project }) {
      const main = path.join(base, 'main');
      git(base, 'init', '-q', '-b', 'main', main);
      writeFileSync(path.join(main, 'a'), 'a');
      git(main, 'add', 'a');
      git(main, 'commit', '-qm', 'one');
      renameSync(project, `${project}-empty`);
      git(main, 'worktree', 'add', '-q', project, '-b', 'side');
    },
  });
  expect(await it.run(`echo b > b && git add b && ${COMMIT} two && git log --oneline | wc -l`)).toBe('2\nexit 0');
  expect(await it.run(`echo x >> ${it.base}/main/.git/config`)).toMatch(/Read-only/);
  expect(await it.run(`echo x > ${it.base}/main/a`)).toMatch(/Read-only/);
});

test('the policy hides what it denies to read, and protects what it denies to edit', async () => {
  await using it = await openSandboxSession({
    sandbox: 'workspace',
    policy: {
      version: 1,
      default: 'allow',
      deny: [
        { id: 'env', path: '**/.env' },
        { id: 'locked', action: ['edit', 'delete', 'move'], path: '$cwd/locked/**' },
      ],
    },
    prepare({ project }) {
      write(path.join(project, '.env'), 'canary');
      write(path.join(project, 'deep/below/.env'), 'canary');
      write(path.join(project, 'locked/file'), 'as it was');
    },
  });
  expect(await it.run('cat .env deep/below/.env; mv .env x; cp .env y; ln .env z; cat x y z')).not.toContain('canary');
  expect(await it.run('cat locked/file')).toContain('as it was');
  expect(await it.run('echo x > locked/file; rm -rf locked; mv locked l2; touch locked/new; ls locked')).toMatch(/file\nexit 0$/);
});

test('TERM reaches the agent and not the sandbox around it', async () => {
  await using it = await openSandboxSession({
    sandbox: 'workspace',
    agentArgs: ['--ignores-eof'],
    agent: { timeouts: { stop_grace_ms: 300 } },
  });
  await it.stop();
  expect(existsSync(path.join(it.project, 'got-term'))).toBe(true);
});

test('an agent whose command is missing fails by name, as without a sandbox', async () => {
  await expect(openSandboxSession({ sandbox: 'workspace', agent: { command: 'no-such-agent' } })).rejects.toThrow(
    /the command was not found \(command: no-such-agent\)/,
  );
});

test('an agent that exits inside says so with its own code', async () => {
  await using it = await openSandboxSession({ sandbox: 'workspace' });
  const { error } = await it.call('session/prompt', { sessionId: it.sessionId, prompt: [{ type: 'text', text: 'kill -TERM $PPID' }] });
  expect(error.message).toContain('code 42');
});

test('an agent whose first process ends at its start is refused with the reason', async () => {
  const home = createHome();
  const args = ['-e', "console.error('no licence here'); process.exit(1)"];
  home.write(home.userFile, { agent_servers: { one: { command: process.execPath, args } }, sandbox: 'workspace' });
  const { code, stderr } = await home.run(['run', 'hello']);
  expect({ code, stderr }).toMatchObject({ code: 7, stderr: expect.stringContaining('no licence here') });
});
