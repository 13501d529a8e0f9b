// The attacks and the everyday work, at every level, as the user that the file which imports this chooses.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { ATTACKS, attackScene, CANARY, everydayAt } from './attacks.ts';

const processesWith = (text: string): readonly string[] =>
  execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.includes(text) && !line.startsWith('ps '));

export function attackSuite({ asRoot }: { readonly asRoot: boolean }): void {
  describe.each(['read-only', 'workspace', 'review'] as const)('at %s', (level) => {
    test(`${ATTACKS.length} hostile acts fail`, async () => {
      await using it = await attackScene(level, { asRoot });
      const worked: string[] = [];
      for (const attack of ATTACKS) {
        const output = await it.run(attack.script(it, it.bait));
        if (attack.worked(it, output, it.bait) || output.includes(CANARY)) worked.push(`${attack.name}: ${output}`);
      }
      expect(worked).toEqual([]);
    });

    test('ten everyday acts work', async () => {
      await using it = await attackScene(level, { asRoot });
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

  test('without a sandbox the same acts succeed', async () => {
    await using it = await attackScene('workspace', { asRoot, sandbox: { level: 'off' } });
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
    await using it = await attackScene(level, { asRoot });
    await it.run('setsid sh -c "sleep 47114711" >/dev/null 2>&1 &');
    const before = readdirSync(it.project).sort();
    expect(processesWith('sleep 47114711').length).toBeGreaterThan(0);
    it.child.kill('SIGKILL');
    await expect.poll(() => processesWith(it.base)).toEqual([]);
    await expect.poll(() => processesWith('sleep 47114711')).toEqual([]);
    expect(readdirSync(it.project).sort()).toEqual(before);
  });
}
