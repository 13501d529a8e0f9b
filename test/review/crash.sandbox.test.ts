// A killed switchboard leaves the layer and nothing else. The changes can be decided on the command line, or go on in the recovered session.
import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { openSandboxSession, type SandboxSession, type SandboxSessionOptions, write } from '../sandbox/support.ts';

const BIN = path.resolve(import.meta.dirname, '../../bin/switchboard.js');
const NOBODY = 65_534;

const open = (options: SandboxSessionOptions = {}) =>
  openSandboxSession({
    sandbox: 'review',
    ...options,
    prepare(places) {
      write(path.join(places.project, 'a.txt'), 'one\n');
      write(path.join(places.project, 'dir/b.txt'), 'b\n');
      write(path.join(places.project, 'locked/c.txt'), 'c\n');
      options.prepare?.(places);
    },
  });

function changes(it: SandboxSession, ...args: string[]) {
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    [BIN, 'changes', ...args, '--config', path.join(it.base, 'config.jsonc')],
    {
      cwd: it.project,
      env: { ...process.env, HOME: it.home, SWITCHBOARD_HOME: it.state, XDG_CONFIG_HOME: path.join(it.home, '.config') },
      encoding: 'utf8',
      ...(process.getuid?.() === 0 && { uid: NOBODY, gid: NOBODY }),
    },
  );
  return { stdout, stderr, status };
}
async function killed(it: SandboxSession): Promise<void> {
  const exited = once(it.child, 'exit');
  it.child.kill('SIGKILL');
  await exited;
  const processes = () =>
    execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
      .split('\n')
      .filter((line) => line.includes(it.base));
  await expect.poll(processes).toEqual([]);
}
const read = (it: SandboxSession, name: string): string => readFileSync(path.join(it.project, name), 'utf8');
const layers = (it: SandboxSession): readonly string[] => readdirSync(path.join(it.state, 'layers'));
const names = (it: SandboxSession): readonly string[] => readdirSync(it.project).sort();

test('after SIGKILL in a turn, the command line lists, shows, applies and drops its changes', async () => {
  await using it = await open();
  const before = names(it);
  void it.run('echo two >> a.txt; rm dir/b.txt; echo new > n.txt; touch ready; sleep 1000').catch(() => {});
  await expect.poll(() => layers(it).some((id) => existsSync(path.join(it.state, 'layers', id, '0/upper/ready')))).toBe(true);
  await killed(it);
  expect(names(it)).toEqual(before);
  expect(read(it, 'a.txt')).toBe('one\n');

  const [{ session, count }] = JSON.parse(changes(it, 'list', '--json').stdout).data.sessions;
  expect([session, count]).toEqual([it.sessionId, 4]);
  expect(changes(it, 'list', it.sessionId).stdout).toBe('edited a.txt\ndeleted dir/b.txt\nnew n.txt\nnew ready\n');
  expect(changes(it, 'show', it.sessionId, 'a.txt').stdout).toBe('edited a.txt\n@@ -1 +1,2 @@\n one\n+two\n');
  expect(changes(it, 'apply', it.sessionId, 'a.txt', 'dir')).toMatchObject({
    status: 0,
    stdout: 'applied: edited a.txt\napplied: deleted dir/b.txt\n',
  });
  expect(read(it, 'a.txt')).toBe('one\ntwo\n');
  expect(readdirSync(path.join(it.project, 'dir'))).toEqual([]);
  expect(changes(it, 'drop', it.sessionId)).toMatchObject({ status: 0, stdout: 'dropped: new n.txt\ndropped: new ready\n' });
  expect(names(it)).toEqual(before);
  expect(layers(it)).toEqual([]);
  expect(changes(it, 'show', it.sessionId)).toMatchObject({ status: 4, stderr: expect.stringMatching(/no changes of session .* wait/) });
});

test('a recovered session sees its own layer again, without what was dropped meanwhile', async () => {
  await using it = await open({ config: { workspace: 'off' } });
  it.answer = () => ({ result: { outcome: { outcome: 'selected', optionId: 'keep' } } });
  await it.run('echo two >> a.txt; echo x > dropped.txt');
  await killed(it);
  expect(changes(it, 'drop', it.sessionId, 'dropped.txt').status).toBe(0);
  await using again = await it.again();
  again.answer = () => ({ result: { outcome: { outcome: 'selected', optionId: 'apply' } } });
  expect(await again.run('cat a.txt; ls')).toMatch(/^one\ntwo\na.txt\ndir\nlocked\n/);
  expect(read(it, 'a.txt')).toBe('one\ntwo\n');
});

test('the command line does not apply what the policy denies, nor over a file that was changed since', async () => {
  const policy = { version: 1, default: 'ask', deny: [{ id: 'locked', action: ['edit', 'delete', 'move'], path: '$cwd/locked/**' }] };
  await using it = await open({ policy });
  void it.run('echo x >> locked/c.txt; echo two >> a.txt; touch ready; sleep 1000').catch(() => {});
  await expect.poll(() => layers(it).some((id) => existsSync(path.join(it.state, 'layers', id, '0/upper/ready')))).toBe(true);
  await killed(it);
  writeFileSync(path.join(it.project, 'a.txt'), 'user\n');
  const { status, stdout } = changes(it, 'apply', it.sessionId);
  expect(status).toBe(5);
  expect(stdout).toMatch(/not applied: edited a.txt \(CONFLICT.*\): the file was also changed in the project/);
  expect(stdout).toMatch(/not applied: edited locked\/c.txt: denied by policy/);
  expect([read(it, 'a.txt'), read(it, 'locked/c.txt'), read(it, 'ready')]).toEqual(['user\n', 'c\n', '']);
});

test('where there is no overlay, the agent does not start, and the error says why and what to do', async () => {
  const bin = (base: string) => path.join(base, 'bin');
  const started = open({
    prepare({ base }) {
      mkdirSync(bin(base));
      for (const name of ['bwrap', 'sh', 'node', 'mount', 'sleep', 'nsenter'])
        symlinkSync(execFileSync('which', [name], { encoding: 'utf8' }).trim(), path.join(bin(base), name));
      write(path.join(bin(base), 'unshare'), '#!/bin/sh\necho "unshare: unshare failed: Operation not permitted" >&2; exit 1\n');
      execFileSync('chmod', ['755', path.join(bin(base), 'unshare')]);
    },
    env: ({ base }) => ({ PATH: bin(base) }),
  });
  await expect(started).rejects.toThrow(/level "review" needs an overlay.*Operation not permitted.*User namespaces are not allowed here/);
});
