// A turn at the level `review`, with a real agent on a real overlay: what it changed is in the project only once it is decided.
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { type Message, openSandboxSession, type SandboxSession, type SandboxSessionOptions, write } from '../sandbox/support.ts';

const notices = (it: SandboxSession): string =>
  JSON.stringify(it.seen.filter(({ params }) => params?.update?.sessionUpdate === 'agent_thought_chunk'));
const asked = (it: SandboxSession): readonly Message[] => it.seen.filter(({ method }) => method === 'session/request_permission');
const choose = (optionId: string) => () => ({ result: { outcome: { outcome: 'selected', optionId } } });
const at = (it: SandboxSession, name: string): string => path.join(it.project, name);
const read = (it: SandboxSession, name: string): string => readFileSync(at(it, name), 'utf8');

const project = (options: SandboxSessionOptions = {}) =>
  openSandboxSession({
    sandbox: 'review',
    ...options,
    prepare(places) {
      write(path.join(places.project, 'a.txt'), 'one\n');
      write(path.join(places.project, 'gone.txt'), 'gone\n');
      write(path.join(places.project, 'old.txt'), 'the same text\n');
      write(path.join(places.project, 'dir/b.txt'), 'b\n');
      write(path.join(places.project, 'locked/c.txt'), 'c\n');
      options.prepare?.(places);
    },
  });
const POLICY = {
  version: 1,
  default: 'ask',
  allow: [{ id: 'sources', action: ['edit', 'delete'], path: '$cwd/**' }],
  deny: [{ id: 'locked', action: ['edit', 'delete', 'move'], path: '$cwd/locked/**' }],
};

test('without a policy, nothing reaches the project before the user applies it, and then exactly what was shown', async () => {
  await using it = await project();
  it.answer = ({ params }) => {
    expect(params.toolCall).toMatchObject({ title: 'Apply 4 changes to the project', kind: 'edit' });
    expect(params.toolCall.content).toContainEqual({ type: 'diff', path: at(it, 'a.txt'), oldText: 'one\n', newText: 'one\ntwo\n' });
    expect(read(it, 'a.txt')).toBe('one\n');
    expect(existsSync(at(it, 'gone.txt'))).toBe(true);
    return choose('apply')();
  };
  await it.run('echo two >> a.txt; rm gone.txt; mv old.txt new.txt; mkdir -p deep/er && echo x > deep/er/x && chmod 755 deep/er/x');
  expect(asked(it)).toHaveLength(1);
  expect(read(it, 'a.txt')).toBe('one\ntwo\n');
  expect(existsSync(at(it, 'gone.txt'))).toBe(false);
  expect(existsSync(at(it, 'old.txt'))).toBe(false);
  expect(read(it, 'new.txt')).toBe('the same text\n');
  expect(statSync(at(it, 'deep/er/x')).mode & 0o777).toBe(0o755);
});

test('the policy applies allowed changes, drops denied ones and asks about the rest', async () => {
  await using it = await project({ policy: POLICY });
  it.answer = choose('drop');
  await it.run('echo two >> a.txt; echo x >> locked/c.txt; echo "{}" > package.json');
  expect(read(it, 'a.txt')).toBe('one\ntwo\n');
  expect(read(it, 'locked/c.txt')).toBe('c\n');
  expect(existsSync(at(it, 'package.json'))).toBe(false);
  expect(asked(it).map(({ params }) => params.toolCall.title)).toEqual(['Apply 1 change to the project']);
  expect(notices(it)).toMatch(/Dropped: edited locked\/c.txt/);
  // The agent sees what became of it.
  expect(await it.run('cat locked/c.txt; ls')).toMatch(/^c\na.txt\ndir\ngone.txt\nlocked\nold.txt\nexit 0$/);
});

test('changes that nobody decides wait, and the next turn asks again', async () => {
  await using it = await project();
  it.answer = choose('keep');
  await it.run('echo two >> a.txt');
  expect(read(it, 'a.txt')).toBe('one\n');
  expect(notices(it)).toMatch(/Waiting: edited a.txt.*switchboard changes show/);
  it.answer = choose('apply');
  expect(await it.run('cat a.txt')).toMatch(/^one\ntwo\n/);
  expect(read(it, 'a.txt')).toBe('one\ntwo\n');
  await it.run('true');
  expect(asked(it)).toHaveLength(2);
});

test('a file that was also changed in the project is a conflict and stays as it is', async () => {
  await using it = await project({ policy: POLICY });
  const turn = it.run('echo agent >> a.txt; rm gone.txt; while ! grep -q user dir/b.txt; do sleep 0.01; done; echo done');
  const upper = () => readdirSync(path.join(it.state, 'layers')).map((id) => path.join(it.state, 'layers', id, '0/upper/gone.txt'));
  await expect.poll(() => upper().some(existsSync)).toBe(true);
  writeFileSync(at(it, 'a.txt'), 'user\n');
  writeFileSync(at(it, 'gone.txt'), 'user\n');
  writeFileSync(at(it, 'dir/b.txt'), 'user\n');
  await turn;
  expect(read(it, 'a.txt')).toBe('user\n');
  expect(read(it, 'gone.txt')).toBe('user\n');
  expect(notices(it)).toMatch(/CONFLICT/);
});

test('the agent sees what the user changes between turns, also in files that it had changed', async () => {
  await using it = await project({ policy: POLICY });
  await it.run('echo two >> a.txt; rm gone.txt');
  writeFileSync(at(it, 'a.txt'), 'user\n');
  writeFileSync(at(it, 'gone.txt'), 'back\n');
  writeFileSync(at(it, 'dir/b.txt'), 'user\n');
  expect(await it.run('cat a.txt gone.txt dir/b.txt; echo three >> a.txt')).toMatch(/^user\nback\nuser\n/);
  expect(read(it, 'a.txt')).toBe('user\nthree\n');
  expect(notices(it)).toBe('[]');
});

test('a replaced directory is a new one: what it no longer has is deleted', async () => {
  await using it = await project({ policy: POLICY });
  await it.run('rm -r dir && mkdir dir && echo c > dir/c.txt');
  expect(readdirSync(at(it, 'dir'))).toEqual(['c.txt']);
});

test('terminals that switchboard serves see the same layer', async () => {
  await using it = await project({ config: { workspace: 'serve-missing' }, agentArgs: ['--terminals'] });
  it.answer = choose('keep');
  await it.run('echo two >> a.txt');
  expect(await it.run('cat a.txt')).toMatch(/^one\ntwo\n/);
  expect(read(it, 'a.txt')).toBe('one\n');
});

test('the agent is not offered the files of the client, which are not those of its layer, and cannot have them', async () => {
  await using it = await project({ config: { workspace: 'serve-missing' } });
  const output = await it.run(`read ${at(it, 'a.txt')}`);
  expect(output).toContain('{"fs":{"readTextFile":false,"writeTextFile":false},"terminal":true}');
  expect(output).toMatch(/does not share files with the client: .*level "review"/);
});

test.each([
  ['nothing', 'apply', 0],
  ['the layer with the changes that wait', 'keep', 1],
])('after a clean end, %s is left in the state directory', async (_, optionId, count) => {
  await using it = await project();
  it.answer = choose(optionId);
  await it.run('echo two >> a.txt');
  expect(await it.stop()).toBe(0);
  expect(readdirSync(path.join(it.state, 'layers'))).toHaveLength(count);
});
