// What a hostile agent leaves in its layer, with a policy that allows all edits in the project, and a user who applies what is asked.
import { spawnSync } from 'node:child_process';
import { existsSync, linkSync, lstatSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { type Message, openSandboxSession, type SandboxSession, type SandboxSessionOptions, write } from '../sandbox/support.ts';

const POLICY = { version: 1, default: 'ask', allow: [{ id: 'all', action: ['edit', 'delete'], path: '$cwd/**' }] };
const choose = (optionId: string) => () => ({ result: { outcome: { outcome: 'selected', optionId } } });
const asked = (it: SandboxSession): readonly Message[] => it.seen.filter(({ method }) => method === 'session/request_permission');
const notices = (it: SandboxSession): string =>
  JSON.stringify(it.seen.filter(({ params }) => params?.update?.sessionUpdate === 'agent_thought_chunk'));
const listIn = (message: Message | undefined): string => message?.params.toolCall.content[0].content.text;

export function hostileSuite({ asRoot }: { readonly asRoot: boolean }): void {
  const open = (prepare?: SandboxSessionOptions['prepare']) =>
    openSandboxSession({
      ...{ sandbox: 'review', policy: POLICY, asRoot },
      prepare(places) {
        write(path.join(places.project, 'dir/a.txt'), 'a\n');
        write(path.join(places.home, 'secret/a.txt'), 'canary\n');
        write(path.join(places.home, '.bashrc'), 'as it was\n');
        prepare?.(places);
      },
    });
  const at = (it: SandboxSession, name: string): string => path.join(it.project, name);
  const untouched = (it: SandboxSession): void => {
    expect(readFileSync(path.join(it.home, '.bashrc'), 'utf8')).toBe('as it was\n');
    expect(readdirSync(path.join(it.home, 'secret'))).toEqual(['a.txt']);
  };

  test('a link out of the project is asked about first, although the policy allows edits', async () => {
    await using it = await open();
    it.answer = choose('keep');
    await it.run(`ln -s ${it.home}/.bashrc rc; ln -s dir/a.txt fine; echo x > file`);
    expect(listIn(asked(it)[0])).toMatch(/^new rc \(link to .*bashrc, OUTSIDE the project\)$/);
    expect(existsSync(at(it, 'rc'))).toBe(false);
    expect(lstatSync(at(it, 'fine')).isSymbolicLink()).toBe(true);
    expect(existsSync(at(it, 'file'))).toBe(true);
  });

  test('a directory that is replaced by a link leads nowhere: later writes through it stay in the layer', async () => {
    await using it = await open();
    it.answer = choose('keep');
    await it.run(`rm -r dir; ln -s ${it.home} dir; echo x >> dir/.bashrc; echo x > dir/secret/new`);
    await it.run('echo x >> dir/.bashrc; true');
    untouched(it);
    expect(lstatSync(at(it, 'dir'), { throwIfNoEntry: false })?.isSymbolicLink()).not.toBe(true);
  });

  test('hooks, manifests and settings of editors wait for the user, although the policy allows edits', async () => {
    await using it = await open(({ project }) => write(path.join(project, '.git/HEAD'), 'ref: refs/heads/main\n'));
    it.answer = choose('keep');
    await it.run(
      'mkdir -p .git/hooks .vscode; echo x > .git/hooks/pre-commit; echo x > .git/config; echo x > .vscode/tasks.json; echo "{}" > package.json',
    );
    expect(listIn(asked(it)[0]).split('\n')).toHaveLength(4);
    expect(readdirSync(it.project).sort()).toEqual(['.git', 'dir']);
    expect(readdirSync(at(it, '.git'))).toEqual(['HEAD']);
  });

  test('pipes and sockets are dropped and reported, special bits are not applied, hard links become files', async () => {
    await using it = await open();
    await it.run('mkfifo pipe; echo x > su; chmod 6755 su; echo y > one; ln one two');
    expect(readdirSync(it.project).sort()).toEqual(['dir', 'one', 'su', 'two']);
    expect(statSync(at(it, 'su')).mode & 0o7777).toBe(0o755);
    expect(statSync(at(it, 'one')).nlink).toBe(1);
    expect(notices(it)).toMatch(/Dropped: new pipe .*never applied/);
    expect(await it.run('ls')).not.toContain('pipe');
  });

  test('a file with another name outside the project is not changed', async () => {
    await using it = await open(({ home, project }) => linkSync(path.join(home, '.bashrc'), path.join(project, 'rc')));
    await it.run('echo x >> rc');
    untouched(it);
    expect(notices(it)).toMatch(/Not applied: edited rc: .*hard link/);
  });

  test('a large file is applied without being held in memory', async () => {
    await using it = await open();
    const before = readFileSync(`/proc/${it.child.pid}/status`, 'utf8');
    await it.run('truncate -s 300M large; echo end >> large');
    expect(statSync(at(it, 'large')).size).toBe(300 * 1024 * 1024 + 4);
    const peak = (status: string) => Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024;
    expect(peak(readFileSync(`/proc/${it.child.pid}/status`, 'utf8')) - peak(before)).toBeLessThan(120);
  });

  test('an agent that swaps directories for links while its changes are listed and applied gets nothing from outside', async () => {
    await using it = await open();
    it.answer = choose('keep');
    await it.run(
      `mkdir -p swap keep; echo x > swap/a.txt; (while :; do mv swap keep/s; ln -s ${it.home}/secret swap; rm swap; mv keep/s swap; done) >/dev/null 2>&1 &`,
    );
    for (let turn = 0; turn < 15; turn++) {
      await it.run(`echo ${turn} > swap/a.txt; echo ${turn} > file`);
      // It follows no links.
      expect(spawnSync('grep', ['-r', 'canary', it.project], { encoding: 'utf8' }).stdout).toBe('');
    }
    untouched(it);
  });
}
