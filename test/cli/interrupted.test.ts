// Commands that start an agent briefly: a signal that ends the command also ends the agent and its children.
import { chmodSync, existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { createHome } from './command.ts';

/** An agent with a child that neither answers nor exits at the end of its input. */
function withDeafAgent() {
  const home = createHome();
  const deaf = { command: 'sh', args: ['-c', 'sleep 987 & wait'], timeouts: { stop_grace_ms: 100 } };
  home.write(home.userFile, { agent_servers: { deaf } });
  const SWITCHBOARD_HOME = path.join(home.tmp, 'state');
  const records = () => (existsSync(SWITCHBOARD_HOME) ? readdirSync(path.join(SWITCHBOARD_HOME, 'running')) : []);
  return {
    ...home,
    records,
    start: (words: readonly string[]) => home.start(words, { SWITCHBOARD_HOME }),
    async begin(words: readonly string[]) {
      const running = home.start(words, { SWITCHBOARD_HOME });
      running.child.stdin.end();
      await expect.poll(records).toEqual([expect.stringMatching(/\.json$/)]);
      return running;
    },
  };
}

test.runIf(process.platform !== 'win32').each([
  { words: ['agents', 'test'], signal: 'SIGINT', code: 130 },
  { words: ['agents', 'test'], signal: 'SIGTERM', code: 143 },
  { words: ['doctor'], signal: 'SIGINT', code: 130 },
  { words: ['auth', 'deaf'], signal: 'SIGHUP', code: 129 },
] as const)('$words: $signal leaves neither a process nor a record', async ({ words, signal, code }) => {
  const { begin, processesLeft, records } = withDeafAgent();
  const { child, ended } = await begin(words);
  child.kill(signal);
  expect(await ended).toMatchObject({ code });
  await expect.poll(processesLeft).toEqual([]); // the system still has to reap the killed processes
  expect(records()).toEqual([]);
});

test.runIf(process.platform === 'linux')('the next start of a switchboard ends what a killed one left behind', async () => {
  const { begin, start, processesLeft, records } = withDeafAgent();
  const { child, ended } = await begin(['agents', 'test']);
  child.kill('SIGKILL');
  await ended;
  expect(processesLeft()).not.toEqual([]);
  const next = start(['acp']);
  await expect.poll(processesLeft).toEqual([String(next.child.pid)]);
  await expect.poll(records).toEqual([]); // only once the processes are gone
  next.child.stdin.end();
  expect((await next.ended).stderr).toContain('stopped 1 agent process(es) that an earlier switchboard left behind');
});

const SIGNALS = [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const;

test.runIf(process.platform !== 'win32').each(SIGNALS)(
  'a login process ends with the command that started it: %s',
  async (signal, code) => {
    const home = createHome();
    const script = 'console.log("your code, please"); setInterval(() => {}, 1e6)';
    home.write(home.userFile, { agent_servers: { asks: { command: process.execPath, args: ['-e', script] } } });
    const { child, printed, ended } = home.start(['acp', '--auth', 'asks']);
    await printed('your code');
    child.kill(signal);
    expect(await ended).toMatchObject({ code, stderr: expect.stringContaining(`ended by ${signal}`) });
    expect(home.processesLeft()).toEqual([]);
  },
);

/** For `--require`: simulates a busy machine, on which the program already runs before the call that starts it returns. */
const SLOW_STARTS = `const processes = require('node:child_process');
const { spawn } = processes;
processes.spawn = (...args) => {
  const child = spawn(...args);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
  return child;
};`;

test.runIf(process.platform !== 'win32')('npm ends with the command that installs an agent, however early the signal comes', async () => {
  const home = createHome();
  const [bin, begun] = [path.join(home.home, 'bin'), path.join(home.tmp, 'begun')];
  chmodSync(home.write(path.join(bin, 'npm'), `#!/bin/sh\n: > '${begun}'\nexec sleep 987\n`), 0o755);
  const slow = home.write(path.join(home.tmp, 'slow.cjs'), SLOW_STARTS);
  const env = { PATH: `${bin}:${process.env.PATH}`, NODE_OPTIONS: `--require=${slow}` };
  const { child, ended } = home.start(['agents', 'add', 'gemini', '--install', '--offline'], env);
  await expect.poll(() => existsSync(begun)).toBe(true);
  child.kill('SIGTERM');
  expect(await ended).toMatchObject({ code: 143, stderr: expect.stringContaining('ended by SIGTERM') });
  expect(home.processesLeft()).toEqual([]);
  expect(existsSync(home.userFile)).toBe(false);
});
