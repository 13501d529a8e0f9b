// An uncaught bug of our own, injected into the built command through NODE_OPTIONS: nothing that is printed contains a secret.
import path from 'node:path';
import { expect, test } from 'vitest';
import { describeCrash } from '../../src/cli/failure.ts';
import { createHome, INITIALIZE } from './command.ts';

const FIXTURE = path.resolve(import.meta.dirname, '../fixtures/crash-mid-turn.mjs');

/** Throws in switchboard, but not in the programs it starts, on SIGUSR1. */
const BUG = `
if (/switchboard\\.js$/.test(process.argv[1] ?? ''))
  process.on('SIGUSR1', () => { throw new Error('cannot parse {"token":"' + process.env.MY_API_TOKEN + '"} of ' + process.env.GIVEN); });`;

test.skipIf(process.platform === 'win32')(
  'a crash is reported on stderr without the secrets in its message, and the exit code is 1',
  async () => {
    const home = createHome();
    const [own, given] = ['own-canary-71d0c6', 'given-canary-8ac2f9'];
    const agent = { command: process.execPath, args: [FIXTURE], env: { FIXTURE_DIR: home.tmp, AGENTS_OWN: given } };
    const config = home.write('config.json', { agent_servers: { one: agent } });
    const bug = home.write('bug.cjs', BUG);
    const running = home.start(['acp', '--config', config, '--debug'], {
      NODE_OPTIONS: `--require ${bug}`,
      MY_API_TOKEN: own,
      GIVEN: given,
    });
    await running.request('initialize', INITIALIZE);
    running.child.kill('SIGUSR1');
    const { code, stderr } = await running.ended;
    expect(code).toBe(1);
    expect(stderr).toMatch(/please report it; .*\nError: cannot parse .*\[redacted:MY_API_TOKEN\].* of \[redacted:AGENTS_OWN\]\n {4}at /s);
    for (const secret of [own, given]) expect(stderr).not.toContain(secret);
  },
);

test('running out of file descriptors is not reported as a bug, and the limit is named', () => {
  const { message, hint } = describeCrash(Object.assign(new Error('EMFILE: too many open files, open x'), { code: 'EMFILE' }));
  expect(message).toBe('too many open files (EMFILE)');
  expect(hint).toContain('ulimit -n');
});
