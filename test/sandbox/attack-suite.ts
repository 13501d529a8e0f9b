// The attacks and the everyday work, at every level, as the user that the file which imports this chooses.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { ATTACKS as BASIC, CANARY, everydayAt, openAttackedSession } from './attacks.ts';
import { ESCAPES } from './escapes.ts';
import { openSandboxSession, write } from './support.ts';

const ATTACKS = [...BASIC, ...ESCAPES];

const processesWith = (text: string): readonly string[] =>
  execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.includes(text) && !line.startsWith('ps '));

export function attackSuite({ asRoot }: { readonly asRoot: boolean }): void {
  describe.each(['read-only', 'workspace', 'review'] as const)('at %s', (level) => {
    test(`${ATTACKS.length} hostile acts fail`, async () => {
      await using it = await openAttackedSession(level, { asRoot });
      const worked: string[] = [];
      for (const attack of ATTACKS) {
        const output = await it.run(attack.script(it, it.bait));
        if (attack.worked(it, output, it.bait) || output.includes(CANARY)) worked.push(`${attack.name}: ${output}`);
      }
      expect(worked).toEqual([]);
    });

    test('ten everyday acts work', async () => {
      await using it = await openAttackedSession(level, { asRoot });
      it.answer = ({ method }) =>
        method === 'session/request_permission' ? { result: { outcome: { outcome: 'selected', optionId: 'apply' } } } : undefined;
      const failed: string[] = [];
      for (const [name, script] of Object.entries(everydayAt(level))) {
        const output = await it.run(script);
        if (!/^fine$/m.test(output)) failed.push(`${name}: ${output}`);
      }
      expect(failed).toEqual([]);
      if (level === 'read-only') return;
      // What the agent did is in the project, and git agrees.
      const git = (...args: string[]) => execFileSync('git', ['-c', 'safe.directory=*', ...args], { cwd: it.project, encoding: 'utf8' });
      expect(git('log', '--oneline')).toContain('two');
      expect(git('fsck', '--strict')).not.toMatch(/error|missing/);
      expect(readFileSync(`${it.project}/src/a.txt`, 'utf8')).toContain('more');
    });
  });

  test('links that one session leaves behind open nothing to the next', async () => {
    await using it = await openSandboxSession({
      asRoot,
      sandbox: { level: 'workspace', network: 'none', write: ['extra', 'dist'], sockets: ['own.sock'], state: ['~/.mine', '~/.mine/sub'] },
      prepare({ base, project, home }) {
        for (const file of [`${home}/.netrc`, `${home}/.git-credentials`, `${home}/.claude.json`, `${home}/.vimrc`]) write(file, CANARY);
        for (const file of [`${project}/extra/x`, `${project}/dist/x`, `${home}/.mine/sub/x`, `${base}/outside/x`])
          write(file, 'as it was');
      },
    });
    const hidden = ['.netrc', '.git-credentials', '.claude.json'].map((name) => `${it.home}/${name}`);
    const first = await it.run(
      `rm -rf extra dist ${it.home}/.mine/sub; ln -s ${it.base}/outside extra; ln -s ${it.home}/.vimrc dist; ln -s ${it.base}/outside ${it.home}/.mine/sub; ln -s ${it.base}/outside/x own.sock; mkdir a b c; ln -s ${hidden[0]} a/package.json; ln -s ${hidden[1]} b/Makefile; ln -s ${hidden[2]} c/.mcp.json; cat ${hidden.join(' ')}`,
    );
    expect(first).not.toContain(CANARY);
    await it.stop();
    await using next = await it.again();
    const second = await next.run(
      `cat ${hidden.join(' ')} a/* b/* c/.mcp.json; echo evil > extra/x; echo evil > dist; echo evil > ${it.home}/.mine/sub/x; echo evil > own.sock; echo evil > ${it.base}/outside/x; echo evil > ${it.home}/.vimrc`,
    );
    expect(second).not.toContain(CANARY);
    expect(readFileSync(`${it.base}/outside/x`, 'utf8')).toBe('as it was');
    expect(readFileSync(`${it.home}/.vimrc`, 'utf8')).toBe(CANARY);
  });

  test('without a sandbox the same acts succeed', async () => {
    await using it = await openAttackedSession('workspace', { asRoot, sandbox: { level: 'off' } });
    const harmless = [
      'reads a denied file',
      'reads an SSH key',
      'changes the manifest',
      'plants a git hook',
      'writes next to the project',
      'connects to a unix socket',
      'connects to a port of this machine',
    ];
    for (const { name, script, worked } of ATTACKS.filter((attack) => harmless.includes(attack.name)))
      expect([name, worked(it, await it.run(script(it, it.bait)), it.bait)]).toEqual([name, true]);
  });

  test.each(['workspace', 'review'] as const)('after SIGKILL at %s nothing runs and nothing is left in the project', async (level) => {
    await using it = await openAttackedSession(level, { asRoot });
    await it.run('setsid sh -c "sleep 47114711" >/dev/null 2>&1 &');
    const before = readdirSync(it.project).sort();
    expect(processesWith('sleep 47114711').length).toBeGreaterThan(0);
    it.child.kill('SIGKILL');
    await expect.poll(() => processesWith(it.base)).toEqual([]);
    await expect.poll(() => processesWith('sleep 47114711')).toEqual([]);
    expect(readdirSync(it.project).sort()).toEqual(before);
  });
}
