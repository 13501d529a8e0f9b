// Where there is no sandbox: agents that need one do not start, and the user is told why and what to do.
import path from 'node:path';
import { expect, test } from 'vitest';
import { look } from '../../src/sandbox/run/available.ts';
import { openSandboxSession } from './support.ts';

/** No bubblewrap, whatever the machine has. */
const WITHOUT = { env: { PATH: path.dirname('/nonexistent/x') } };

test('an agent with a level does not start, with the reason and the next step', async () => {
  await expect(openSandboxSession({ sandbox: 'workspace', ...WITHOUT })).rejects.toThrow(
    /it must run in a sandbox, and bubblewrap \(bwrap\) is not installed.*apt-get install bubblewrap.*"unavailable": "warn" in agent_servers\.scripts\.sandbox/,
  );
});

test('with "unavailable": "warn" it starts, and the warning comes once', async () => {
  await using it = await openSandboxSession({ sandbox: { level: 'workspace', unavailable: 'warn' }, ...WITHOUT });
  expect(await it.run('echo ran')).toBe('ran\nexit 0');
  expect(it.stderr().match(/agents run without a sandbox: bubblewrap \(bwrap\) is not installed/g)).toHaveLength(1);
});

test('under the preset standard it starts, and the warning comes once', async () => {
  await using it = await openSandboxSession({ flags: ['--policy', 'standard'], ...WITHOUT });
  expect(await it.run('echo ran')).toBe('ran\nexit 0');
  expect(it.stderr().match(/agents run without a sandbox/g)).toHaveLength(1);
});

test('under the preset ci it does not start', async () => {
  await expect(openSandboxSession({ flags: ['--policy', 'ci'], ...WITHOUT })).rejects.toThrow(/it must run in a sandbox/);
});

test('a policy that requires a sandbox wins over "warn" and "off" in the configuration', async () => {
  const policy = { version: 1, default: 'allow', agents: { '*': { sandbox: 'workspace' } } };
  await expect(openSandboxSession({ sandbox: { level: 'workspace', unavailable: 'warn' }, policy, ...WITHOUT })).rejects.toThrow(
    /must run in a sandbox/,
  );
  await expect(openSandboxSession({ sandbox: 'off', policy, ...WITHOUT })).rejects.toThrow(/must run in a sandbox/);
});

test('"off" in the configuration wins over a preset that prefers a sandbox, without a message at every start', async () => {
  await using it = await openSandboxSession({ sandbox: 'off', flags: ['--policy', 'standard'] });
  expect(await it.run('echo ran')).toBe('ran\nexit 0');
  expect(it.stderr()).not.toContain('sandbox');
});

test('"wrap" starts the agent through another command', async () => {
  await using it = await openSandboxSession({ agent: { wrap: ['/usr/bin/env', 'WRAPPED=yes'] } });
  expect(await it.run('echo $WRAPPED')).toBe('yes\nexit 0');
});

test('a processor without a filter for system calls has no sandbox', () => {
  expect(look('linux', process.env.PATH ?? '', 'riscv64')).toEqual({
    problem: 'there is no sandbox for riscv64 processors',
    next: 'Bring a sandbox of your own with "wrap"',
  });
});
